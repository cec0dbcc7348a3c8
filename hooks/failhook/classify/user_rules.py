"""Rules that users write in the configuration: the same matchers, above all built-in rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from failhook.classify.conditions import Predicate, Written
from failhook.classify.fact_names import problem_with
from failhook.classify.rule import PLACE, Rule, Tier
from failhook.details import Confidence, Hint, Kind, Started
from failhook.errors import ConfigError
from failhook.matchers import parse_matcher

_KEYS: Final = (
    *("id", "match", "kind", "reason", "deterministic", "confidence", "message", "started"),
    *("hint", "because", "next_step", "source"),
)


def read_user_rules(tables: Iterable[object]) -> tuple[Rule, ...]:
    """Read ``[[rules]]`` of the configuration.

    Each table has ``match`` (a list such as ``exception.type = acme.Busy``, ``log =~ ".*foo.*"``),
    ``kind`` and ``reason``; it may have ``id``, ``deterministic``, ``confidence``, ``message``,
    ``started``, ``hint``, ``because``, ``next_step`` and ``source``.

    Raises:
        ConfigError: a key is unknown or missing, or a value is not allowed.
    """
    rules = tuple(_rule(number, table) for number, table in enumerate(tables))
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            msg = f"rules: the id {rule.id!r} is given twice"
            raise ConfigError(msg)
        seen.add(rule.id)
    return rules


def _rule(number: int, source: object) -> Rule:
    where = f"rules[{number}]"
    if not isinstance(source, Mapping):
        msg = f"{where} is {source!r}; it must be a table"
        raise ConfigError(msg)
    table = cast("Mapping[str, Any]", source)
    for key in table:
        if key not in _KEYS:
            msg = f"{where}.{key} is not a setting; known are {', '.join(_KEYS)}"
            raise ConfigError(msg)
    reason = _text(where, table, "reason")
    if not reason:
        msg = f"{where}.reason is missing; it is the token that the verdict carries"
        raise ConfigError(msg)
    deterministic = table.get("deterministic")
    if deterministic is not None and not isinstance(deterministic, bool):
        msg = f"{where}.deterministic is {deterministic!r}; it is true, false or left out"
        raise ConfigError(msg)
    when: dict[str, Written] = {}
    also: list[Predicate] = []
    for text in _matchers(where, table.get("match")):
        matcher = parse_matcher(text)
        problem = problem_with(matcher.name)
        if problem:
            msg = f"{where}.match asks for {matcher.name}, which no failure has; {problem}"
            raise ConfigError(msg)
        written = Written(matcher)
        if matcher.name in when:
            also.append(Predicate(str(matcher), written.test(matcher.name)))
        else:
            when[matcher.name] = written
    return Rule(
        id=_text(where, table, "id") or f"user.{number}",
        tier=Tier.USER,
        when=when,
        also=tuple(also),
        kind=_member(where, table, "kind", Kind, None),
        reason=reason,
        deterministic=deterministic,
        confidence=_member(where, table, "confidence", Confidence, Confidence.CONFIRMED),
        message=_message(where, table),
        started=_member(where, table, "started", Started, None) if "started" in table else None,
        hint=_member(where, table, "hint", Hint, None) if "hint" in table else None,
        because=_text(where, table, "because") or "A rule of your configuration says so.",
        next_step=_text(where, table, "next_step") or "Read the rule in your configuration.",
        source=_text(where, table, "source"),
    )


def _message(where: str, table: Mapping[str, Any]) -> str:
    text = _text(where, table, "message")
    for name in PLACE.findall(text):
        problem = problem_with(name)
        if problem:
            msg = f"{where}.message has a place for {name}, which no failure has; {problem}"
            raise ConfigError(msg)
    return text


def _matchers(where: str, value: object) -> list[str]:
    texts = cast("list[object]", value) if isinstance(value, list) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        msg = f"{where}.match must be a list of matchers, such as 'exception.type = acme.Busy'"
        raise ConfigError(msg)
    return cast("list[str]", texts)


def _text(where: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        msg = f"{where}.{key} is {value!r}; it must be a string"
        raise ConfigError(msg)
    return value


def _member(where: str, table: Mapping[str, Any], key: str, allowed: Any, default: Any) -> Any:
    value = table.get(key, default)
    try:
        return allowed(value)
    except ValueError:
        msg = f"{where}.{key} is {value!r}; it is one of {', '.join(allowed)}"
        raise ConfigError(msg) from None
