"""Rules that can never decide, because an earlier one holds whenever they do."""

from __future__ import annotations

import re

from failhook.classify.conditions import Condition, Has, Like, Not, Number, OneOf, Present
from failhook.classify.rule import Rule


def hidden(rules: tuple[Rule, ...]) -> list[tuple[str, str]]:
    """Return pairs of rule ids: one that can never decide, and the earlier one that hides it."""
    ordered = sorted(rules, key=lambda rule: (rule.tier, rule.fallback))
    plain = [(rule, rule.conditions) for rule in ordered]
    return [
        (later.id, earlier.id)
        for number, (later, wanted) in enumerate(plain)
        for earlier, asked in plain[:number]
        if not earlier.also
        and all(
            path in wanted and implies(wanted[path], condition) for path, condition in asked.items()
        )
    ]


def implies(later: Condition, earlier: Condition) -> bool:
    """Return whether the earlier condition holds of every fact of which the later one holds."""
    if later == earlier:
        return True
    match earlier:
        case Present():
            return later.needs_fact()
        case Not(condition=inner):
            return _excludes(later, inner)
        case OneOf(values=values):
            return isinstance(later, OneOf) and set(later.values) <= set(values)
        case Number():
            return all(map(_in(earlier), _numbers(later)))
        case Has(words=words):
            return _texts(later) != [] and all(
                any(word in text for word in words) for text in _texts(later)
            )
        case Like(pattern=pattern, flags=flags):
            return (
                isinstance(later, OneOf)
                and all(isinstance(value, str) for value in later.values)
                and all(re.search(pattern, str(value), flags) for value in later.values)
            )
    return False


def _excludes(later: Condition, inner: Condition) -> bool:
    """Return whether a fact of which the later condition holds cannot satisfy the inner one."""
    if isinstance(later, Not):
        return isinstance(later.condition, Present) and inner.needs_fact()
    return (
        isinstance(later, OneOf)
        and isinstance(inner, OneOf)
        and set(later.values).isdisjoint(inner.values)
    )


def _texts(condition: Condition) -> list[str]:
    if isinstance(condition, OneOf):
        return [value for value in condition.values if isinstance(value, str)]
    return list(condition.words) if isinstance(condition, Has) else []


def _numbers(condition: Condition) -> list[float]:
    if isinstance(condition, OneOf):
        return [v if isinstance(v, int | float) else float("nan") for v in condition.values]
    if isinstance(condition, Number):
        least = float("-inf") if condition.least is None else condition.least
        return [least, float("inf") if condition.most is None else condition.most]
    return [float("nan")]


def _in(number: Number):
    least = float("-inf") if number.least is None else number.least
    most = float("inf") if number.most is None else number.most
    return lambda value: least <= value <= most
