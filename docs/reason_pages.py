"""The pages on reasons: the words of ``reasons/texts/*.toml`` with what the rules and gate say."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from failhook.classify.conditions import ABSENT, Condition, Has, Like, Number, OneOf, as_text
from failhook.classify.facts import Facts
from failhook.classify.rule import Rule, Take
from failhook.classify.sources import SOURCES
from failhook.decision import Charge, Counters
from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.gate.decide import decide
from failhook.policy import Policy
from failhook_sinks.alerts.entry import page_name

REASONS: Final = Path(__file__).parent / "reasons"
TEXTS: Final = REASONS / "texts"
SYSTEMS: Final = "systems.toml"
KEYS: Final = ("means", "check", "systems", "facts", "match", "kind")
OTHERWISE: Final = {
    Kind.APPLICATION: Kind.INFRA,
    Kind.INFRA: Kind.APPLICATION,
    Kind.TIMEOUT: Kind.INFRA,
    Kind.MANUAL: Kind.INFRA,
    Kind.UNKNOWN: Kind.INFRA,
}
SAME: Final = {"pod.image_reason": "pod.waiting", "pod.start_reason": "pod.container.reason"}
"""Facts that repeat the words of another."""
NAMED: Final = {"sge.reason": ("sge.failed", "failed {}")}
"""Facts that name the number in another."""
MANY: Final = 4
"""Systems whose commands a page shows, and alternatives that a matcher lists."""
SHOWN: Final = 24
_PAYERS: Final = {
    Charge.USER: "your `retries` pay",
    Charge.INFRA: "nobody pays: it is refunded",
    Charge.SYSTEM: "the system budget pays",
    Charge.NONE: "nobody pays",
}
_MEANT: Final = {
    Kind.INFRA: "what ran the task failed, not the task",
    Kind.APPLICATION: "the task's own code, input or settings",
    Kind.TIMEOUT: "a time limit was enforced on the task",
    Kind.MANUAL: "somebody ended it on purpose",
    Kind.UNKNOWN: "the evidence does not say whose fault it is",
}


@dataclass(slots=True)
class Reason:
    """One token.

    Attributes:
        token: as the verdict has it.
        text: what was written by hand, with the keys `KEYS`; may be empty.
        origin: the file that the text is from; "" for none.
        rules: those that can give it.
    """

    token: str
    text: Mapping[str, Any] = field(default_factory=dict[str, Any])
    origin: str = ""
    rules: list[Rule] = field(default_factory=list[Rule])


def texts() -> dict[str, Reason]:
    """Return what is written by hand, by reason.

    Raises:
        ValueError: a key is unknown, or a reason is written of twice.
    """
    found: dict[str, Reason] = {}
    for file in sorted(TEXTS.glob("*.toml")):
        if file.name == SYSTEMS:
            continue
        for token, text in tomllib.loads(file.read_text("utf-8")).items():
            wrong = [key for key in text if key not in KEYS]
            if wrong or token in found:
                raise ValueError(f"{file.name}: {token}: {wrong or 'is there twice'}")
            found[token] = Reason(token, text, file.name)
    return found


def systems() -> Mapping[str, str]:
    """Return the first commands to try, by the first word of a rule's id."""
    return tomllib.loads((TEXTS / SYSTEMS).read_text("utf-8"))


def reasons() -> dict[str, Reason]:
    """Return every reason that a built-in rule can give or that is written of, with its rules."""
    found = texts()
    rules = [rule for source in SOURCES for rule in source.rules]
    known = _known_values(rules, found.values())
    for rule in rules:
        if isinstance(rule.reason, str):
            found.setdefault(rule.reason, Reason(rule.reason)).rules.append(rule)
    takes = [rule for rule in rules if isinstance(rule.reason, Take)]
    given: dict[str, list[tuple[Rule, bool]]] = {}
    for rule in takes:
        for value, listed in _values(rule, known):
            given.setdefault(value, []).append((rule, listed))
    for token, pairs in given.items():
        each = found.setdefault(token, Reason(token))
        closed = {_path(rule) for rule, listed in pairs if listed}
        # What takes any value comes after what lists this one, and is not told of then.
        each.rules += [rule for rule, listed in pairs if listed or _path(rule) not in closed]
    for each in found.values():
        unique = {rule.id: rule for rule in each.rules}
        each.rules = sorted(unique.values(), key=lambda rule: rule.tier)
    return dict(sorted(found.items()))


