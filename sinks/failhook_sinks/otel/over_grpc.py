"""OTLP over gRPC: a client that sees each answer, which the exporter keeps to itself."""

from __future__ import annotations

from typing import Any, Final

import grpc  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs] - it has none
from google.rpc.error_details_pb2 import (  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs] - as above
    RetryInfo,
)

from failhook.plugin import Secrets, Undelivered
from failhook_sinks.otel.partial import refused_part

_MAY_PASS: Final = frozenset(
    {
        *("CANCELLED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED"),
        *("OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"),
    }
)
"""Source: OTLP 1.x, "OTLP/gRPC Throttling" and "Failures"."""
_EXCERPT: Final = 200


class WatchedClient:
    """Raises where a batch was not taken, so that the exporter neither retries nor looks away.

    Args:
        client: the exporter's.
        endpoint: host and port, for messages.
        secrets: what no message may repeat.
    """

    def __init__(self, client: Any, endpoint: str, secrets: Secrets) -> None:
        self.refusal: Undelivered | None = None
        self._client = client
        self._endpoint = endpoint.rpartition("@")[2]
        self._secrets = secrets

    def Export(self, **request: Any) -> Any:  # noqa: N802 - the name of the method in gRPC
        """Send it once.

        Raises:
            Undelivered: there was no answer, or not a good one.
        """
        try:
            answer = self._client.Export(**request)
        except grpc.RpcError as error:
            self.refusal = self._refused(error)
        else:
            self.refusal = refused_part(answer, self._secrets)
            if self.refusal is None:
                return answer
        raise self.refusal from None

    def _refused(self, error: Any) -> Undelivered:
        code = error.code().name
        said = f": {error.details()}"[:_EXCERPT] if error.details() else ""
        return Undelivered(
            self._secrets.hide(f"{self._endpoint} answered {code}{said}"),
            retryable=code in _MAY_PASS,
            retry_after=_seconds(error.trailing_metadata()),
        )


def _seconds(metadata: Any) -> float | None:
    """Read RetryInfo, which gRPC has in the place of Retry-After."""
    found: Any = dict[str, Any](metadata or ()).get("google.rpc.retryinfo-bin")
    if found is None:
        return None
    delay = RetryInfo.FromString(found).retry_delay
    return float(delay.seconds + delay.nanos / 1e9)
