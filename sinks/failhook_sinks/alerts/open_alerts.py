"""Which groups hold an open alert of a task: where its recovery has to go.

Kept in the plugin's state. Each failure has a key of its own, written once before the failure
waits in its group and removed once that has settled it, so that drainers side by side undo nothing
of each other. A key that is left over costs one look at a group that has nothing to say.

A recovery that is handed over before the failure that it makes good finds no key. So that the
failure opens no alert that nothing would ever end, it is kept when the run began that made the task
well; the failure writes its key before it asks for that, and the recovery asks for keys after it
has written it: whichever comes first, one of them meets the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from failhook.plugin import FailureEvent, PluginState
from failhook_sinks.alerts.episode import hashed, job_id
from failhook_sinks.alerts.moments import began_at, happened_at, to_micros
from failhook_sinks.alerts.state import index_key

_PREFIX = "open/"
_WELL = "well/"
MOST: Final = 100_000
"""Failures that are known at most after a sweep, and runs that went well; the newest ones."""


class OpenAlerts:
    """The index, in a plugin's state."""

    def __init__(self, state: PluginState) -> None:
        self._state = state

    def add(self, event: FailureEvent, groups: Iterable[str]) -> None:
        """Note that a failure is going to wait in these groups."""
        at = to_micros(happened_at(event))
        for group in groups:
            self._state.put(_key(job_id(event), group, index_key(event)), f"{at} {group}")

    def well(self, event: FailureEvent) -> None:
        """Note that a run of a task went well, and when it began; the latest of them counts."""
        key, began = f"{_WELL}{job_id(event)}", to_micros(began_at(event))
        known = self._state.get(key)
        if known is None or int(known.partition(" ")[0]) <= began:
            run, ended = hashed(event.task.key), to_micros(happened_at(event))
            self._state.put(key, f"{began} {ended} {run}")

    def is_over(self, event: FailureEvent) -> bool:
        """Return whether a run that makes a failure good is known already."""
        known = self._state.get(f"{_WELL}{job_id(event)}")
        if known is None:
            return False
        began, ended, run = known.split(" ")
        mine = run == hashed(event.task.key)
        return to_micros(happened_at(event)) <= int(ended if mine else began)

    def groups(self, event: FailureEvent) -> Sequence[str]:
        """Return the keys of the groups that may hold an alert of an event's task."""
        found = self._state.items(f"{_PREFIX}{job_id(event)}/").values()
        return list(dict.fromkeys(value.partition(" ")[2] for value in found))

    def remove(self, group: str, settled: Iterable[tuple[str, str]]) -> None:
        """Forget failures that a group has settled: job and index key of each."""
        for job, failure in settled:
            self._state.put(_key(job, group, failure), None)

    def remove_left_over(self, event: FailureEvent, group: str) -> None:
        """Forget what ended before a run that went well, where its group knows nothing of it."""
        self._sweep(_key(job_id(event), group, ""), to_micros(began_at(event)))

    def sweep(self, older_than: int, well_before: int) -> None:
        """Forget failures, and runs that went well, of before then; microseconds since 1970."""
        self._sweep(_PREFIX, older_than)
        self._sweep(_WELL, well_before)

    def _sweep(self, prefix: str, older_than: int) -> None:
        found = self._state.items(prefix)
        times = {key: int(value.partition(" ")[0]) for key, value in found.items()}
        newest = sorted(times, key=times.__getitem__, reverse=True)
        for place, key in enumerate(newest):
            if place >= MOST or times[key] <= older_than:
                self._state.put(key, None)


def _key(job: str, group: str, failure: str) -> str:
    return f"{_PREFIX}{job}/{hashed(group)}/{failure}"