def _path(rule: Rule) -> str:
    assert isinstance(rule.reason, Take)
    return SAME.get(rule.reason.path, rule.reason.path)


def _listed(rule: Rule, path: str) -> tuple[str, ...]:
    """Return the values of a fact that a rule lists; none where it takes others, too."""
    name, form = NAMED.get(path, (path, "{}"))
    matcher = rule.conditions.get(name)
    keys = None if matcher is None else matcher.keys()
    return () if keys is None else tuple(form.format(as_text(key)) for key in sorted(keys, key=str))


def _known_values(rules: Iterable[Rule], written: Iterable[Reason]) -> Mapping[str, set[str]]:
    """Return the values that each fact which reasons are taken from is known to have.

    What a rule with a reason of its own lists is not among them: that rule decides then.
    """
    takes = [rule for rule in rules if isinstance(rule.reason, Take)]
    known = {_path(rule): set[str]() for rule in takes}
    for rule in takes:
        known[_path(rule)].update(_listed(rule, _path(rule)))
    for each in written:
        for path in each.text.get("facts", ()):
            known[path].add(each.token)
    return known


def _values(rule: Rule, known: Mapping[str, set[str]]) -> Iterator[tuple[str, bool]]:
    """Yield what a rule can take for its reason, and whether it lists that value itself."""
    assert isinstance(rule.reason, Take)
    path = _path(rule)
    if rule.reason.default is not None:
        yield rule.reason.default, True
    listed = _listed(rule, path)
    if listed:
        yield from ((value, True) for value in listed)
        return
    matcher = rule.conditions.get(path)
    for value in sorted(known[path]):
        facts = Facts({})
        facts[path] = value
        if matcher is None or matcher.test(path)(facts):
            yield value, isinstance(matcher, Like)


def pages(found: Mapping[str, Reason]) -> dict[Path, str]:
    """Return every page on reasons; those that differ in their case only share one."""
    shared: dict[str, list[Reason]] = {}
    for each in found.values():
        shared.setdefault(page_name(each.token), []).append(each)
    first = systems()
    return {
        REASONS / f"{name}.md": "\n".join(_page(each, first) for each in _written_first(group))
        for name, group in shared.items()
    }


def _written_first(group: Iterable[Reason]) -> list[Reason]:
    return sorted(group, key=lambda each: (not each.text, each.token))


def _page(reason: Reason, first: Mapping[str, str]) -> str:
    parts = [
        f"# {reason.token}",
        f"Written by `make docs` from {_origin(reason)}; [all reasons](README.md).",
        _means(reason),
        f"## Whose it is, and who pays\n\n{_pays(reason)}",
        f"## What to check\n\n{_check(reason, first)}",
    ]
    if reason.rules:
        parts.append(f"## Which rules say it\n\n{_rules(reason)}")
    parts.append(f"## How to change it\n\n{_change(reason)}")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _origin(reason: Reason) -> str:
    if reason.origin:
        return f"[texts/{reason.origin}](texts/{reason.origin}) and the rules"
    return "the rules; [words of your own](README.md#words-of-your-own) are welcome"


def _means(reason: Reason) -> str:
    if reason.text:
        return str(reason.text["means"])
    said = list(dict.fromkeys(rule.because for rule in reason.rules))
    return said[0] if len(said) == 1 else "\n".join(f"- {each}" for each in said[:MANY])


def kinds(reason: Reason) -> list[Kind]:
    """Return the kinds that verdicts of this reason have, in the order of `Kind`."""
    given = {rule.kind for rule in reason.rules if isinstance(rule.kind, Kind)}
    if not given:
        given = {Kind(reason.text.get("kind", Kind.UNKNOWN))}
    return [kind for kind in Kind if kind in given]


def _pays(reason: Reason) -> str:
    said = {
        _charges(_details(rule, rule.kind)): None
        for rule in sorted(reason.rules, key=lambda rule: list(Kind).index(_kind(rule)))
        if isinstance(rule.kind, Kind)
    } or {_charges(FailureDetails(kind=kind, reason="Asked")): None for kind in kinds(reason)}
    rows = "\n".join(
        f"| {kind.value}{when} | {_MEANT[kind]} | {plain} | {refunds} |"
        for kind, when, plain, refunds in said
    )
    head = "| verdict | which means | by default | with `max_infra_refunds` |"
    return f"{head}\n| --- | --- | --- | --- |\n{rows}"


