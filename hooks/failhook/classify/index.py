"""Rules arranged so that a verdict looks only at those that could hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from failhook.classify.conditions import Test
from failhook.classify.facts import Derived, Facts, Value
from failhook.classify.rule import Rule, Tier
from failhook.classify.verdict import Verdict
from failhook.details import Kind

_OF_THE_TASK: Final = (Kind.UNKNOWN, Kind.APPLICATION)
_OF_THE_SETTING: Final = frozenset({"system"})
"""Facts that say where something happened, and nothing of what."""

Report = Callable[[str, Exception], None]
_MAX_PLANS: Final = 512


class Entry:
    """One rule, ready to be asked.

    Attributes:
        key: the one condition that the index itself answers: a path and its possible values.
        needs: the facts without which the rule cannot hold.
        needs_one_of: sets of facts; without one of each the rule cannot hold.
        rests_on: the facts that speak for the rule.
    """

    __slots__ = (
        "_conditions",
        "_tests",
        "_verdict",
        "decides_for_a_cause",
        "decides_from_logs",
        "gives_way_to_logs",
        "key",
        "needs",
        "needs_one_of",
        "rests_on",
        "rule",
    )

    def __init__(self, rule: Rule, derived: Mapping[str, Derived]) -> None:
        conditions = self._conditions = rule.conditions
        self.rule = rule
        self.key = next(
            (
                (path, keys)
                for path, matcher in conditions.items()
                if path not in derived and (keys := matcher.keys()) is not None
            ),
            None,
        )
        self._tests: tuple[Test, ...] | None = None
        self._verdict: Verdict | None = None
        needs = [path for path, matcher in conditions.items() if matcher.needs_fact()]
        self.rests_on = frozenset(path for path in needs if path not in _OF_THE_SETTING)
        self.needs = frozenset(path for path in needs if path not in derived)
        self.needs_one_of = tuple(
            frozenset(derived[path].made_from)
            for path in needs
            if path in derived and derived[path].made_from
        )
        self.decides_for_a_cause = rule.tier <= Tier.REPORT and not rule.fallback
        self.gives_way_to_logs = (rule.tier >= Tier.EXIT and rule.kind in _OF_THE_TASK) or (
            rule.kind is Kind.UNKNOWN and rule.tier is Tier.SIGNAL
        )
        self.decides_from_logs = rule.tier <= Tier.REPORT and (
            rule.kind is Kind.APPLICATION or not rule.fallback
        )

    def possible(self, shape: frozenset[str]) -> bool:
        """Return whether the rule can hold where just these facts are there."""
        return self.needs <= shape and not any(map(shape.isdisjoint, self.needs_one_of))

    def holds(self, facts: Facts) -> bool:
        """Return whether what the index has not answered holds too."""
        tests = self._tests
        if tests is None:
            tests = self._tests = self._made()
        for test in tests:  # noqa: SIM110 - twice as fast as all() over a generator
            if not test(facts):
                return False
        return True

    def only_quoted(self, facts: Facts) -> bool:
        """Return whether nothing speaks for the rule but text that the task could have written."""
        return bool(self.rests_on) and self.rests_on <= facts.quoted

    @property
    def verdict(self) -> Verdict:
        """What builds the rule's verdict; most rules never need theirs, so it is made late."""
        if self._verdict is None:
            self._verdict = Verdict(self.rule)
        return self._verdict

    def _made(self) -> tuple[Test, ...]:
        answered = None if self.key is None else self.key[0]
        return (
            *(matcher.test(path) for path, matcher in self._conditions.items() if path != answered),
            *(predicate.holds for predicate in self.rule.also),
        )


class Index:
    """Rules by what they need: the facts that must be there, and the value one of them must have.

    Args:
        rules: in order; a lower tier goes first, and a fallback goes last in its tier.
        derived: the facts that are computed when asked for, so may be missing at first.
    """

    def __init__(self, rules: Iterable[Rule], derived: Mapping[str, Derived]) -> None:
        self._entries = tuple(
            Entry(rule, derived)
            for rule in sorted(rules, key=lambda rule: (rule.tier, rule.fallback))
        )
        self._by_value: dict[str, dict[Value, list[int]]] = {}
        self._rest: list[int] = []
        self._plans: dict[tuple[str, ...], _Plan] = {}
        for number, entry in enumerate(self._entries):
            if entry.key is None:
                self._rest.append(number)
            else:
                path, keys = entry.key
                for key in keys:
                    self._by_value.setdefault(path, {}).setdefault(key, []).append(number)

    def first(self, facts: Facts, report: Report) -> Entry | None:
        """Return the first rule that holds.

        One for infra that rests on quoted text alone (`Facts.quoted`) gives way to the next rule
        that does not, if that one blames the task: a line in a log, which anybody may have
        written, does not outweigh the task's own exception, its exit code, or its record.
        """
        doubted: Entry | None = None
        for entry in self._candidates(facts):
            try:
                if not entry.holds(facts):
                    continue
            except Exception as error:  # noqa: BLE001 - a broken rule costs only itself
                report(f"rule {entry.rule.id}", error)
                continue
            kind = entry.rule.kind
            if kind is Kind.INFRA and entry.only_quoted(facts):
                doubted = doubted or entry
            elif doubted is None:
                return entry
            elif not entry.only_quoted(facts):
                return entry if kind is Kind.APPLICATION else doubted
        return doubted

    def all(self, facts: Facts, report: Report) -> Iterator[Entry]:
        """Yield every rule that holds, in order."""
        for entry in self._candidates(facts):
            try:
                if entry.holds(facts):
                    yield entry
            except Exception as error:  # noqa: BLE001 - as above
                report(f"rule {entry.rule.id}", error)

    def _candidates(self, facts: Facts) -> Iterable[Entry]:
        """Return the rules that could hold, in order, remembered for facts of the same shape."""
        if not self._entries:
            return ()
        shape = tuple(facts)
        plan = self._plans.get(shape)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            keyed = [(path, self._by_value[path]) for path in shape if path in self._by_value]
            plan = self._plans[shape] = (keyed, {})
        keyed, known = plan
        values = tuple([_listed(facts[path], by_value) for path, by_value in keyed])
        entries = known.get(values)
        if entries is None:
            if len(known) >= _MAX_PLANS:
                known.clear()
            entries = known[values] = self._select(frozenset(shape), keyed, values)
        return entries

    def _select(
        self, shape: frozenset[str], keyed: _Keyed, values: tuple[Value, ...]
    ) -> tuple[Entry, ...]:
        numbers = set(self._rest)
        for (_, by_value), value in zip(keyed, values, strict=True):
            for member in value if isinstance(value, tuple) else (value,):
                numbers.update(by_value.get(member, ()))
        entries = (self._entries[number] for number in sorted(numbers))
        return tuple(entry for entry in entries if entry.possible(shape))


def _listed(value: Value, by_value: dict[Value, list[int]]) -> Value:
    """Return the part of a value that some rule asks for."""
    if type(value) is tuple:
        return tuple([member for member in value if member in by_value])
    return value if value in by_value else None


_Keyed = list[tuple[str, dict[Value, list[int]]]]
_Plan = tuple[_Keyed, dict[tuple[Value, ...], tuple[Entry, ...]]]
