"""OTLP over HTTP: a session that sees each answer, which the exporter keeps to itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.message import (  # type: ignore[import-untyped] # pyright: ignore[reportMissingModuleSource] - it has no stubs
    DecodeError,
)
from requests import RequestException, Response, Session

from failhook.plugin import (
    Clock,
    Secrets,
    Undelivered,
    may_pass,
    origin_of,
    read_retry_after,
    status_line,
)
from failhook_sinks.otel.partial import refused_part

_COLLECTOR: Final = "the collector"
_HOPELESS: Final = (ValueError, TypeError)  # InvalidURL and InvalidHeader are ValueErrors
_EXCERPT: Final = 200


class WatchedSession(Session):
    """Raises where a batch was not taken, so that the exporter neither retries nor looks away.

    Args:
        secrets: what no message may repeat.
        clock: for a Retry-After that is a date.
    """

    def __init__(self, secrets: Secrets, clock: Clock) -> None:
        super().__init__()
        self.refusal: Undelivered | None = None
        self._secrets = secrets
        self._clock = clock

    def request(self, method: str, url: str, **more: Any) -> Response:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride] - by name, as exporters call it
        """Send it once.

        Raises:
            Undelivered: there was no answer, or not a good one.
        """
        options: dict[str, Any] = {**more, "allow_redirects": False}
        try:
            answer = super().request(method, url, **options)
        except RequestException as error:
            self.refusal = self._unanswered(error, url)
        else:
            self.refusal = self._answered(answer)
            if self.refusal is None:
                return answer
        raise self.refusal from None

    def _answered(self, answer: Response) -> Undelivered | None:
        status = answer.status_code
        if 200 <= status < 300:
            return refused_part(_response(answer.content), self._secrets)
        message = f"{origin_of(answer.url, _COLLECTOR)} answered {status_line(status)}"
        if 300 <= status < 400:
            message = f"{message}: name the URL that the redirect leads to"
        elif said := answer.content[:_EXCERPT].decode("utf-8", "replace").strip():
            message = f"{message}: {said}"
        return Undelivered(
            self._secrets.hide(message),
            retryable=may_pass(status),
            retry_after=read_retry_after(answer.headers.get("Retry-After"), self._clock.now()),
        )

    def _unanswered(self, error: RequestException, url: str) -> Undelivered:
        """Describe it without the text of the error, which has the whole URL."""
        name = type(error).__name__
        if isinstance(error, _HOPELESS):
            return Undelivered(f"the request cannot be made: {name}", retryable=False)
        reasons = (each.strerror for each in _chain(error) if isinstance(each, OSError))
        why = next((f": {reason}" for reason in reasons if reason), "")
        message = f"{origin_of(url, _COLLECTOR)} gave no answer: {name}{why}"
        return Undelivered(self._secrets.hide(message), retryable=True)


def _response(content: bytes) -> Any:
    """Read the answer, whose fields are the same for all signals; None where it is not OTLP."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    try:
        return ExportTraceServiceResponse.FromString(content)
    except DecodeError:
        return None  # it took the batch, and says so in words of its own


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        reason = getattr(error, "reason", None)  # where urllib3 keeps it
        error = error.__cause__ or error.__context__ or _error(reason)


def _error(value: object) -> BaseException | None:
    return value if isinstance(value, BaseException) else None