def _kind(rule: Rule) -> Kind:
    return rule.kind if isinstance(rule.kind, Kind) else Kind.UNKNOWN


def _details(rule: Rule, kind: Kind) -> FailureDetails:
    sure, sets = rule.confidence, rule.deterministic
    return FailureDetails(
        kind=kind,
        reason="Asked",
        confidence=sure if isinstance(sure, Confidence) else Confidence.LIKELY,
        deterministic=sets if isinstance(sets, bool) else None,
        started=rule.started or Started.MAYBE,
        ended_by_itself=rule.by_itself is True,
        executor_side=rule.executor_side is True,
    )


def _charges(details: FailureDetails) -> tuple[Kind, str, str, str]:
    """Return kind and case, and what the gate does without refunds and with them."""
    said: list[str] = []
    when = ""
    for policy in (Policy(retries=1), Policy(retries=1, max_infra_refunds=1)):
        decision = decide(details, policy, Counters(), idempotent=True)
        if not decision.retry:
            when = "" if details.kind is Kind.MANUAL else ", which no retry can cure"
            said.append("not retried")
        else:
            if decision.charge is Charge.SYSTEM:
                when = ", before the task ran" if details.started is Started.NO else ", executor"
            said.append(_PAYERS[decision.charge])
    if details.kind is Kind.INFRA and details.confidence is Confidence.GUESS and not when:
        when = ", a guess"
    return details.kind, when, said[0], said[1]


def _check(reason: Reason, first: Mapping[str, str]) -> str:
    parts: list[str] = []
    if "check" in reason.text:
        parts.append(str(reason.text["check"]).strip("\n"))
    else:
        steps = dict.fromkeys(rule.advice for rule in reason.rules)
        parts.append("\n".join(f"- {step}" for step in list(steps)[:MANY]))
    families = list(dict.fromkeys(rule.id.partition(".")[0] for rule in reason.rules))
    shown = reason.text.get("systems", families if len(families) <= MANY else ())
    blocks = dict.fromkeys(first[family].strip("\n") for family in shown if family in first)
    parts += [f"```sh\n{block}\n```" for block in blocks]
    parts.append(
        "`failhook explain FILE` shows what was seen; `failhook history TASK`, what came of it."
    )
    return "\n\n".join(parts)


def _rules(reason: Reason) -> str:
    lines = [_rule(rule) for rule in reason.rules[:SHOWN]]
    more = reason.rules[SHOWN:]
    if more:
        families = sorted({rule.id.partition(".")[0] for rule in more})
        links = ", ".join(f"[{each}](../verdicts/{each}.md)" for each in families)
        lines.append(f"- and {len(more)} more on {links}")
    return "\n".join(lines)


def _rule(rule: Rule) -> str:
    family = rule.id.partition(".")[0]
    kind = rule.kind.value if isinstance(rule.kind, Kind) else "as the host says"
    sure = rule.confidence.value if isinstance(rule.confidence, Confidence) else "as the host says"
    said = ", not worth a retry" if rule.deterministic is True else ""
    return (
        f"- [{rule.id}](../verdicts/{family}.md#{rule.id}): {kind}{said} ({sure}). {rule.because}"
    )


def _change(reason: Reason) -> str:
    rule, kind, asked = example(reason)
    quoted = ", ".join(_toml(each) for each in asked)
    of = f"comes before `{rule.id}`" if rule else "comes before all built-in rules"
    return f"""A [rule of your own](../configuration.md#rules-of-your-own) {of}; make it fit:

```toml
[[rules]]
id = "ours.{page_name(reason.token)}"
match = [{quoted}]
kind = "{kind.value}"
reason = {_toml(reason.token)}
```

How often it may be retried, and who pays: [the policy](../gate.md). Who hears of it: a
[route](../alerts.md) with `match = [{_toml(f"reason = {reason.token}")}]`."""


