"""Whether events arrive: who calls each hook, what waits, what was given up or dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from failhook.cli.amounts import counted
from failhook.cli.calls import caller, last_call
from failhook.cli.doctor.finding import Finding, act, note, ok
from failhook.cli.doctor.installed import Installed
from failhook.cli.doctor.look import Look
from failhook.cli.status import how_many_wait
from failhook.outbox.port import HookCalls, Waiting

_AREA: Final = "delivery"
_ENOUGH: Final = 5
"""A hook that failed this often and never went well is broken."""


def hook_findings(look: Look, installed: Installed) -> Iterator[Finding]:
    """Yield where and when each hook last ran."""
    for name, hooks in installed.hooks.items():
        calls = look.calls(name)
        silent = [hook for hook in hooks if all(each.hook != hook for each in calls)]
        for hook in hooks:
            if hook not in silent:
                yield _hook(look, name, hook, [each for each in calls if each.hook == hook])
        if silent:
            yield note(_AREA, f"plugin {name}: these hooks never ran: {', '.join(silent)}")
    for name in dict.fromkeys(each.plugin for each in look.found.calls):
        call = last_call(look.calls(name))
        if name not in installed.hooks and call is not None:
            yield note(_AREA, f"plugin {name} is not held here; {caller(call, look.now)}")


def queue_findings(look: Look, installed: Installed) -> Iterator[Finding]:
    """Yield what waits for each plugin, and what it will never get."""
    found = look.found
    for waiting in found.waiting:
        yield _waiting(look, waiting, held=waiting.plugin in installed.hooks)
    for dead in found.dead:
        yield act(
            _AREA,
            f"plugin {dead.plugin} did not take {counted(dead.count, 'event')}, given up for good; "
            f"the last: {dead.error}",
            f"failhook dead-letters list --plugin {dead.plugin}{look.options}",
        )
    for dropped in found.drops:
        final = f", {dropped.final:,} of them final" if dropped.final else ""
        yield act(
            _AREA,
            f"plugin {dropped.plugin} will never get {counted(dropped.events, 'event')}{final}: "
            "more than the bounds allow were waiting",
            "see why it takes nothing; it is told of the loss when it works again",
        )
    if not (found.waiting or found.dead or found.drops):
        yield ok(_AREA, "nothing waits, and nothing was given up or dropped")


def _hook(look: Look, plugin: str, hook: str, calls: Sequence[HookCalls]) -> Finding:
    last = max(calls, key=lambda each: each.called_at)
    hosts = len({each.host for each in calls}) - 1
    more = f" (and {counted(hosts, 'other host')})" if hosts else ""
    counts = f"{sum(each.delivered for each in calls):,} delivered"
    for what in ("undelivered", "failed", "slow"):
        count = sum(getattr(each, what) for each in calls)
        counts += f", {count:,} {what}" if count else ""
    text = f"plugin {plugin}: {hook}, {caller(last, look.now)}{more}; {counts}"
    if last.delivered_at is not None and last.delivered_at >= last.called_at:
        return ok(_AREA, text)
    error = f": {last.error}" if last.error else ""
    if any(each.delivered_at is not None for each in calls):
        return note(_AREA, f"{text}; the last time it did not go well{error}")
    if sum(each.failed for each in calls) < _ENOUGH:
        return note(_AREA, f"{text}; it has not gone well yet{error}")
    return act(_AREA, f"{text}; it never went well{error}", f"see why plugin {plugin} fails")


def _waiting(look: Look, waiting: Waiting, *, held: bool) -> Finding:
    name = waiting.plugin
    line = f"plugin {name}: {how_many_wait(waiting, look.now)}"
    call = last_call(look.calls(name))
    lately = call is not None and look.now - call.called_at <= look.patience
    if not held and not lately:
        who = "nobody ever called it" if call is None else caller(call, look.now)
        return act(
            _AREA,
            f"{line}; it is not held here; {who}",
            f"install or configure plugin {name}, or run failhook deliver where it is installed",
        )
    if waiting.deaths > 1:
        return act(
            _AREA,
            line,
            f"see whether plugin {name} ends its process, or somebody kills it; after 10 it is a "
            "dead letter",
        )
    since = waiting.since
    if waiting.count == waiting.grouped and waiting.due_at is not None:
        since = max(since, waiting.due_at)  # before its time a group is in nobody's way
    if look.now - since <= look.patience:
        return ok(_AREA, line)
    if not lately:
        return act(_AREA, f"{line}; nobody delivers", f"failhook deliver{look.options}")
    return act(_AREA, line, f"see why plugin {name} does not take them; they are tried again")
