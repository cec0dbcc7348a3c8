"""Exporters as the ``OTEL_*`` variables name them, within our limits, and telling what they did."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Final

from opentelemetry.context import (
    _SUPPRESS_INSTRUMENTATION_KEY,  # pyright: ignore[reportPrivateUsage] - the SDK's own exports are hidden from tracers under this key alone
    attach,
    detach,
    set_value,
)

from failhook.plugin import Clock, Secrets, Undelivered
from failhook_sinks.otel.secrets import secrets_of
from failhook_sinks.otel.settings import Signal

TIMEOUT: Final = 2.0
"""Seconds for a connection and an answer; the outbox tries again, with a schedule that lasts."""

_OTLP: Final[Mapping[str, str]] = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
_NOT_HERE: Final = ("UNIMPLEMENTED", "answered 404", "answered 405")


class Exporter:
    """One exporter of one signal.

    Args:
        signal: what it takes.
        exporter: the SDK's or a stranger's.
        watch: what has seen the answer; None where nothing could be told to look.
        secrets: what no message may repeat.
    """

    def __init__(self, signal: Signal, exporter: Any, watch: Any, secrets: Secrets) -> None:
        self.inner = exporter
        self._signal = signal
        self._watch = watch
        self._secrets = secrets

    def export(self, batch: Any) -> None:
        """Send a batch, and wait for the answer.

        Raises:
            Undelivered: it was not taken.
        """
        if self._watch is not None:
            self._watch.refusal = None
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))  # noqa: FBT003 - a switch
        try:
            result = self.inner.export(batch)
        except Undelivered as refused:
            raise self._told(refused) from None
        except Exception as error:  # noqa: BLE001 - each exporter has errors of its own
            message = self._secrets.hide(f"{type(error).__name__}: {error}"[:500])
            raise self._told(Undelivered(message, retryable=True)) from None
        finally:
            detach(token)
        if getattr(result, "name", "SUCCESS") == "SUCCESS":
            return
        seen = None if self._watch is None else self._watch.refusal
        raise self._told(seen or Undelivered("the exporter failed; its log says why"))

    def close(self) -> None:
        """End the connection."""
        self.inner.shutdown()

    def _told(self, refused: Undelivered) -> Undelivered:
        """Return it with the name of the signal, and with the way out where nobody takes that."""
        message = f"{self._signal}: {refused}"
        if any(each in message for each in _NOT_HERE):
            message += f"; where nothing takes {self._signal}, leave them out of `signals`"
        return Undelivered(message, retryable=refused.retryable, retry_after=refused.retry_after)


def open_exporters(signal: Signal, environ: Mapping[str, str], clock: Clock) -> list[Any]:
    """Return the exporters of a signal; a metric reader, which is asked by others, as it is.

    Raises:
        Undelivered: one cannot be had or set up.
    """
    secrets = secrets_of(environ)
    try:
        return [_open(signal, name, environ, secrets, clock) for name in _names(signal, environ)]
    except Exception as error:  # noqa: BLE001 - each exporter checks its settings as it likes
        message = secrets.hide(f"{type(error).__name__}: {error}"[:500])
        raise Undelivered(
            f"{signal}: the exporter cannot be set up: {message}", retryable=False
        ) from None


def _names(signal: Signal, environ: Mapping[str, str]) -> list[str]:
    said = environ.get(f"OTEL_{signal.upper()}_EXPORTER") or "otlp"
    names = [name.strip() for name in said.split(",")]
    return [name for name in names if name and name != "none"]


def _open(
    signal: Signal, name: str, environ: Mapping[str, str], secrets: Secrets, clock: Clock
) -> Any:
    if name == "otlp":
        name = _OTLP[_protocol(signal, environ)]
    points = entry_points(group=f"opentelemetry_{signal}_exporter", name=name)
    if not points:
        raise LookupError(f"OTEL_{signal.upper()}_EXPORTER: {name!r} is not installed")
    kind = next(iter(points)).load()
    if name not in _OTLP.values():
        made = kind()
        return Exporter(signal, made, None, secrets) if hasattr(made, "export") else made
    limits = _limits(signal, environ)
    if name == "otlp_proto_grpc":
        from failhook_sinks.otel.over_grpc import WatchedClient

        made = kind(**limits)
        watch = made._client = WatchedClient(made._client, made._endpoint, secrets)  # noqa: SLF001 - the exporter has no other place where an answer can be seen
        return Exporter(signal, made, watch, secrets)
    if any("CREDENTIAL_PROVIDER" in each for each in environ):  # its session is another one
        return Exporter(signal, kind(**limits), None, secrets)
    from failhook_sinks.otel.over_http import WatchedSession

    session = WatchedSession(secrets, clock)
    return Exporter(signal, kind(session=session, **limits), session, secrets)


def _protocol(signal: Signal, environ: Mapping[str, str]) -> str:
    """Return the protocol; without a word on it gRPC, as the SDK for Python has it."""
    for name in (f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if said := environ.get(name, "").strip():
            if said not in _OTLP:
                raise LookupError(f"{name} is {said!r}; allowed: {', '.join(_OTLP)}")
            return said
    return "grpc"


def _limits(signal: Signal, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return our time limit, where the environment has none."""
    names = ("OTEL_EXPORTER_OTLP_TIMEOUT", f"OTEL_EXPORTER_OTLP_{signal.upper()}_TIMEOUT")
    return {} if any(environ.get(name) for name in names) else {"timeout": TIMEOUT}
