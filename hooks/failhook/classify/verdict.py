"""From the rule that decided, and the facts, to the failure details."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from failhook.classify.conditions import as_text
from failhook.classify.facts import Facts, Value
from failhook.classify.rule import PLACE, Rule, Take, Tier
from failhook.details import Confidence, Fact, FailureDetails, Hint, JsonScalar, Kind, Started
from failhook.evidence import Evidence
from failhook.task import Task
from failhook.text import cut

MESSAGE_LIMIT: Final = 1_000
FACT_LIMIT: Final = 300
REASON_LIMIT: Final = 200
"""Characters of a message and of one fact in the evidence summary."""

_REPEATED: Final = frozenset({Tier.CANCEL, Tier.DEADLINE, Tier.SIGNAL, Tier.EXIT, Tier.MISMATCH})
_ALWAYS_READ: Final = ("exit_code", "signal", "node", "started")
_MAX_SAID: Final = 64

Render = Callable[[Facts], str]


class Verdict:
    """Build the failure details of one rule.

    A supervisor sees the same few deaths again and again: what a rule on them has said of the same
    facts is said again, instead of built anew.
    """

    __slots__ = ("_fact_paths", "_message", "_reads", "_rule", "_said", "_taken")

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._fact_paths = tuple(
            path for path, matcher in rule.conditions.items() if matcher.needs_fact()
        )
        self._message = template(rule.message or rule.because)
        self._taken = tuple(rule.take.items())
        self._reads = tuple(sorted({*self._fact_paths, *_reads(rule)}))
        self._said: dict[tuple[object, ...], FailureDetails] | None = (
            {} if rule.tier in _REPEATED else None
        )

    def __call__(self, facts: Facts, evidence: Evidence, task: Task | None) -> FailureDetails:
        """Return the verdict on one attempt."""
        executor = None if task is None else task.executor
        if self._said is None or facts.origins or "mark" in facts:
            return self._build(facts, evidence, executor)
        key = (
            executor,
            evidence.started,
            evidence.node,
            *[facts.get(path) for path in _ALWAYS_READ],
            *[facts[path] for path in self._reads],
        )
        said = self._said.get(key)
        if said is None:
            if len(self._said) >= _MAX_SAID:
                self._said.clear()
            said = self._said[key] = self._build(facts, evidence, executor)
        return said

    def _build(self, facts: Facts, evidence: Evidence, executor: str | None) -> FailureDetails:
        rule = self._rule
        started = rule.started or evidence.started or _started(rule, evidence, facts)
        deterministic = _truth(rule.deterministic, facts)
        more: dict[str, Any] = {}
        if rule.tier > Tier.MARK and facts.get("mark"):
            more, deterministic = _marked(facts, deterministic)
        for name, path in self._taken:
            value = _taken(name, facts[path])
            if value is not None:
                more[name] = value
        return FailureDetails(
            kind=_kind(rule.kind, facts),
            reason=_reason(rule.reason, facts),
            message=self._message(facts),
            deterministic=deterministic,
            confidence=_level(rule.confidence, facts),
            rule=rule.id,
            evidence=tuple([fact(facts, path) for path in self._fact_paths]),
            executor=executor,
            exit_code=more.pop("exit_code", _whole(facts.get("exit_code"))),
            signal=more.pop("signal", _whole(facts.get("signal"))),
            started=started,
            ended_by_itself=_flag(rule.by_itself, facts),
            executor_side=_flag(rule.executor_side, facts),
            cleanup=_flag(rule.cleanup, facts),
            node=more.pop("node", evidence.node or _text(facts.get("node"))),
            hint=more.pop("hint", rule.hint),
            **more,
        )


def _reads(rule: Rule) -> Iterator[str]:
    """Yield the facts that the verdict of a rule is filled from."""
    yield from PLACE.findall(rule.message or rule.because)
    yield from rule.take.values()
    for value in (rule.kind, rule.reason, rule.deterministic, rule.confidence, rule.by_itself):
        if isinstance(value, Take):
            yield value.path


def template(text: str) -> Render:
    """Return a function that fills the facts into a message."""
    if "{" not in text:
        return lambda _: text
    parts = PLACE.split(text)  # text, path, text, path, ..., text

    def render(facts: Facts) -> str:
        filled = (
            part if number % 2 == 0 else scalar_text(facts[part])
            for number, part in enumerate(parts)
        )
        return cut("".join(filled), MESSAGE_LIMIT)

    return render


def fact(facts: Facts, path: str) -> Fact:
    """Return one fact for the evidence summary: with its place in the document, and short."""
    return Fact(facts.origins.get(path, path), short(facts[path]))


def short(value: Value) -> JsonScalar:
    """Return a fact as one scalar of bounded length."""
    if type(value) is tuple:
        value = ", ".join(value[:4])
    if type(value) is str and len(value) > FACT_LIMIT:
        return cut(value, FACT_LIMIT)
    return value  # type: ignore[return-value]  # a tuple became text


def scalar_text(value: Value) -> str:
    """Return a fact as text for a message."""
    return value[0] if type(value) is tuple and value else as_text(value)


def _started(rule: Rule, evidence: Evidence, facts: Facts) -> Started:
    seen = _STARTS.get(facts.get("started"))
    if seen is not None:
        return seen
    if evidence.error is not None and rule.tier is Tier.REPORT:
        return Started.YES
    return Started.MAYBE


def _kind(kind: Kind | Take, facts: Facts) -> Kind:
    if not isinstance(kind, Take):
        return kind
    return _KINDS.get(facts[kind.path], Kind.UNKNOWN)


_KINDS: Final[dict[Value, Kind]] = {kind.value: kind for kind in Kind}
_STARTS: Final[dict[Value, Started]] = {each.value: each for each in Started}
_LEVELS: Final[dict[Value, Confidence]] = {level.value: level for level in Confidence}
_HINTS: Final[dict[Value, Hint]] = {hint.value: hint for hint in Hint}


def _reason(reason: str | Take, facts: Facts) -> str:
    if isinstance(reason, str):
        return reason
    return cut(scalar_text(facts[reason.path]), REASON_LIMIT) or reason.default or "Unknown"


def _level(level: Confidence | Take, facts: Facts) -> Confidence:
    if not isinstance(level, Take):
        if level is Confidence.CONFIRMED and "from_log" in facts.sources:
            return Confidence.LIKELY
        return level
    return _LEVELS.get(facts[level.path], Confidence.LIKELY)


def _truth(truth: bool | Take | None, facts: Facts) -> bool | None:  # noqa: FBT001 - as _flag
    if not isinstance(truth, Take):
        return truth
    value = facts[truth.path]
    return value if isinstance(value, bool) else None


def _flag(flag: bool | Take, facts: Facts) -> bool:  # noqa: FBT001 - a field of the table
    return facts[flag.path] is True if isinstance(flag, Take) else flag


def _whole(value: Value) -> int | None:
    return value if type(value) is int else None


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _marked(facts: Facts, deterministic: bool | None) -> tuple[dict[str, Any], bool | None]:  # noqa: FBT001 - as _flag
    """Return what a mark adds to the verdict of a rule: it leaves the kind, and says more."""
    said = _truth(Take("mark.deterministic"), facts)
    more = {"code": facts["mark.code"], "retry_after": facts["mark.retry_after"]}
    return (
        {name: value for name, value in more.items() if value is not None},
        deterministic if said is None else said,
    )


def _taken(name: str, value: Value) -> object:
    """Return a fact as the type of the field, None where it cannot be one."""
    if name in _NUMBERS:
        return _number(value)
    if name == "hint":
        return _HINTS.get(value)
    if name in ("exit_code", "signal"):
        return _whole(value)
    text = scalar_text(value)
    return cut(text, FACT_LIMIT) or None


_NUMBERS: Final = frozenset({"retry_after", "time_limit", "elapsed"})


def _number(value: Value) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e12 else None
