"""One pure function: from a verdict, a policy and what was spent, to the decision."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from failhook.decision import (
    DEADLINE_EXCEEDED,
    MAX_SYSTEM_FAILURES_EXCEEDED,
    REFUNDS_EXHAUSTED,
    RETRIES_EXHAUSTED,
    Action,
    Because,
    Charge,
    Counters,
    Decision,
)
from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.policy import MAX_DELAY, Backoff, Policy

CORRUPTED_PLUGIN_STATE: Final = "CorruptedPluginState"

# A member of an enumeration, looked up through its class, takes as long as three calls of a
# function on Python 3.11, and while a report is judged many are.
_MANUAL: Final = Kind.MANUAL
_INFRA: Final = Kind.INFRA
_NOT_STARTED: Final = Started.NO
_CONFIRMED: Final = Confidence.CONFIRMED
_FAIL: Final = Action.FAIL
_NOBODY: Final = Charge.NONE
_USER: Final = Charge.USER
_REFUND: Final = Charge.INFRA
_SYSTEM: Final = Charge.SYSTEM


def decide(
    details: FailureDetails,
    policy: Policy,
    spent: Counters,
    *,
    attempt: int = 1,
    idempotent: bool = True,
    elapsed: float = 0.0,
    random: float = 1.0,
) -> Decision:
    """Decide retry, fail or hold, and which budget pays (design, section 6).

    Whatever the history, a task runs at most 1 + the three limits times.

    Args:
        details: the verdict on the attempt.
        policy: what the task may cost.
        spent: what each budget has paid before; its limits are taken from the policy.
        attempt: the attempt that is judged, from 1.
        idempotent: may the task run twice?
        elapsed: seconds since the first attempt began, for the total deadline.
        random: a number in 0..1 for the jitter.

    Returns:
        the decision; its delay is finite and `policy.MAX_DELAY` at most.
    """
    before = Counters(
        spent.user,
        spent.infra,
        spent.system,
        policy.retries,
        policy.max_infra_refunds,
        policy.max_system_failures,
    )
    case = _Case(details, policy, before, attempt)
    if details.kind is _MANUAL:
        actor = f" by {details.actor}" if details.actor else ""
        why = f"it was ended on purpose{actor}"
        return _stop(case, _FAIL, "gate.manual", why, details.reason)
    if (permanent := _permanent(details, policy)) is not None:
        code = details.code or details.reason
        return _stop(case, _FAIL, "gate.deterministic", permanent, code)
    if not (idempotent or details.ended_by_itself or details.started is _NOT_STARTED):
        why = "it is not idempotent and may have done its work; somebody must say what to do"
        return _stop(case, Action.HOLD, "gate.hold", why, None)
    if details.kind is _INFRA and (details.started is _NOT_STARTED or details.executor_side):
        granted = _system(case)
    elif details.kind is _INFRA and policy.max_infra_refunds and _sure_enough(details, policy):
        granted = _infra(case)
    else:
        granted = _user(case)
    return granted if isinstance(granted, Decision) else _retry(case, granted, elapsed, random)


def _permanent(details: FailureDetails, policy: Policy) -> str | None:
    """Say why no retry can help, or None when one may.

    On the typed codes of plugins the operator's list has the last word; corrupted plugin state is
    permanent whatever the list says.
    """
    code = details.code
    if code is not None and code in policy.non_retryable_codes:
        return f"{code} is not retried: no retry can cure it"
    if code == CORRUPTED_PLUGIN_STATE:
        return "the plugin's state is corrupted: it is cleaned up and not retried"
    if code is not None and details.executor_side:
        return None
    if details.deterministic and details.confidence is _CONFIRMED:
        return f"{details.reason} is deterministic: the next attempt would fail alike"
    return None


def _sure_enough(details: FailureDetails, policy: Policy) -> bool:
    return details.confidence.rank >= policy.refund_confidence.rank


class _Case(NamedTuple):
    """What is to be decided."""

    details: FailureDetails
    policy: Policy
    before: Counters
    attempt: int


class _Grant(NamedTuple):
    """A budget that pays for another attempt."""

    charge: Charge
    rule: str
    why: str
    backoff: Backoff


def _system(case: _Case) -> _Grant | Decision:
    details, policy, before, _ = case
    if before.system < policy.max_system_failures:
        why = "it failed before its own code ran, or in the executor itself"
        return _Grant(_SYSTEM, "gate.system", why, policy.system_backoff)
    why = (
        f"the platform failed {before.system + 1} times (limit {policy.max_system_failures}), "
        f"the last time with {details.code or details.reason}"
    )
    if details.message:
        why = f"{why}: {details.message}"
    return _stop(case, _FAIL, "gate.system", why, MAX_SYSTEM_FAILURES_EXCEEDED)


def _infra(case: _Case) -> _Grant | Decision:
    details, policy, before, _ = case
    if before.infra < policy.max_infra_refunds:
        why = f"infrastructure ended it ({details.confidence}), so the attempt is refunded"
        return _Grant(_REFUND, "gate.refund", why, policy.infra_backoff)
    if policy.when_refunds_end == "fail":
        why = f"infrastructure ended it, and {_used_up(before.infra, 'refund', 'refunds')}"
        return _stop(case, _FAIL, "gate.refund", why, REFUNDS_EXHAUSTED)
    return _user(case)


def _user(case: _Case) -> _Grant | Decision:
    details, policy, before, _ = case
    why = _why_user(details, policy)
    if before.user < policy.retries:
        return _Grant(_USER, "gate.user", why, policy.backoff)
    left = _used_up(policy.retries, "retry", "retries")
    return _stop(case, _FAIL, "gate.user", f"{why}, and {left}", RETRIES_EXHAUSTED)


def _why_user(details: FailureDetails, policy: Policy) -> str:
    if details.kind is not _INFRA:
        return _THE_USERS[details.kind]
    if not policy.max_infra_refunds:
        return "refunds of infra failures are off"
    if not _sure_enough(details, policy):
        return f"a verdict that is only {_INDEFINITE[details.confidence]} is not refunded"
    return _used_up(policy.max_infra_refunds, "infra refund", "infra refunds")


def _used_up(limit: int, one: str, many: str) -> str:
    if not limit:
        return f"no {many} are allowed"
    return f"the only {one} is used" if limit == 1 else f"all {limit} {many} are used"


_THE_USERS: Final = {kind: f"{kind} failures are the user's to retry" for kind in Kind}
_INDEFINITE: Final = {level: f"a {level} one" for level in Confidence} | {
    Confidence.GUESS: "a guess"
}


def _stop(case: _Case, action: Action, rule: str, why: str, code: str | None) -> Decision:
    before = case.before
    return Decision(
        action=action,
        message=f"{action}: {why} ({before})",
        charge=_NOBODY,
        because=Because(rule, why),
        before=before,
        after=before,
        attempt=case.attempt,
        max_tries=before.user_limit + before.infra + before.system,
        code=code,
        cleanup=case.details.cleanup,
    )


def _retry(case: _Case, grant: _Grant, elapsed: float, random: float) -> Decision:
    details, policy, before, attempt = case
    after = charged(before, grant.charge)
    delay = 0.0
    if grant.backoff.initial:
        paid = {_USER: after.user, _REFUND: after.infra}.get(grant.charge, after.system)
        delay = grant.backoff.delay(paid, random)
    asked = details.retry_after
    if asked is not None and delay < asked < math.inf:
        delay = float(min(asked, MAX_DELAY))
    deadline = policy.total_deadline
    if deadline is not None and elapsed + delay > deadline:
        late = f"the next attempt would begin after the total deadline of {deadline:g} s"
        return _stop(case, _FAIL, "gate.total-deadline", late, DEADLINE_EXCEEDED)
    wait = f" in {delay:.0f} s" if delay >= 1_000 else f" in {delay:.3g} s" if delay else ""
    return Decision(
        action=Action.RETRY,
        message=f"retry{wait} as attempt {attempt + 1}: {grant.why} ({after})",
        charge=grant.charge,
        because=Because(grant.rule, grant.why),
        before=before,
        after=after,
        attempt=attempt,
        max_tries=after.user_limit + after.infra + after.system,
        delay=delay,
        cleanup=details.cleanup,
    )


def charged(counters: Counters, charge: Charge, by: int = 1) -> Counters:
    """Return the counters with one budget having paid `by` more."""
    return Counters(
        counters.user + (by if charge is _USER else 0),
        counters.infra + (by if charge is _REFUND else 0),
        counters.system + (by if charge is _SYSTEM else 0),
        counters.user_limit,
        counters.infra_limit,
        counters.system_limit,
    )
