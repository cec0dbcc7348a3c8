"""The shape of most entries in this folder: a class was raised, and its message may say more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from failhook.classify.conditions import Shorthand
from failhook.classify.rule import Rule, Tier
from failhook.details import Kind


def raised(
    rule_id: str,
    classes: str | tuple[str, ...],
    kind: Kind,
    reason: str,
    *,
    because: str,
    source: str,
    tier: Tier = Tier.REPORT,
    when: Mapping[str, Shorthand] | None = None,
    **more: Any,
) -> Rule:
    """Return the rule for an exception of one of these classes, or of a class derived from one.

    Args:
        rule_id: as `Rule.id`.
        classes: short names (`failhook.classify.python.names.short_name`).
        kind: as in `Rule`.
        reason: as in `Rule`.
        because: as in `Rule`.
        source: as in `Rule`.
        tier: as in `Rule`; the task's own report unless given.
        when: further conditions, the cheapest first.
        more: further fields of `Rule`.
    """
    return Rule(
        id=rule_id,
        tier=tier,
        when={"exception.is": classes, **(when or {})},
        kind=kind,
        reason=reason,
        because=because,
        source=source,
        message=more.pop("message", "{exception.line}"),
        **more,
    )
