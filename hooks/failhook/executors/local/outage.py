"""Bears a store that cannot be used for a while: what it must know is kept, and told it again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

from failhook import host
from failhook.decision import DUPLICATE_EXECUTION, Decision
from failhook.errors import StartRefused, StoreError
from failhook.evidence import Evidence
from failhook.executors.local.stop import StopRequest
from failhook.gate.ledger import Attempt
from failhook.log import say
from failhook.pipeline import Pipeline
from failhook.task import Task

T = TypeVar("T")

START_PATIENCE: Final = 60.0
"""Seconds that a start waits for the store. Nothing has run yet, so giving up loses nothing."""
_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 5.0
"""Seconds between two tries of one report."""


class Reporter(Protocol):
    """What an attempt says to the ledger; a `Pipeline` is one."""

    def orphans(self) -> Sequence[Attempt]: ...
    def started(self, task: Task) -> Task: ...
    def attach(self, task: Task, pid: int) -> None: ...
    def failed(self, task: Task, evidence: Evidence) -> Decision: ...
    def succeeded(self, task: Task, evidence: Evidence | None = None) -> None: ...


class Outage:
    """Whether the store can be used, as the attempts of one executor find it.

    One line is logged when it cannot, and one when it can again.

    Args:
        pipeline: whose store it is.
        changed: is notified of each change, and guards what is known.

    Attributes:
        waiting: how many attempts wait for it.
    """

    def __init__(self, pipeline: Pipeline, changed: threading.Condition) -> None:
        self._pipeline = pipeline
        self._changed = changed
        self._ending = False
        self._told = False
        self._away = False
        self.waiting = 0

    def end(self) -> None:
        """Let each report that waits be tried once more, and no more."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def bear(
        self,
        call: Callable[[], T],
        *,
        gives_up: Callable[[], bool] = lambda: False,
        waits: Callable[[], None] = lambda: None,
    ) -> T:
        """Call until the store takes it.

        Args:
            call: what writes to the store or reads it.
            gives_up: whether to stop trying.
            waits: is called when it has to wait for the first time.

        Raises:
            StoreError: it gave up, the executor ends, or the pipeline is closed.
        """
        try:
            result = call()
        except StoreError as error:
            if self._pipeline.closed or gives_up():
                raise
            self._begin(error)
            waits()
        else:
            if self._away:
                self._over()
            return result
        try:
            result = self._again(call, gives_up)
        finally:
            with self._changed:
                self.waiting -= 1
                self._changed.notify_all()
        self._over()
        return result

    def _again(self, call: Callable[[], T], gives_up: Callable[[], bool]) -> T:
        delay = _FIRST_WAIT
        while True:
            with self._changed:
                until = time.monotonic() + delay
                while not (self._ending or gives_up()) and time.monotonic() < until:
                    self._changed.wait(until - time.monotonic())
                last = self._ending or gives_up()
            delay = min(2 * delay, _LONGEST_WAIT)
            try:
                return call()
            except StoreError:
                if last or self._pipeline.closed:
                    raise

    def _begin(self, error: StoreError) -> None:
        with self._changed:
            self.waiting += 1
            self._away = True
            told, self._told = self._told, True
            self._changed.notify_all()
        if not told:
            say(
                logging.ERROR,
                "%s. The outcomes of attempts are kept, and recorded when it works again",
                error,
            )

    def _over(self) -> None:
        with self._changed:
            self._away = False
            told = self._told and not self.waiting
            if told:
                self._told = False
            self._changed.notify_all()
        if told:
            say(logging.WARNING, "the store works again; what was kept is recorded")


class Persistent:
    """A pipeline for one attempt, which bears the store's being away.

    Args:
        pipeline: hears of the attempt.
        outage: of its store.
        request: who wants the attempt to stop.
        waits: is called when the attempt has ended and the store does not take that.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        outage: Outage,
        request: StopRequest,
        waits: Callable[[], None],
    ) -> None:
        self._pipeline = pipeline
        self._outage = outage
        self._request = request
        self._waits = waits

    def orphans(self) -> Sequence[Attempt]:
        return self._outage.bear(self._pipeline.orphans, gives_up=self._patience())

    def started(self, task: Task) -> Task:
        begun = self._pipeline.clock.now()
        unsure = False

        def start() -> Task:
            nonlocal unsure
            try:
                return self._pipeline.started(task)
            except StoreError:
                unsure = True
                raise
            except StartRefused as refused:
                opened = self._opened(task, begun) if unsure else None
                if opened is None or refused.decision.code != DUPLICATE_EXECUTION:
                    raise
                return opened

        return self._outage.bear(start, gives_up=self._patience())

    def _opened(self, task: Task, begun: datetime) -> Task | None:
        """Return the attempt that is open since a start of ours that seemed to have failed.

        A store that goes away in the middle of a commit cannot say whether that was done.
        """
        with self._pipeline.store.transaction() as ledger:
            last = ledger.attempts(task.key)[-1]
        me = host.this_process()
        mine = last.owner is not None and last.owner.is_process(me)
        since = last.opened_at is not None and last.opened_at >= begun
        return task.at_attempt(last.task.attempt) if mine and since else None

    def attach(self, task: Task, pid: int) -> None:
        """Record the process, if the store can be used: by its marks it can be found as well."""
        try:
            self._pipeline.attach(task, pid)
        except StoreError as error:
            say(logging.WARNING, "the process %d of %s is not recorded: %s", pid, task.key, error)

    def failed(self, task: Task, evidence: Evidence) -> Decision:
        return self._outage.bear(lambda: self._pipeline.failed(task, evidence), waits=self._waits)

    def succeeded(self, task: Task, evidence: Evidence | None = None) -> None:
        self._outage.bear(lambda: self._pipeline.succeeded(task, evidence), waits=self._waits)

    def _patience(self) -> Callable[[], bool]:
        end = time.monotonic() + START_PATIENCE
        return lambda: self._request.stop is not None or time.monotonic() >= end
