"""The run facet of failhook's own, ``failhook_failure``; its schema is beside it.

Imported on first use: it needs the client.
"""

from __future__ import annotations

from typing import ClassVar, Final

import attr
from openlineage.client.facet_v2 import RunFacet
from openlineage.client.utils import RedactMixin

KEY: Final = "failhook_failure"
SCHEMA: Final = (
    "urn:failhook:schema:openlineage:1-0-0:FailhookFailureRunFacet#/$defs/FailhookFailureRunFacet"
)


@attr.define
class Budget(RedactMixin):
    """What one budget has paid, and its limit."""

    used: int
    limit: int


@attr.define
class Budgets(RedactMixin):
    """The three budgets after this attempt was judged."""

    user: Budget
    infra: Budget
    system: Budget


@attr.define
class PhaseSpan(RedactMixin):
    """One phase: when it was entered, and when the next one was."""

    name: str
    startTime: str  # noqa: N815 - the facet's own name for it
    endTime: str | None = None  # noqa: N815 - as above


@attr.define
class Verdict(RedactMixin):
    """The verdict that this one took the place of."""

    kind: str
    reason: str


@attr.define
class FailhookFailureRunFacet(RunFacet):
    """Why an attempt failed and what became of it (``schema/FailhookFailureRunFacet.json``)."""

    kind: str
    reason: str
    attempt: int
    retryDecision: str  # noqa: N815 - the facet's own name for it
    mapIndex: int | None = None  # noqa: N815 - as above
    executor: str | None = None
    maxAttempts: int | None = None  # noqa: N815 - as above
    exitCode: int | None = None  # noqa: N815 - as above
    signal: int | None = None
    deterministic: bool | None = None
    confidence: str | None = None
    rule: str | None = None
    started: str | None = None
    node: str | None = None
    code: str | None = None
    charge: str | None = None
    budgets: Budgets | None = None
    nextRetryAt: str | None = None  # noqa: N815 - as above
    logUrl: str | None = None  # noqa: N815 - as above
    phases: list[PhaseSpan] | None = None
    previous: Verdict | None = None
    succeeded: bool | None = None
    simulated: bool | None = None

    _additional_skip_redact: ClassVar[list[str]] = [
        "kind",
        "reason",
        "retryDecision",
        "executor",
        "confidence",
        "rule",
        "started",
        "charge",
        "nextRetryAt",
    ]

    @staticmethod
    def _get_schema() -> str:
        return SCHEMA