def example(reason: Reason) -> tuple[Rule | None, Kind, list[str]]:
    """Return a rule that can be overruled, the kind that it does not give, and how to match it."""
    scope = "task.workflow =~ nightly.*"
    rules = [rule for rule in reason.rules if isinstance(rule.kind, Kind)]
    if "match" in reason.text:
        kind = Kind(reason.text.get("kind", kinds(reason)[0]))
        return None, OTHERWISE[kind], [*reason.text["match"], scope]
    rule = min(rules, key=lambda rule: (_rank(rule, reason), _effort(rule, reason.token)))
    assert isinstance(rule.kind, Kind)
    return rule, OTHERWISE[rule.kind], [*_matchers(rule, reason.token), scope]


def _rank(rule: Rule, reason: Reason) -> int:
    """Return how far a rule is from where the reason is at home."""
    families = [each.id.partition(".")[0] for each in reason.rules]
    own = rule.id.partition(".")[0]
    listed = list(reason.text.get("systems", ()))
    return listed.index(own) if own in listed else MANY + len(families) - families.count(own)


def _effort(rule: Rule, token: str) -> tuple[bool, bool, int, int]:
    """Return how badly a rule can be said in matchers: the least is the best."""
    said = _matchers(rule, token)
    unsaid = len(rule.also) + sum(matcher != ABSENT for matcher in rule.conditions.values())
    named = any(token.lower() in matcher.lower() for matcher in said)
    return not said, not named, unsaid - len(said), sum(map(len, said))


def _matchers(rule: Rule, token: str) -> list[str]:
    said = [
        (written, isinstance(matcher, OneOf | Has) or written.endswith(f" = {token}"))
        for path, matcher in rule.conditions.items()
        if (written := _matcher(rule, path, matcher, token))
    ]
    plain = [written for written, simple in said if simple]
    return plain or sorted((written for written, _ in said), key=len)[:1]


def _matcher(rule: Rule, path: str, matcher: Condition, token: str) -> str:
    """Return a condition as users write it; "" where they cannot."""
    taken = _path(rule) if isinstance(rule.reason, Take) else ""
    if path == taken and not isinstance(matcher, OneOf):
        return f"{path} = {token}"
    if isinstance(matcher, OneOf):
        values = [as_text(value) for value in matcher.values]
        if path == taken and token in values:
            values = [token]
        if len(values) == 1 or len(values) > MANY:
            return f"{path} = {values[0]}"
        return f"{path} =~ {'|'.join(map(_literal, values))}"
    if isinstance(matcher, Has):
        return f"{path} =~ .*{_literal(matcher.words[0])}.*"
    if isinstance(matcher, Like):
        pattern, flags = matcher.pattern, "s"
        inline = re.match(r"\(\?([a-z]+)\)", pattern)
        if inline:
            pattern, flags = pattern[inline.end() :], "".join(sorted({*flags, *inline[1]}))
        if matcher.flags & re.IGNORECASE and "i" not in flags:
            flags = f"i{flags}"
        return f"{path} =~ (?{flags}).*(?:{pattern}).*"
    if isinstance(matcher, Number):
        return f"{path} = {token}" if token.isdigit() else f"{path} =~ [0-9]+"
    return f"{path} =~ .+" if matcher.needs_fact() else ""


def _literal(text: str) -> str:
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


def _toml(text: str) -> str:
    """Return a string as TOML, without escapes where that is possible."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    return json.dumps(text, ensure_ascii=False) if "'" in text or "\n" in text else f"'{text}'"


def index(found: Mapping[str, Reason]) -> str:
    """Return the list of all reasons by kind."""
    parts: list[str] = []
    for kind in Kind:
        parts.append(f"## {kind.value}: {_MEANT[kind]}")
        shelves: dict[str, list[str]] = {}
        for each in found.values():
            if kind in kinds(each):
                shelves.setdefault(_shelf(each), []).append(link(each.token))
        parts.append("\n".join(f"- {name}: {', '.join(shelves[name])}" for name in sorted(shelves)))
    return "\n\n".join(parts) + "\n"


def _shelf(reason: Reason) -> str:
    if reason.origin == "failhook.toml":
        return "**failhook's own words**"
    families = [rule.id.partition(".")[0] for rule in reason.rules]
    listed: list[str] = [*reason.text.get("systems", ()), *sorted(set(families))]
    return max(
        listed, key=lambda each: (each == listed[0] and bool(reason.text), families.count(each))
    )


def link(token: str, folder: str = "") -> str:
    """Return a link to the page on a reason."""
    return f"[{token}]({folder}{page_name(token)}.md)"
