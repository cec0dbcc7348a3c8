"""Where the lines go: to Python's logging, or to standard error where the configuration says so."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, Final

from failhook.plugin import (
    FailureEvent,
    Settings,
    SettingsTable,
    Undelivered,
    hookimpl,
)
from failhook_sinks.log.sentence import sentence, undelivered_sentence

LOGGER: Final = "failhook.events"


class LogSink:
    """Tells every event in one line: verdict, decision and what comes next.

    The line goes to the logger ``failhook.events``, with the whole event as ``record.failhook``:
    a final failure and a dead letter as an error, a retry and a suspect success as a warning, a
    recovery and an amendment as information. No handler is added.

    Settings (``[plugins.log]``):
        stream: ``stderr`` writes to standard error instead, for processes that set up no logging.
        format: ``text`` (default) or ``json``, of what is written there; one line each.

    Raises:
        ConfigError: a setting is not one of these.
    """

    def __init__(self, settings: Settings) -> None:
        table = SettingsTable(settings, "plugins", "log")
        self._to_stream = table.choice("stream", ("stderr",), "logging") == "stderr"
        self._json = table.choice("format", ("text", "json"), "text") == "json"
        table.done()
        if "format" in table and not self._to_stream:
            raise table.error("format", 'needs stream = "stderr" beside it')
        self._logger = logging.getLogger(LOGGER)

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        """Tell of a failed attempt."""
        self._tell(logging.ERROR if event.final else logging.WARNING, event)

    @hookimpl
    def on_task_recovered(self, event: FailureEvent) -> None:
        """Tell that what failed before has now succeeded."""
        self._tell(logging.INFO, event)

    @hookimpl
    def on_failure_amended(self, event: FailureEvent) -> None:
        """Tell that better evidence arrived."""
        self._tell(logging.INFO, event)

    @hookimpl
    def on_suspect_success(self, event: FailureEvent) -> None:
        """Tell of a success that is in doubt."""
        self._tell(logging.WARNING, event)

    @hookimpl
    def on_delivery_failed(self, event: FailureEvent, plugin: str, error: str) -> None:
        """Tell that another plugin will never hear of an event."""
        line = undelivered_sentence(event, plugin, error)
        self._write(logging.ERROR, line, event, {"plugin": plugin, "error": error})

    def _tell(self, level: int, event: FailureEvent) -> None:
        self._write(level, sentence(event), event, None)

    def _write(
        self, level: int, line: str, event: FailureEvent, delivery: dict[str, str] | None
    ) -> None:
        more: dict[str, Any] = {} if delivery is None else {"failhook_delivery": delivery}
        if self._to_stream:
            plain = f"failhook: {line}"
            _to_stderr(self._as_json(level, line, event, more) if self._json else plain)
        elif self._logger.isEnabledFor(level):
            extra = {"failhook": event.to_dict(), **more}
            self._logger.log(level, "%s", line, extra=extra)

    def _as_json(self, level: int, line: str, event: FailureEvent, more: dict[str, Any]) -> str:
        document = {
            "level": logging.getLevelName(level).lower(),
            "message": line,
            "failhook": event.to_dict(),
            **more,
        }
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _to_stderr(line: str) -> None:
    """Write one line in one piece, so that lines of several threads do not mix.

    Raises:
        Undelivered: this process has no standard error.
    """
    stream = sys.stderr
    if stream is None or stream.closed:  # pyright: ignore[reportUnnecessaryComparison] - it is None in a process without one
        raise Undelivered("this process has no standard error", retryable=False)
    stream.write(f"{line}\n")
    stream.flush()
