"""Which task runs when: N attempts at a time, the next one when its delay is over."""

from __future__ import annotations

import heapq
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from failhook.decision import Decision
from failhook.errors import ConfigError
from failhook.executors.local.attempt import Ended, run_attempt
from failhook.executors.local.errors import ExecutorClosed
from failhook.executors.local.future import TaskFuture
from failhook.executors.local.outage import Outage, Persistent
from failhook.executors.local.outcome import Outcome, conclude, verdict
from failhook.executors.local.stop import Stop, StopRequest
from failhook.executors.local.work import Call, Command, Terms, UnsendableError
from failhook.pipeline import Pipeline
from failhook.task import Task

Cleanup = Callable[[Task], object]

_LONGEST_WAIT: Final = 3600.0
_PATIENCE: Final = 30.0
"""Seconds that a close waits for the store, when nothing else is left to wait for."""
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Job:
    """One submitted task across its attempts.

    Attributes:
        task: the attempt that runs, or the next one.
        work: what is run, or why it cannot be.
        terms: what each attempt runs under.
        cleanup: removes what an attempt left behind.
        request: who wants it to stop.
        future: the caller's handle.
        owed: the decision on the attempt before, where an executor that was killed may not have
            cleaned up after it.
    """

    task: Task
    work: Command | Call | UnsendableError
    terms: Terms
    cleanup: Cleanup | None
    request: StopRequest
    future: TaskFuture[Any]
    owed: Decision | None = None


