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

from failhook.errors import ConfigError
from failhook.executors.local.attempt import Ended, run_attempt
from failhook.executors.local.errors import ExecutorClosed
from failhook.executors.local.future import TaskFuture
from failhook.executors.local.outcome import Outcome, conclude
from failhook.executors.local.stop import Stop, StopRequest
from failhook.executors.local.work import Call, Command, Terms, UnsendableError
from failhook.pipeline import Pipeline
from failhook.task import Task

Cleanup = Callable[[Task], object]

_LONGEST_WAIT: Final = 3600.0
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
    """

    task: Task
    work: Command | Call | UnsendableError
    terms: Terms
    cleanup: Cleanup | None
    request: StopRequest
    future: TaskFuture[Any]


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
        self._closing = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, job: Job) -> None:
        """Take a job in.

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
            self._enqueue(job, 0.0)
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

        Returns:
            Whether every job had come to its end.
        """
        with self._changed:
            self._closing = True
            finished = self._changed.wait_for(lambda: not self._unsettled, timeout)
            for job in self._jobs.values():
                job.request.ask(Stop("shutdown"))
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._unsettled)
        if self._thread is not None:
            self._thread.join()
        return finished

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
            thread.start()
        except (RuntimeError, MemoryError) as error:  # the system has no more threads
            self._release()
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
        try:
            ended = run_attempt(self._pipeline, job.task, job.work, job.terms, job.request)
            failure = _clean_up(job, ended)
            if failure is None and self._goes_on(job, ended):
                return
            outcome, error = conclude(self._pipeline, ended)
            if failure is not None and error is not None:
                error.add_note(f"the clean-up failed too: {failure!r}")
        except BaseException as failure:  # noqa: BLE001 - it surfaces on the future, nowhere else
            error = failure
        self._release()
        self._settle(job, outcome, error)

    def _goes_on(self, job: Job, ended: Ended) -> bool:
        """Let the next attempt wait for its time, if the gate grants one."""
        with self._changed:
            if ended.decision is None or not ended.decision.retry or _is_shut_down(job):
                return False
            job.task = ended.task.next_attempt()
            self._free += 1
            self._enqueue(job, ended.decision.delay)
            return True

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


def _clean_up(job: Job, ended: Ended) -> Exception | None:
    """Have the attempt's remains removed, where the gate asks for it; return what failed."""
    if job.cleanup is not None and ended.decision is not None and ended.decision.cleanup:
        try:
            job.cleanup(ended.task)
        except Exception as error:  # noqa: BLE001 - the caller's own code; it is told, not raised
            _log.exception("the clean-up of %s failed", ended.task.attempt_key)
            return error
    return None
