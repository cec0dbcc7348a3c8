"""The hooks: signatures and contracts, nothing else. Names are the promise, never positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from failhook.decision import Decision
    from failhook.details import FailureDetails
    from failhook.error_info import ErrorInfo
    from failhook.event import FailureEvent
    from failhook.evidence import Evidence
    from failhook.groups import DroppedEvents, Group, Handled
    from failhook.task import Task

hookspec = pluggy.HookspecMarker("failhook")


class FailureListener:
    """What a plugin may implement. An implementation names only the arguments that it wants.

    What hooks get is the event's: redacted, frozen, typed. All hooks but `classify_failure` are
    called off the executor's path, after the decision was committed, at least once per plugin.
    """

    @hookspec
    def on_task_failed(
        self,
        task: Task,
        error: ErrorInfo | None,
        failure_details: FailureDetails,
        decision: Decision,
        event: FailureEvent,
    ) -> None:
        """Hear of every failed attempt, once.

        Args:
            task: the attempt.
            error: what it raised, None where it could not report. On the first delivery in the
                process that reported, ``error.exception`` is the live exception.
            failure_details: the verdict; never None, since ``unknown`` is a kind.
            decision: retry, fail or hold, and who pays.
            event: all of it, and more.
        """

    @hookspec
    def on_task_recovered(self, task: Task, event: FailureEvent) -> None:
        """Hear that a task which had failed, in this run or an earlier one, has now succeeded.

        Of an earlier run it is told once, by the first run that began after the failure.
        """

    @hookspec
    def on_failure_amended(
        self,
        task: Task,
        failure_details: FailureDetails,
        previous: FailureDetails,
        event: FailureEvent,
    ) -> None:
        """Hear that better evidence arrived later; the decision stands.

        With ``event.succeeded`` the attempt, which had been given up, has succeeded after all.

        Args:
            task: the attempt.
            failure_details: the better verdict.
            previous: the verdict that was reported first.
            event: all of it.
        """

    @hookspec
    def on_suspect_success(
        self, task: Task, failure_details: FailureDetails, event: FailureEvent
    ) -> None:
        """Hear that a success was reported although a kill or an OOM was seen. Not a failure."""

    @hookspec
    def on_delivery_failed(self, event: FailureEvent, plugin: str, error: str) -> None:
        """Hear that another plugin could not take an event for good: it is a dead letter.

        Args:
            event: what was not taken.
            plugin: the name of the plugin that failed.
            error: why, in one line.
        """

    @hookspec
    def group_event(self, event: FailureEvent) -> Group | Iterable[Group] | None:
        """Name the groups in which an event is to wait for others; None takes it as it comes.

        A plugin that implements it implements `on_group_due` too. It is asked once for each event,
        in the place of the event's own hook; an event in several groups is handed over with each.
        """

    @hookspec
    def on_group_due(
        self,
        key: str,
        events: Sequence[FailureEvent],
        remaining: int,
        note: str,
        sent_at: datetime | None,
    ) -> Handled | None:
        """Take a group whose time has come; None is `Handled()`: sent, and the group ends.

        Args:
            key: the group's.
            events: what waited, oldest first; none where only its time has come again.
            remaining: how many more wait; they come next, at once.
            note: what the plugin noted the last time, "" at first.
            sent_at: when this plugin last sent something under this key, UTC.
        """

    @hookspec
    def on_events_dropped(self, dropped: DroppedEvents) -> None:
        """Hear, once the plugin works again, of the events that it will never get."""

    @hookspec(firstresult=True)
    def classify_failure(self, task: Task, evidence: Evidence) -> FailureDetails | None:
        """Give a verdict, or None to leave it to the others; the first verdict wins.

        The one hook that is called on the executor's path: it has a hard time limit, and one
        that raises, is late or answers nonsense is passed over.
        """
