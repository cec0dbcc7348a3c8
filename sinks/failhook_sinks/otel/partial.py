"""A part of a batch that a collector did not take, although it said "done"."""

from __future__ import annotations

from typing import Any

from failhook.plugin import Secrets, Undelivered


def refused_part(response: Any, secrets: Secrets) -> Undelivered | None:
    """Return what an answer says was rejected; None where all was taken.

    Source: OTLP 1.x, "Partial Success": such a batch must not be sent again.

    Args:
        response: the answer to an export, of any signal; None where it cannot be read.
        secrets: what no message may repeat.
    """
    if response is None or not response.HasField("partial_success"):
        return None
    partial = response.partial_success
    rejected = sum(value for _, value in partial.ListFields() if isinstance(value, int))
    if not rejected:
        return None
    said = f": {partial.error_message}" if partial.error_message else ""
    return Undelivered(secrets.hide(f"{rejected} items were rejected{said}"), retryable=False)
