"""How hosts number attempts, where the ledger counts on and the host began again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from failhook.task import Task

_MOST: Final = 10_000


class Numbering:
    """Finds the ledger's number of an attempt that a host calls by another one.

    The very task that ``started()`` returned always means what it says. Any other is taken as the
    host's own count where the host has given that number to a start, and as the ledger's else. The
    newest 10,000 are remembered.
    """

    def __init__(self) -> None:
        self._by_host: OrderedDict[str, Task] = OrderedDict()
        self._returned: OrderedDict[str, Task] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_host)

    def note(self, given: Task, opened: Task) -> None:
        """Remember that the host calls `opened`, which it is about to get, `given`."""
        _keep(self._by_host, given.attempt_key, opened)
        _keep(self._returned, opened.attempt_key, opened)

    def of(self, task: Task) -> Task:
        """Return the task at the ledger's number."""
        if self._returned.get(task.attempt_key) is task:
            return task
        opened = self._by_host.get(task.attempt_key)
        return task if opened is None else task.at_attempt(opened.attempt)

    def forget(self, given: Task) -> None:
        """Forget an attempt that has come to its end."""
        opened = self._by_host.pop(given.attempt_key, None)
        if opened is not None:
            self._returned.pop(opened.attempt_key, None)


def _keep(known: OrderedDict[str, Task], key: str, opened: Task) -> None:
    while len(known) >= _MOST:
        known.popitem(last=False)
    known[key] = opened
