"""What a `TaskError`, found anywhere in the chain, says by itself."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    INFRA,
    MANUAL,
    TIMEOUT,
    Rule,
    Take,
    Tier,
)
from failhook.details import Kind

_DOCS: Final = "docs/hooks.md"
_FLYTE: Final = "https://github.com/flyteorg/flyte"
_SAID: Final = {"code": "mark.code", "retry_after": "mark.retry_after"}


def _declared(kind: Kind, reason: str) -> Rule:
    return Rule(
        id=f"mark.{kind.value}",
        tier=Tier.MARK,
        when={"mark.kind": kind.value},
        kind=kind,
        reason=Take("mark.code", reason),
        deterministic=Take("mark.deterministic"),
        confidence=CONFIRMED,
        message="{mark.message}",
        take=_SAID,
        ended_by_itself=True,
        because=f"The task itself says that this failure is of kind {kind.value}.",
        source=_DOCS,
    )


MARKS: Final = (
    _declared(APPLICATION, "UserException"),
    _declared(INFRA, "InfraReported"),
    _declared(TIMEOUT, "ExecutionTimeout"),
    _declared(MANUAL, "Cancelled"),
    Rule(
        id="mark.code.bad-specification",
        tier=Tier.MARK,
        when={"mark.kind": ABSENT, "mark.code": ("BadTaskSpecification", "MetadataTooLarge")},
        kind=APPLICATION,
        reason=Take("mark.code"),
        deterministic=True,
        confidence=CONFIRMED,
        message="{mark.message}",
        take=_SAID,
        ended_by_itself=True,
        because="The task's specification was refused, and it stays the same on a retry.",
        source=_FLYTE,
        next_step="Correct the specification that the message names.",
    ),
    Rule(
        id="mark.code.corrupted-state",
        tier=Tier.MARK,
        when={"mark.kind": ABSENT, "mark.code": "CorruptedPluginState"},
        kind=INFRA,
        reason=Take("mark.code"),
        deterministic=True,
        confidence=CONFIRMED,
        message="{mark.message}",
        take=_SAID,
        ended_by_itself=True,
        executor_side=True,
        cleanup=True,
        because="What the plugin stored of the task cannot be read; only a clean-up helps.",
        source=_FLYTE,
        next_step="Remove what the attempt left behind, then run the task again.",
    ),
    Rule(
        id="mark.deterministic",
        tier=Tier.MARK,
        when={"mark.kind": ABSENT, "mark.deterministic": True},
        kind=APPLICATION,
        reason=Take("mark.code", "NonRetryable"),
        deterministic=True,
        confidence=CONFIRMED,
        message="{mark.message}",
        take=_SAID,
        ended_by_itself=True,
        because="The task itself says that a retry cannot help.",
        source=_DOCS,
    ),
)
