"""The rule tables as tables: nothing hidden, nothing without a source, nothing slow."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator

import pytest

import failhook.classify
from failhook.classify.conditions import PRESENT, Condition, Like, Not, has, like, one_of
from failhook.classify.next_steps import FALLBACK, NEXT_STEPS
from failhook.classify.rule import PLACE, Rule, Take, Tier
from failhook.classify.sources import SOURCES
from failhook.details import Kind
from tests.classify.hiding import hidden
from tests.classify.regex_cost import ways

RULES = tuple(rule for source in SOURCES for rule in source.rules)
MOST_WAYS = 20_000


def patterns() -> Iterator[tuple[str, str, int]]:
    """Yield every regular expression of rules and readers: where, pattern, flags."""
    for rule in RULES:
        for path, condition in rule.conditions.items():
            for found in likes(condition):
                yield f"{rule.id} {path}", found.pattern, int(found.flags)
    for module in pkgutil.walk_packages(failhook.classify.__path__, "failhook.classify."):
        for name, value in vars(importlib.import_module(module.name)).items():
            for member in value if isinstance(value, tuple) else (value,):
                if isinstance(member, re.Pattern):
                    yield f"{module.name}.{name}", member.pattern, member.flags


def likes(condition: Condition) -> Iterator[Like]:
    """Yield the regular expressions of a condition, also those it denies."""
    if isinstance(condition, Like):
        yield condition
    elif isinstance(condition, Not):
        yield from likes(condition.condition)


def test_ids_are_unique_and_dotted():
    """An id names one rule, in words or in a platform's own token."""
    ids = [rule.id for rule in RULES]

    assert [] == [name for name, count in Counter(ids).items() if count > 1]
    assert [] == [name for name in ids if not re.fullmatch(r"[a-z0-9]+(?:[._\-][a-z0-9]+)*", name)]


def test_every_rule_has_a_source_and_a_sentence():
    """A link to where the claim is documented, one full sentence, and a step to take."""
    links = ("https://", "docs/")

    assert [] == [rule.id for rule in RULES if not rule.source.startswith(links)]
    assert [] == [rule.id for rule in RULES if not re.fullmatch(r"\S.*\.", rule.because)]
    assert [] == [rule.id for rule in RULES if not rule.advice.endswith((".", "}"))]
    assert [] == [rule.id for rule in RULES if "{" in rule.advice + rule.because]


def test_no_rule_is_hidden_by_an_earlier_one():
    """Every rule can decide something: no earlier rule holds whenever it does."""
    assert [] == hidden(RULES)


def test_a_hidden_rule_would_be_found():
    """The check sees a plain value behind one-of, a word behind a shorter one, a bare presence."""

    def rule(name: str, when: dict) -> Rule:
        fields = {"kind": Kind.INFRA, "reason": "x", "because": "x", "source": "x"}
        return Rule(id=name, tier=Tier.REPORT, when=when, **fields)

    rules = (
        rule("wide", {"a": one_of("x", "y")}),
        rule("narrow", {"a": "x", "b": 1}),
        rule("word", {"c": has("err")}),
        rule("longer", {"c": has("error")}),
        rule("there", {"d": PRESENT}),
        rule("text", {"d": like("x")}),
        rule("free", {"e": 1}),
    )

    assert [("narrow", "wide"), ("longer", "word"), ("text", "there")] == hidden(rules)


def test_no_regular_expression_can_be_slow():
    """None has many ways to try one text: bounded repeats, and no repeats that overlap."""
    slow = [
        (where, count) for where, p, flags in patterns() if (count := ways(p, flags)) > MOST_WAYS
    ]

    assert [] == slow


@pytest.mark.parametrize("pattern", [r"(?:a+)+b", r"(?:a|a)*b", r".*.*x", r"(\w+\s?)*$|\w+\d"])
def test_a_slow_expression_would_be_found(pattern):
    """The bound sees nested and overlapping repeats."""
    assert MOST_WAYS < ways(pattern)


def test_templates_and_taken_fields_name_paths_that_somebody_reads():
    """A message, a reason or a field is never filled from a path that nobody can know."""
    known = {path for rule in RULES for path in rule.when}
    known |= {path for source in SOURCES for path in source.derived}
    groups = {path.partition(".")[0] for path in known}
    named = [
        (rule.id, path)
        for rule in RULES
        for path in (
            *PLACE.findall(rule.message),
            *rule.take.values(),
            *(v.path for v in (rule.reason, rule.kind, rule.confidence) if isinstance(v, Take)),
        )
    ]

    assert [] == [(name, path) for name, path in named if path.partition(".")[0] not in groups]


def test_most_reasons_have_a_step_of_their_own():
    """Every reason of failhook's own has advice, from the rule or from the list."""
    without = {
        rule.reason
        for source in SOURCES
        if source.name in ("process", "python")
        for rule in source.rules
        if isinstance(rule.reason, str) and not rule.next_step and rule.reason not in NEXT_STEPS
    }

    assert FALLBACK
    assert set() == without - {"Unknown"}


def test_infra_is_never_concluded_from_a_log_with_certainty():
    """What only a log line says is at most likely."""
    certain = [r.id for r in RULES if r.tier is Tier.LOG and r.confidence == "confirmed"]

    assert [] == certain