class _Slot:
    """One of the places for attempts that run at a time, taken; it is given back once."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back: Callable[[], None] | None = give_back

    def release(self) -> None:
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back()


class Scheduler:
    """Starts a thread per attempt, as many at a time as there are slots.

    A thread per attempt, since the kernel ends a child when the thread ends that started it.

    Args:
        pipeline: hears of every attempt.
        slots: how many attempts run at a time.
    """

    def __init__(self, pipeline: Pipeline, slots: int) -> None:
        self._pipeline = pipeline
        self._free = slots
        self._order = count()
        self._waiting: list[tuple[float, int, Job]] = []
        self._jobs: dict[str, Job] = {}
        self._unsettled = 0
        self._attempts = 0
        self._closing = False
        self._changed = threading.Condition()
        self._outage = Outage(pipeline, self._changed)
        self._thread: threading.Thread | None = None

    def add(self, job: Job, delay: float = 0.0) -> None:
        """Take a job in, to begin in `delay` seconds.

        Raises:
            ConfigError: the same task is here already.
            ExecutorClosed: no more jobs are taken.
        """
        with self._changed:
            if self._closing:
                raise ExecutorClosed("the executor is closed; it takes no more tasks")
            if job.task.key in self._jobs:
                raise ConfigError(f"the task {job.task.key} is here already; wait for its future")
            self._jobs[job.task.key] = job
            self._unsettled += 1
            self._enqueue(job, delay)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="failhook-scheduler", daemon=True
                )
                self._thread.start()

    def wake(self) -> None:
        """Have the jobs looked at again: one of them is to stop."""
        with self._changed:
            self._changed.notify_all()

    def close(self, timeout: float | None) -> bool:
        """Take no more jobs, give them `timeout` seconds, then stop what is left.

        A store that is away is not waited for without end, where it is all that is waited for.

        Returns:
            Whether every job had come to its end.
        """
        with self._changed:
            self._closing = True
            finished = self._finish(timeout)
            for job in self._jobs.values():
                job.request.ask(Stop("shutdown"))
            self._outage.end()
            self._changed.wait_for(lambda: not self._unsettled)
        if self._thread is not None:
            self._thread.join()
        return finished

    def _finish(self, timeout: float | None) -> bool:
        """Wait until every job has come to its end, or is not to be waited for any more."""
        end = None if timeout is None else time.monotonic() + timeout
        hopeless: float | None = None
        while self._unsettled:
            now = time.monotonic()
            if not self._outage.waiting or self._attempts > self._outage.waiting:
                hopeless = None
            elif hopeless is None:
                hopeless = now + _PATIENCE
            until = min((each for each in (end, hopeless) if each is not None), default=None)
            if until is not None and until <= now:
                return False
            self._changed.wait(None if until is None else until - now)
        return True

    def _enqueue(self, job: Job, delay: float) -> None:
        heapq.heappush(self._waiting, (time.monotonic() + delay, next(self._order), job))
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                dropped = self._dropped()
                job = None if dropped else self._next()
                if job is not None:
                    self._free -= 1
                elif not dropped:
                    if self._closing and not self._unsettled:
                        return
                    self._changed.wait(self._patience())
            for each in dropped:
                error = ExecutorClosed("the executor was closed; the task did not begin")
                self._settle(each, None, error)
            if job is not None:
                self._start(job)

    def _dropped(self) -> list[Job]:
        """Take out the jobs that will not begin any more, because the executor shuts down."""
        dropped = [each for _, _, each in self._waiting if _is_shut_down(each)]
        if dropped:
            self._waiting = [entry for entry in self._waiting if not _is_shut_down(entry[2])]
            heapq.heapify(self._waiting)
        return dropped

    def _start(self, job: Job) -> None:
        thread = threading.Thread(
            target=self._attempt, args=(job,), name=f"failhook-{job.task.name}"
        )
        try:
            if not job.future.running():
                job.future.set_running_or_notify_cancel()
            with self._changed:
                self._attempts += 1
            thread.start()
        except (RuntimeError, MemoryError) as error:  # the system has no more threads
            self._release()
            self._left()
            self._settle(job, None, error)

    def _patience(self) -> float | None:
        if not self._waiting or self._free < 1:
            return None
        return min(max(0.0, self._waiting[0][0] - time.monotonic()), _LONGEST_WAIT)

    def _next(self) -> Job | None:
        """Take the job that is to start now; one that was cancelled needs no free slot."""
        for position, (_, _, job) in enumerate(self._waiting):
            if job.request.stop is not None:
                del self._waiting[position]
                heapq.heapify(self._waiting)
                return job
        if self._free > 0 and self._waiting and self._waiting[0][0] <= time.monotonic():
            return heapq.heappop(self._waiting)[2]
        return None

    def _attempt(self, job: Job) -> None:
        """Run one attempt in this thread, then settle the task or let it wait for the next."""
        outcome: Outcome | None = None
        error: BaseException | None = None
        slot = _Slot(self._release)
        try:
            _clean_up_before(job)
            reporter = Persistent(self._pipeline, self._outage, job.request, slot.release)
            ended = run_attempt(reporter, job.task, job.work, job.terms, job.request)
            failure = _clean_up(job, ended.task, ended.decision)
            if failure is None and self._goes_on(job, ended, slot):
                return
            details = None
            if ended.decision is not None:
                details = self._outage.bear(
                    lambda: verdict(self._pipeline, ended.task), waits=slot.release
                )
            outcome, error = conclude(ended, details)
            if failure is not None and error is not None:
                error.add_note(f"the clean-up failed too: {failure!r}")
        except BaseException as failure:  # noqa: BLE001 - it surfaces on the future, nowhere else
            error = failure
        finally:
            self._left()
        slot.release()
        self._settle(job, outcome, error)

    def _goes_on(self, job: Job, ended: Ended, slot: _Slot) -> bool:
        """Let the next attempt wait for its time, if the gate grants one."""
        with self._changed:
            if ended.decision is None or not ended.decision.retry or _is_shut_down(job):
                return False
            job.task = ended.task.next_attempt()
            slot.release()
            self._enqueue(job, ended.decision.delay)
            return True

    def _left(self) -> None:
        with self._changed:
            self._attempts -= 1
            self._changed.notify_all()

    def _release(self) -> None:
        with self._changed:
            self._free += 1
            self._changed.notify_all()

    def _settle(self, job: Job, outcome: Outcome | None, error: BaseException | None) -> None:
        with self._changed:
            self._jobs.pop(job.task.key, None)
        try:
            job.future.outcome = outcome
            if error is not None:
                job.future.set_exception(error)
            else:
                job.future.set_result(None if outcome is None else outcome.value)
        finally:
            with self._changed:
                self._unsettled -= 1
                self._changed.notify_all()


def _is_shut_down(job: Job) -> bool:
    return job.request.stop is not None and job.request.stop.why == "shutdown"


def _clean_up_before(job: Job) -> None:
    """Clean up what an executor that was killed may have left, before the task goes on."""
    owed, job.owed = job.owed, None
    if owed is not None:
        failure = _clean_up(job, job.task.at_attempt(owed.attempt), owed)
        if failure is not None:
            raise failure


def _clean_up(job: Job, task: Task, decision: Decision | None) -> Exception | None:
    """Have the attempt's remains removed, where the gate asks for it; return what failed."""
    if job.cleanup is not None and decision is not None and decision.cleanup:
        try:
            job.cleanup(task)
        except Exception as error:  # noqa: BLE001 - the caller's own code; it is told, not raised
            _log.exception("the clean-up of %s failed", task.attempt_key)
            return error
    return None
