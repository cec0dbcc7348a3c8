"""One reader per table of the configuration; values are checked while their lines are known."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from failhook.classify import read_user_rules
from failhook.config.document import Document
from failhook.config.settings import DeliverySettings
from failhook.errors import ConfigError
from failhook.event import MAX_BYTES
from failhook.gate.overrides import Override, Policies
from failhook.matchers import parse_matcher
from failhook.policy import Backoff, Policy
from failhook.redact.linear import why_refused
from failhook.redact.sources import why_missing
from failhook.settings_table import Keys

_POLICY: Final = tuple(field.name for field in fields(Policy))
_BACKOFF: Final = tuple(field.name for field in fields(Backoff))
_DELIVERY: Final = tuple(field.name for field in fields(DeliverySettings))
_LEAST: Final = {"max_failures": 1, "max_refusals": 1, "max_events": 1, "max_bytes": MAX_BYTES}
"""The least that a number may be: the bounds must hold one event."""
_REDACT: Final = ("patterns", "sources")
_BACKOFFS: Final = tuple(name for name in _POLICY if name.endswith("backoff"))
_WORDS: Final = {"name": "task"}
"""What overrides call otherwise than rules."""
_RULE_KEY: Final = re.compile(r"rules\[0\](?:\.(\w+))? ")


def read_store(document: Document, value: object) -> str:
    """Read ``store``; a plain file name is relative to the folder of the configuration."""
    store = document.text_at(("store",), value)
    if store == "memory" or "://" in store:
        return store
    return str(document.path.parent / Path(store).expanduser())


def read_policies(document: Document, value: object) -> Policies:
    """Read ``[policy]`` and ``[[policy.overrides]]``."""
    settings = dict(document.table(("policy",), value))
    tables = document.tables(("policy", "overrides"), settings.pop("overrides", []))
    default = _policy(document, ("policy",), settings, (*_POLICY, "overrides"))
    overrides: list[Override] = []
    for number, table in enumerate(tables):
        keys = ("policy", "overrides", number)
        _matchers(document, keys, table)
        given = {name: setting for name, setting in table.items() if name != "match"}
        _policy(document, keys, given, ("match", *_POLICY))
        overrides.append(Override.from_dict(table))
    return Policies(default, tuple(overrides))


def read_rules(document: Document, value: object) -> tuple[Mapping[str, Any], ...]:
    """Check ``[[rules]]`` one by one and return the tables."""
    tables = document.tables(("rules",), value)
    for number, table in enumerate(tables):
        try:
            read_user_rules([table])
        except ConfigError as error:
            found = _RULE_KEY.match(str(error))
            keys: Keys = ("rules", number, *((found[1],) if found and found[1] else ("match",)))
            problem = _RULE_KEY.sub("", str(error), count=1)
            raise document.error(keys, problem if found else f"is wrong: {problem}") from None
    try:
        read_user_rules(tables)
    except ConfigError as error:
        raise document.error(("rules",), f"are wrong: {error}") from None
    return tuple(MappingProxyType(dict(table)) for table in tables)


def read_plugins(
    document: Document, value: object
) -> tuple[Mapping[str, Mapping[str, Any]], tuple[str, ...]]:
    """Read ``[plugins]`` and ``[plugins.NAME]``: the settings by name, and who is blocked."""
    tables = dict(document.table(("plugins",), value))
    blocked = list(document.texts(("plugins", "block"), tables.pop("block", [])))
    plugins: dict[str, Mapping[str, Any]] = {}
    for name, table in tables.items():
        settings = dict(document.table(("plugins", name), table))
        enabled = settings.pop("enabled", True)
        if not isinstance(enabled, bool):
            raise document.error(
                ("plugins", name, "enabled"), f"is {enabled!r}; it must be true or false"
            )
        if enabled:
            plugins[name] = MappingProxyType(settings)
        else:
            blocked.append(name)
    return MappingProxyType(plugins), tuple(dict.fromkeys(blocked))


def read_delivery(document: Document, value: object) -> DeliverySettings:
    """Read ``[delivery]``."""
    table = document.table(("delivery",), value)
    document.only(("delivery",), table, _DELIVERY)
    settings = dict(table)
    limit = settings.get("time_limit", 1)
    if type(limit) not in (int, float) or not 0 < limit < math.inf:
        raise document.error(
            ("delivery", "time_limit"), f"is {limit!r}; it must be a number of seconds above 0"
        )
    for name, least in _LEAST.items():
        count = settings.get(name, least)
        if type(count) is not int or count < least:
            raise document.error(
                ("delivery", name), f"is {count!r}; it must be a whole number, {least} or more"
            )
    if "backoff" in settings:
        given = _backoff(document, ("delivery", "backoff"), settings["backoff"])
        settings["backoff"] = replace(DeliverySettings().backoff, **given)
    return replace(DeliverySettings(), **settings)


def read_patterns(document: Document, value: object) -> tuple[str, ...]:
    """Read ``patterns`` of ``[redact]``: further regular expressions of what is secret."""
    table = document.table(("redact",), value)
    document.only(("redact",), table, _REDACT)
    patterns = document.texts(("redact", "patterns"), table.get("patterns", []))
    for number, pattern in enumerate(patterns):
        problem = why_refused(pattern)
        if problem:
            raise document.error(("redact", "patterns", number), problem)
    return patterns


def read_sources(document: Document, value: object) -> tuple[str, ...]:
    """Read ``sources`` of ``[redact]``: catalogues that are asked too."""
    table = document.table(("redact",), value)
    sources = document.texts(("redact", "sources"), table.get("sources", []))
    for number, source in enumerate(sources):
        problem = why_missing(source)
        if problem:
            raise document.error(("redact", "sources", number), problem)
    return sources


def _policy(
    document: Document, keys: Keys, settings: Mapping[str, Any], allowed: tuple[str, ...]
) -> Policy:
    """Check the settings of a policy one by one, so that the one that is wrong is known."""
    document.only(keys, settings, allowed)
    for name, value in settings.items():
        if name in _BACKOFFS:
            _backoff(document, (*keys, name), value)
        try:
            Policy.from_dict({name: value})
        except ConfigError as error:
            raise document.error((*keys, name), _after_name(error)) from None
    return Policy.from_dict(settings)


def _backoff(document: Document, keys: Keys, value: object) -> Mapping[str, Any]:
    table = document.table(keys, value)
    document.only(keys, table, _BACKOFF)
    for name, setting in table.items():
        try:
            Backoff(**{name: setting})
        except ConfigError as error:
            raise document.error((*keys, name), _after_name(error)) from None
    return table


def _matchers(document: Document, keys: Keys, table: Mapping[str, Any]) -> None:
    texts = document.texts((*keys, "match"), table.get("match", []))
    if not texts:
        raise document.error(keys, 'has no matchers; write match = ["workflow = etl", ...]')
    for number, text in enumerate(texts):
        try:
            matcher = parse_matcher(text)
        except ConfigError as error:
            raise document.error((*keys, "match", number), f"is wrong: {error}") from None
        family, _, name = matcher.name.partition(".")
        if name and family in ("task", "label"):  # as rules have it: no task has such a label
            word = _WORDS.get(name, name) if family == "task" else name
            asked = f"asks for the label {matcher.name}, which is how a rule says it"
            raise document.error((*keys, "match", number), f"{asked}; write {word} here")


def _after_name(error: ConfigError) -> str:
    """Drop the model's own name of a setting, which the file may call otherwise."""
    return str(error).partition(" ")[2]
