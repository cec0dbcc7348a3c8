"""What a group remembers from one notice to the next: its note in the notification log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from logging import getLogger
from typing import Any, Final

from failhook.plugin import EventType, FailureEvent
from failhook_sinks.alerts.episode import Episode, fingerprint_of, hashed, job_id, new_episode
from failhook_sinks.alerts.moments import began_at, happened_at, to_micros
from failhook_sinks.alerts.tree import Threshold

VERSION: Final = 2
MOST_ALERTS: Final = 10_000
"""Alerts that a group tells apart; more are only counted."""
MOST_DETAILS: Final = 1_000
"""Alerts whose newest failure is remembered; of more only who they are."""
DETAILS_SIZE: Final = 600_000
"""Characters that these may have."""
NOTE_SIZE: Final = 3_800_000
"""Characters of all alerts; what is allowed of a note leaves room for the rest."""
_MOST_GHOSTS: Final = 1_000
_MOST_HITS: Final = 10_000
_LONGEST_MEMORY: Final = 8_192

_logger = getLogger("failhook.alerts")


@dataclass(slots=True)
class GroupState:
    """One group, from its first failure until everything in it is well and said to be.

    Attributes:
        receiver: who gets it.
        labels: what its alerts have in common by being grouped.
        memory: what the receiver returned the last time.
        episodes: its alerts by fingerprint.
        ghosts: fingerprints of what the last notice held as firing, and what has gone since without
            a word because recoveries are not sent.
        past: failures of what has been told to be well again.
        beyond: failures that are only counted.
        hits: when the newest failures were, for each count of a threshold.
        settled: job, index key of each failure that needs no recovery any more.
    """

    receiver: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    memory: str = ""
    episodes: dict[str, Episode] = field(default_factory=dict[str, Episode])
    ghosts: list[str] = field(default_factory=list[str])
    past: int = 0
    beyond: int = 0
    hits: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    settled: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def firing(self) -> Sequence[Episode]:
        """The alerts that are told of as failing."""
        return [episode for episode in self.episodes.values() if episode.firing]

    @property
    def over(self) -> Sequence[Episode]:
        """The alerts that are well again, of which the last notice said otherwise."""
        return [episode for episode in self.episodes.values() if episode.resolved]

    @property
    def told(self) -> bool:
        """Return whether the last notice held anything as firing."""
        return bool(self.ghosts) or any(episode.said for episode in self.episodes.values())

    @property
    def failures(self) -> int:
        """How many failures there were so far, of all that is told."""
        told = (each.count for each in self.episodes.values() if each.held is None)
        return self.past + self.beyond + sum(told)

    @property
    def since(self) -> int:
        """When the first failure of what is not well yet ended."""
        return min(episode.since for episode in self.episodes.values())

    def failed(
        self, event: FailureEvent, labels: Mapping[str, str], threshold: Threshold | None
    ) -> None:
        """Take a failure in."""
        key, cause = index_key(event), labels["cause"]
        episode = self.episodes.get(fingerprint_of(event, cause))
        if episode is not None and episode.index_key == key:
            return  # handed over twice
        if episode is None:
            if len(self.episodes) >= MOST_ALERTS:
                self.beyond += 1
                self.settled.append((job_id(event), key))
                return
            episode = new_episode(event, cause, key)
            if episode.fingerprint in self.ghosts:
                self.ghosts.remove(episode.fingerprint)
                episode.said = True
            self.episodes[episode.fingerprint] = episode
            if threshold is not None:
                episode.held = ""
        if event.simulated:
            episode.said = False  # each test is news
        before = episode.index_key
        episode.failed(event, labels, key)
        if episode.index_key != key:
            self.settled.append((episode.job, key))
        elif before != key:
            self.settled.append((episode.job, before))
        if threshold is not None:
            self._count(episode, labels, threshold, to_micros(happened_at(event)))

    def recovered(self, event: FailureEvent) -> bool:
        """Hear that a run went well; return whether an alert of its task is here.

        What was never said to fail goes without a word.
        """
        job, run = job_id(event), hashed(event.task.key)
        began = to_micros(began_at(event))
        mine = self._of(job)
        for episode in mine:
            episode.recovered(run, began, to_micros(happened_at(event)))
            if episode.resolved and not episode.said:
                self._forget(episode)
        return bool(mine)

    def amended(self, event: FailureEvent, labels: Mapping[str, str]) -> None:
        """Hear of a better verdict: the next notice has it."""
        run = hashed(event.task.key)
        for episode in self._of(job_id(event)):
            if run in episode.members and episode.gist[3] == event.task.run_id:
                episode.live = event
                episode.labels = {**labels, "cause": episode.labels.get("cause", labels["cause"])}

    def expire(self, older_than: int, threshold: Threshold | None, now: int) -> None:
        """Forget what has not failed for long, and what did not reach its threshold in time."""
        within = 0 if threshold is None else now - round(threshold.within * 1_000_000)
        for episode in list(self.episodes.values()):
            least = older_than if episode.held is None else within
            if episode.latest < least and not episode.resolved:
                self._forget(episode)
        self.hits = {name: hits for name, hits in self.hits.items() if hits[-1] >= within}

    def notified(self) -> None:
        """Remember that a notice of everything has gone out."""
        self.ghosts = []
        for episode in list(self.episodes.values()):
            if episode.resolved or (episode.once and episode.firing):
                self._forget(episode)
            else:
                episode.said = episode.firing

    def silent(self) -> None:
        """Remember that nothing was sent: what is well again leaves without a word."""
        for episode in self.over:
            self.ghosts.append(episode.fingerprint)
            self._forget(episode)
        del self.ghosts[:-_MOST_GHOSTS]

    def end(self) -> None:
        """Begin anew: everything is well, and said to be."""
        self.ghosts, self.memory, self.past, self.beyond = [], "", 0, 0

    def write(self) -> str:
        """Return it as a note; "" for a group of which nothing is left to know."""
        if not (self.episodes or self.ghosts or self.hits):
            return ""
        differing: dict[str, int] = {}
        alerts = list(self._written(differing))
        head = json.dumps(
            {
                "version": VERSION,
                "receiver": self.receiver,
                "labels": dict(self.labels),
                "memory": self.memory[:_LONGEST_MEMORY],
                "ghosts": self.ghosts,
                "past": self.past,
                "beyond": self.beyond,
                "hits": self.hits,
            }
        )
        labels = ",".join(differing)
        return f'{head[:-1]}, "differing": [{labels}], "alerts": [{",".join(alerts)}]}}'

    def _written(self, differing: dict[str, int]) -> Iterator[str]:
        """Yield each alert, and number the labels in which they differ: many have the same."""
        size, details, room = 0, 0, DETAILS_SIZE
        for episode in list(self.episodes.values()):
            if details < MOST_DETAILS and room > 0:
                room -= len(episode.detail())
                details += bool(episode.event)
            labels = json.dumps(episode.differing_labels(self.labels), sort_keys=True)
            place = differing.get(labels, len(differing))
            text = episode.to_json(detailed=room > 0 and details <= MOST_DETAILS, labels=place)
            size += len(text) + (0 if labels in differing else len(labels))
            if size > NOTE_SIZE:
                self.beyond += episode.count
                self.settled.append((episode.job, episode.index_key))
                del self.episodes[episode.fingerprint]
            else:
                differing[labels] = place
                yield text

    def _of(self, job: str) -> Sequence[Episode]:
        return [episode for episode in self.episodes.values() if episode.job == job]

    def _forget(self, episode: Episode) -> None:
        del self.episodes[episode.fingerprint]
        self.settled.append((episode.job, episode.index_key))
        if episode.said:
            self.past += episode.count

    def _count(
        self, episode: Episode, labels: Mapping[str, str], threshold: Threshold, at: int
    ) -> None:
        name = hashed(*(labels.get(label, "") for label in threshold.for_each))
        hits = self.hits.setdefault(name, [])
        hits.append(at)
        hits.sort()
        del hits[: -threshold.count]
        if len(self.hits) > max(1, _MOST_HITS // threshold.count):
            del self.hits[next(iter(self.hits))]
        if episode.held is not None:
            episode.held = name
        reached = len(hits) == threshold.count
        if reached and hits[-1] - hits[0] <= threshold.within * 1_000_000:
            for each in self.episodes.values():
                if each.held == name:
                    each.held = None


def index_key(event: FailureEvent) -> str:
    """Return under what the index of open alerts knows a failure."""
    return event.event_id[:12]


def read_state(note: str) -> GroupState:
    """Read a note; one that cannot be read is told in the log, and the group begins anew."""
    if not note:
        return GroupState()
    try:
        return _read(json.loads(note))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        _logger.warning("alerts: a group begins anew, its note cannot be read: %r", error)
        return GroupState()


def _read(document: Any) -> GroupState:
    if document["version"] != VERSION:
        raise ValueError(f"version {document['version']}")
    episodes: list[Episode] = []
    for alert in document["alerts"]:
        episode = Episode.from_dict(alert)
        differing = document["differing"][alert.get("l", 0)]
        episode.restore_labels(document["labels"], differing)
        episodes.append(episode)
    return GroupState(
        receiver=document["receiver"],
        labels=document["labels"],
        memory=document["memory"],
        episodes={episode.fingerprint: episode for episode in episodes},
        ghosts=document["ghosts"],
        past=document["past"],
        beyond=document["beyond"],
        hits=document["hits"],
    )


def is_recovery(event: FailureEvent) -> bool:
    """Return whether an event says that a run went well."""
    return event.type is EventType.RECOVERED or event.succeeded
