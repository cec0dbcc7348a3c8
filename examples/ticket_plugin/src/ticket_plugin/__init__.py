"""Tickets as files: one per task that failed for good, closed when the task has recovered."""

from __future__ import annotations

from pathlib import Path

from failhook.plugin import (
    ConfigError,
    Decision,
    FailureDetails,
    PluginState,
    Settings,
    Task,
    Undelivered,
    hookimpl,
)


class Tickets:
    """Opens and closes tickets in a folder.

    Args:
        settings: ``folder``, where tickets go.
        state: remembers which ticket belongs to which task.
    """

    def __init__(self, settings: Settings, state: PluginState) -> None:
        folder = settings.get("folder")
        if folder is None:
            raise ConfigError("plugins.tickets.folder is missing; it must be a folder's path")
        if not isinstance(folder, str):
            raise ConfigError(f"plugins.tickets.folder is {folder!r}; it must be a folder's path")
        self._folder = Path(folder)
        self._state = state

    @hookimpl
    def on_task_failed(
        self, task: Task, failure_details: FailureDetails, decision: Decision
    ) -> None:
        if not decision.final or self._state.get(task.key):
            return
        ticket = self._folder / f"{task.workflow}-{task.name}-{task.run_id}.txt"
        try:
            ticket.write_text(
                f"OPEN {task.workflow}/{task.name}: {failure_details.kind} "
                f"{failure_details.reason}\n{decision.message}\n"
            )
        except OSError as error:
            raise Undelivered(f"{ticket}: {error.strerror}", retryable=True) from error
        self._state.put(task.key, str(ticket))

    @hookimpl
    def on_task_recovered(self, task: Task) -> None:
        ticket = self._state.get(task.key)
        if ticket is not None:
            path = Path(ticket)
            path.write_text(path.read_text().replace("OPEN", "CLOSED", 1))
            self._state.put(task.key, None)
