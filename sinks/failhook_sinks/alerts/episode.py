"""One alert, as the state of its group remembers it between two notices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from failhook.plugin import (
    ErrorInfo,
    EventType,
    FailureDetails,
    FailureEvent,
    Kind,
    PhaseHistory,
    Task,
)
from failhook_sinks.alerts.labels import job_of
from failhook_sinks.alerts.moments import from_micros, happened_at, to_micros

MOST_RUNS: Final = 20
"""Failed runs of one alert that are known one by one; of older ones only when the last ended."""

_MESSAGE: Final = 500
"""Characters of an error that are remembered; the first notice has all of it."""


@dataclass(slots=True)
class Episode:
    """One task that fails for one cause. Times are microseconds since 1970.

    Attributes:
        fingerprint: who it is.
        job: the task across its runs, hashed.
        gist: namespace, workflow, name, run id, map index, kind and reason of the newest failure.
        since: when the first failure ended.
        latest: when the newest one ended.
        index_key: under what the index of open alerts knows the newest failure.
        count: failures.
        runs: runs that failed.
        members: when each failed run ended that is not known to be well again.
        before: when the last of the failed runs ended that are not among these; 0 for none.
        said: whether the last notice held it as firing.
        resolved: when it was well again; 0 while it fires.
        once: whether it ends with the notice that tells of it: nothing will ever resolve it.
        held: the count that must be reached before anything is said of it; None where that was.
        event: the newest failure without what takes much room, as JSON; "" where there is no room.
        labels: of that failure.
        live: the newest failure in full, while it is in hand.
    """

    fingerprint: str
    job: str
    gist: tuple[Any, ...]
    since: int
    latest: int
    index_key: str
    count: int = 0
    runs: int = 0
    members: dict[str, int] = field(default_factory=dict[str, int])
    before: int = 0
    said: bool = False
    resolved: int = 0
    once: bool = False
    held: str | None = None
    event: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    live: FailureEvent | None = None

    @property
    def firing(self) -> bool:
        """Return whether it is told of as failing."""
        return not self.resolved and self.held is None

    def failed(self, event: FailureEvent, labels: Mapping[str, str], key: str) -> None:
        """Take one more failure in."""
        ended, run = to_micros(happened_at(event)), hashed(event.task.key)
        self.count += 1
        self.runs += run not in self.members
        self.members[run] = max(ended, self.members.get(run, 0))
        while len(self.members) > MOST_RUNS:
            oldest = min(self.members, key=self.members.__getitem__)
            self.before = max(self.before, self.members.pop(oldest))
        self.since = min(self.since, ended)
        self.resolved = 0
        if ended >= self.latest:
            self.latest, self.index_key = ended, key
            self.gist = gist_of(event)
            self.live, self.labels = event, labels

    def recovered(self, run: str, began: int, at: int) -> None:
        """Hear that a run of this task went well.

        Args:
            run: which.
            began: when it began; what had failed by then is over.
            at: when it ended.
        """
        self.members.pop(run, None)
        self.members = {run: end for run, end in self.members.items() if end > began}
        self.before = 0 if self.before <= began else self.before
        if not (self.members or self.before or self.resolved):
            self.resolved = at

    def detail(self) -> str:
        """Return the newest failure as it is remembered."""
        if self.live is not None:
            self.event = _slim(self.live).to_json()
        return self.event

    def newest(self) -> FailureEvent:
        """Return the newest failure, as much of it as is known."""
        if self.live is not None:
            return self.live
        return FailureEvent.from_json(self.event) if self.event else self._sketch()

    def differing_labels(self, shared: Mapping[str, str]) -> Mapping[str, str]:
        """Return the labels that neither the gist nor what the group has in common tells.

        Args:
            shared: by the group; what this alert has not got is "" in the answer.
        """
        told = {**self._gist_labels(), **shared}
        less = {name: "" for name in told if name not in self.labels}
        more = {name: text for name, text in self.labels.items() if told.get(name) != text}
        return less | more

    def restore_labels(self, shared: Mapping[str, str], differing: Mapping[str, str]) -> None:
        """Undo `differing_labels`."""
        labels = {**self._gist_labels(), **shared, **differing}
        self.labels = {name: text for name, text in labels.items() if text}

    def to_json(self, *, detailed: bool, labels: int) -> str:
        """Return it in few characters.

        Args:
            detailed: with the newest failure.
            labels: where the group keeps the labels that differ.
        """
        document = {
            "f": self.fingerprint,
            "j": self.job,
            "g": self.gist,
            "a": self.since,
            "z": self.latest - self.since,
            "k": self.index_key,
            "n": self.count - 1,
            "r": self.runs - 1,
            "m": {run: self.latest - end for run, end in self.members.items()},
            "b": self.before,
            "s": int(self.said),
            "e": self.resolved,
            "o": int(self.once),
            "d": self.event if detailed else "",
            "l": labels,
        }
        kept = {name: value for name, value in document.items() if value}
        if self.held is not None:
            kept["h"] = self.held
        return json.dumps(kept, separators=(",", ":"))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Episode:
        """Read what `to_json` wrote.

        Raises:
            KeyError: it did not.
        """
        latest = document["a"] + document.get("z", 0)
        return cls(
            fingerprint=document["f"],
            job=document["j"],
            gist=tuple(document["g"]),
            since=document["a"],
            latest=latest,
            index_key=document["k"],
            count=document.get("n", 0) + 1,
            runs=document.get("r", 0) + 1,
            members={run: latest - end for run, end in document.get("m", {}).items()},
            before=document.get("b", 0),
            said=bool(document.get("s")),
            resolved=document.get("e", 0),
            once=bool(document.get("o")),
            held=document.get("h"),
            event=document.get("d", ""),
        )

    def _gist_labels(self) -> Mapping[str, str]:
        namespace, workflow, name, _, _, kind, reason = self.gist
        return {
            "namespace": namespace,
            "workflow": workflow,
            "task": name,
            "kind": kind,
            "reason": reason,
        }

    def _sketch(self) -> FailureEvent:
        namespace, workflow, name, run_id, map_index, kind, reason = self.gist
        task = Task(workflow, name, namespace=namespace, run_id=run_id, map_index=map_index)
        return FailureEvent(
            type=EventType.FAILED,
            event_id=self.index_key,
            revision=0,
            task=task,
            failure_details=FailureDetails(kind=Kind(kind), reason=reason),
            ended_at=from_micros(self.latest),
            observed_at=from_micros(self.latest),
        )


def new_episode(event: FailureEvent, cause: str, key: str) -> Episode:
    """Return an alert that has not failed yet, for the failure that it is to begin with."""
    ended = to_micros(happened_at(event))
    return Episode(
        fingerprint_of(event, cause),
        job_id(event),
        gist_of(event),
        since=ended,
        latest=ended,
        index_key=key,
        once=told_once(event),
    )


def told_once(event: FailureEvent) -> bool:
    """Return whether nothing will ever resolve what an event tells of."""
    return event.type is EventType.SUSPECT_SUCCESS


def fingerprint_of(event: FailureEvent, cause: str) -> str:
    """Return who the alert is that an event belongs to: 16 hexadecimal digits."""
    once = "once" if told_once(event) else ""
    return hashed(job_id(event), cause, once, digits=16)


def job_id(event: FailureEvent) -> str:
    """Return the task across its runs, hashed; a marked test is another than the real one."""
    return hashed(job_of(event.task), "simulated" if event.simulated else "")


def hashed(*parts: str, digits: int = 12) -> str:
    """Return a hash of some texts, in hexadecimal digits."""
    return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:digits]


def gist_of(event: FailureEvent) -> tuple[Any, ...]:
    """Return the least that can be told of a failure."""
    task, details = event.task, event.failure_details
    name = (task.namespace, task.workflow, task.name, task.run_id, task.map_index)
    return (*name, details.kind.value, details.reason)


def _slim(event: FailureEvent) -> FailureEvent:
    error = event.error and event.error.root
    return replace(
        event,
        error=error and ErrorInfo(type=error.type, message=error.message[:_MESSAGE]),
        failure_details=replace(event.failure_details, evidence=()),
        previous=None,
        first_failure=event.first_failure and replace(event.first_failure, evidence=()),
        phases=PhaseHistory(),
    )
