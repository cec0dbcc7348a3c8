"""Rules arranged so that a verdict looks only at those that could hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from failhook.classify.conditions import Test
from failhook.classify.facts import Facts
from failhook.classify.rule import Rule, Tier
from failhook.classify.verdict import Verdict

Report = Callable[[str, Exception], None]
_MAX_PLANS: Final = 512


class Entry:
    """One rule, ready to be asked."""

    __slots__ = ("decides_for_a_cause", "needs", "rule", "tests", "verdict")

    def __init__(self, rule: Rule) -> None:
        conditions = rule.conditions
        self.rule = rule
        self.tests: tuple[Test, ...] = (
            *(matcher.test(path) for path, matcher in conditions.items()),
            *(predicate.holds for predicate in rule.also),
        )
        self.needs = frozenset(path for path, matcher in conditions.items() if matcher.needs_fact())
        self.verdict = Verdict(rule)
        self.decides_for_a_cause = rule.tier <= Tier.REPORT and not rule.fallback

    def holds(self, facts: Facts) -> bool:
        for test in self.tests:  # noqa: SIM110 - twice as fast as all() over a generator
            if not test(facts):
                return False
        return True


class Index:
    """Rules by what they need: the facts that must be there, and the value one of them must have.

    Args:
        rules: in order; rules of a lower tier go first, and the order stays within a tier.
        derived: the paths that are computed when asked for, so may be missing at first.
    """

    def __init__(self, rules: Iterable[Rule], derived: Iterable[str] = ()) -> None:
        self._derived = frozenset(derived)
        ordered = sorted(rules, key=lambda rule: rule.tier)
        self._entries = tuple(Entry(rule) for rule in ordered)
        self._by_value: dict[str, dict[Any, list[int]]] = {}
        self._rest: list[int] = []
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self.paths = frozenset(path for rule in ordered for path in rule.when)
        for number, entry in enumerate(self._entries):
            self._file(number, entry)

    def first(self, facts: Facts, report: Report) -> Entry | None:
        """Return the first rule that holds."""
        entries = self._entries
        for number in self._candidates(facts):
            entry = entries[number]
            try:
                if entry.holds(facts):
                    return entry
            except Exception as error:  # noqa: BLE001 - a broken rule costs only itself
                report(f"rule {entry.rule.id}", error)
        return None

    def all(self, facts: Facts, report: Report) -> Iterator[Entry]:
        """Yield every rule that holds, in order."""
        entries = self._entries
        for number in self._candidates(facts):
            entry = entries[number]
            try:
                if entry.holds(facts):
                    yield entry
            except Exception as error:  # noqa: BLE001 - a broken rule costs only itself
                report(f"rule {entry.rule.id}", error)

    def _file(self, number: int, entry: Entry) -> None:
        """Put a rule under the values that one of its conditions lists, or with the rest."""
        listed = [
            (path, keys)
            for path, matcher in entry.rule.conditions.items()
            if path not in self._derived and (keys := matcher.keys()) is not None
        ]
        if not listed:
            self._rest.append(number)
            return
        path, keys = listed[0]
        by_value = self._by_value.setdefault(path, {})
        for key in keys:
            by_value.setdefault(key, []).append(number)

    def _candidates(self, facts: Facts) -> Iterable[int]:
        shape = tuple(facts)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._plan(facts)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[shape] = plan
        always, keyed = plan
        found: list[int] = []
        for path, by_value in keyed:
            value = facts[path]
            if type(value) is tuple:
                for member in value:
                    numbers = by_value.get(member)
                    if numbers is not None:
                        found += numbers
            else:
                numbers = by_value.get(value)
                if numbers is not None:
                    found += numbers
        if not found:
            return always
        found += always
        return sorted(set(found))

    def _plan(self, facts: Facts) -> _Plan:
        """Return what facts of this shape can be asked, whatever their values."""
        known = self._derived | facts.keys()
        always = [number for number in self._rest if self._entries[number].needs <= known]
        keyed = [(path, self._by_value[path]) for path in facts if path in self._by_value]
        return always, keyed


_Plan = tuple[list[int], list[tuple[str, dict[Any, list[int]]]]]
