"""The hooks: each event becomes one run's start and end, or is added to the orchestrator's run."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from failhook.plugin import Clock, FailureEvent, Settings, Undelivered, hookimpl
from failhook_sinks.openlineage.backend import Backend, Refused
from failhook_sinks.openlineage.refusal import TOO_LARGE
from failhook_sinks.openlineage.runs import RUN_ID_LABEL, orchestrators_run_id
from failhook_sinks.openlineage.settings import Mode, read_settings

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent


class OpenLineageSink:
    """Tells lineage backends of every attempt that failed, and of the one that succeeded after.

    One run per attempt, with the same id whoever reports and however often. The client is imported
    when the first event is there, opened anew in a forked child, and never retries by itself: the
    outbox does.

    Settings (``[plugins.openlineage]``):
        mode: ``terminal`` (default) sends START and FAIL, ABORT or COMPLETE; ``enrich`` adds the
            failure to the run that the task's label ``openlineage.run_id`` names.
        transport: as in the client's ``openlineage.yml``; without it the client's own
            configuration is used.

    Raises:
        ConfigError: a setting is wrong.
        ModuleNotFoundError: the client is not installed.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = read_settings(settings)
        self._clock = clock
        self._backend: Backend | None = None
        _require_client()

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        """Tell of a failed attempt: FAIL, or ABORT for a cancel."""
        self._tell(event)

    @hookimpl
    def on_task_recovered(self, event: FailureEvent) -> None:
        """Tell of the attempt that succeeded: COMPLETE."""
        self._tell(event)

    @hookimpl
    def on_failure_amended(self, event: FailureEvent) -> None:
        """Tell the end of the same run again, its facets replaced."""
        self._tell(event)

    @hookimpl
    def on_suspect_success(self, event: FailureEvent) -> None:
        """Tell of a success that is in doubt: COMPLETE, with what was seen."""
        self._tell(event)

    def close(self, timeout: float) -> bool:
        """Close the client; return whether all that it took went out."""
        backend, self._backend = self._backend, None
        if backend is None or backend.pid != os.getpid():
            return True
        return backend.close(timeout)

    def _tell(self, event: FailureEvent) -> None:
        try:
            run = orchestrators_run_id(event.task) if self._settings.mode is Mode.ENRICH else None
        except ValueError:
            raise Undelivered(
                f"label {RUN_ID_LABEL} of {event.task.key} is not a UUID", retryable=False
            ) from None
        try:
            self._send(event, run)
        except Refused as refused:
            raise refused.refusal.undelivered() from None

    def _send(self, event: FailureEvent, run: str | None) -> None:
        for number, told in enumerate(_run_events(event, run)):
            try:
                self._hand_over(told, whole=run is None)
            except Refused as refused:
                if refused.refusal.status != TOO_LARGE:
                    raise
                smaller = _run_events(event, run, brief=True)[number]
                self._hand_over(smaller, whole=run is None)

    def _hand_over(self, told: RunEvent, *, whole: bool) -> None:
        now = self._clock.now()
        backend = self._backend
        if backend is None or backend.pid != os.getpid():
            backend = self._backend = Backend.open(self._settings.transport, now)
        backend.send(told, whole=whole, now=now)


def _run_events(event: FailureEvent, run: str | None, *, brief: bool = False) -> list[RunEvent]:
    from failhook_sinks.openlineage.events import enrichment, whole_run

    if run is None:
        return whole_run(event, brief=brief)
    return enrichment(event, run, brief=brief)


def _require_client() -> None:
    """Look for the client without importing it, which takes half a second.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    if find_spec("openlineage") is None or find_spec("openlineage.client") is None:
        raise ModuleNotFoundError("the OpenLineage client is not installed", name="openlineage")
