"""The standalone executor: N attempts at a time, each in a process of its own, as the gate says."""

from __future__ import annotations

import heapq
import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from dataclasses import dataclass, replace
from itertools import count
from types import TracebackType
from typing import Any, Final, Self, TypedDict, TypeVar, Unpack, overload

from failhook.decision import Decision
from failhook.errors import ConfigError
from failhook.executors.local.attempt import Ended, run_attempt
from failhook.executors.local.cgroup import sweep
from failhook.executors.local.errors import ExecutorClosed
from failhook.executors.local.future import TaskFuture
from failhook.executors.local.orphans import end_orphans
from failhook.executors.local.outcome import Outcome, conclude
from failhook.executors.local.stop import Stop, StopRequest
from failhook.executors.local.work import (
    Argv,
    Call,
    Command,
    Terms,
    UnsendableError,
    call,
    command,
)
from failhook.pipeline import Pipeline
from failhook.task import Task

T = TypeVar("T")
Cleanup = Callable[[Task], object]

NAME: Final = "local"
_LONGEST_WAIT: Final = 3600.0
_log: Final = logging.getLogger(__name__)


class Options(TypedDict, total=False):
    """What `LocalExecutor.submit` takes beside the task and its work."""

    timeout: float | None
    grace: float
    memory_limit: int | None
    heartbeat_timeout: float | None
    cwd: str | os.PathLike[str] | None
    env: Mapping[str, str] | None
    capture_tail: int
    stdin: int | None
    cleanup: Cleanup | None


@dataclass(slots=True, eq=False)
class _Job:
    """One submitted task across its attempts."""

    task: Task
    work: Command | Call | UnsendableError
    terms: Terms
    cleanup: Cleanup | None
    request: StopRequest
    future: TaskFuture[Any]


class LocalExecutor:
    """Runs tasks in child processes of this one, and retries them as the gate decides.

    Use it as a context manager: leaving it waits for every task; leaving it with an exception ends
    what runs. At the start it ends the processes that an executor which was killed has left behind
    on this host, and reports their attempts as lost; `reaped` says which.

    Args:
        pipeline: hears of every attempt; the caller closes it.
        workers: how many attempts run at a time; as many as there are CPUs unless given.

    Attributes:
        reaped: the attempts that were reported as lost at the start, with the gate's decisions.

    Raises:
        ConfigError: `workers` is not a positive number.
        StoreError: the store cannot be read or written.
    """

    def __init__(self, pipeline: Pipeline, *, workers: int | None = None) -> None:
        slots = (os.cpu_count() or 1) if workers is None else workers
        if slots < 1:
            raise ConfigError(f"workers is {workers!r}; at least 1 is needed")
        self._pipeline = pipeline
        self._free = slots
        self._order = count()
        self._waiting: list[tuple[float, int, _Job]] = []
        self._jobs: dict[str, _Job] = {}
        self._unsettled = 0
        self._closing = False
        self._changed = threading.Condition()
        self._scheduler: threading.Thread | None = None
        sweep()
        end_orphans(pipeline.orphans())
        self.reaped: tuple[tuple[Task, Decision], ...] = tuple(pipeline.reap())

    @overload
    def submit(self, task: Task, work: Argv, **options: Unpack[Options]) -> TaskFuture[None]: ...

    @overload
    def submit(
        self, task: Task, work: Callable[..., T], *args: Any, **kwargs: Any
    ) -> TaskFuture[T]: ...

    def submit(
        self,
        task: Task,
        work: Callable[..., Any] | Argv,
        *args: Any,
        timeout: float | None = None,
        grace: float = 5.0,
        memory_limit: int | None = None,
        heartbeat_timeout: float | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        capture_tail: int = 0,
        stdin: int | None = subprocess.DEVNULL,
        cleanup: Cleanup | None = None,
        **kwargs: Any,
    ) -> TaskFuture[Any]:
        """Run a task as soon as a worker is free, and again as often as the gate says.

        Args:
            task: who it is; its attempt number comes from the ledger.
            work: a command as a list of words, or a callable: one that can be imported (or any,
                where cloudpickle is installed), called in a new process of the same interpreter.
                A coroutine function is run with `asyncio.run`.
            args: the callable's arguments; `functools.partial` passes those that this method
                names itself.
            timeout: seconds per attempt. Then SIGTERM goes to its process group; a callable has
                `TaskDeadline` raised in it, and has succeeded if it catches that and returns.
            grace: seconds from SIGTERM to SIGKILL.
            memory_limit: bytes: the address space of each process, and the memory of all together
                where a memory cgroup can be made.
            heartbeat_timeout: seconds without a heartbeat after which an attempt is killed. A
                callable's process beats by itself; a command touches the file that
                ``FAILHOOK_HEARTBEAT`` names.
            cwd: the working directory.
            env: variables added to this process's own.
            capture_tail: bytes of output kept in the outcome; all of it is still passed on.
            stdin: a command's standard input, as for `subprocess.Popen`.
            cleanup: called with the attempt's task when the gate asks for a clean-up.
            kwargs: the callable's keyword arguments.

        Raises:
            ConfigError: an argument is not allowed, or the same task is here already.
            ExecutorClosed: the executor is closed.
        """
        terms = Terms(
            timeout=timeout,
            grace=grace,
            memory=memory_limit,
            heartbeat=heartbeat_timeout,
            cwd=None if cwd is None else os.fspath(cwd),
            env=dict(env or {}),
            tail=capture_tail,
            stdin=stdin,
        )
        packed: Command | Call | UnsendableError
        if callable(work):
            try:
                packed = call(work, args, kwargs)
            except UnsendableError as error:
                packed = error
        elif args or kwargs:
            raise ConfigError("a command takes no further arguments; make them part of its list")
        else:
            packed = command(work)
        request = StopRequest()
        job = _Job(
            task if task.executor else replace(task, executor=NAME),
            packed,
            terms,
            cleanup,
            request,
            TaskFuture(request, self._wake),
        )
        with self._changed:
            if self._closing:
                raise ExecutorClosed("the executor is closed; it takes no more tasks")
            if task.key in self._jobs:
                raise ConfigError(f"the task {task.key} is here already; wait for its future")
            self._jobs[task.key] = job
            self._unsettled += 1
            self._enqueue(job, 0.0)
            if self._scheduler is None:
                self._scheduler = threading.Thread(
                    target=self._schedule, name="failhook-scheduler", daemon=True
                )
                self._scheduler.start()
        return job.future

    def run(
        self, task: Task, work: Callable[..., Any] | Argv, *args: Any, **options: Any
    ) -> Outcome:
        """Submit a task, wait for it, and return its outcome, whatever it is.

        Args:
            task: as for `submit`, like all others.
            work: what to run.
            args: the callable's arguments.
            options: all that `submit` takes.

        Raises:
            StartRefused: it may not run.
            StoreError: the store cannot be read or written.
            ConfigError, ExecutorClosed: as for `submit`.
        """
        future: TaskFuture[Any] = self.submit(task, work, *args, **options)
        wait([future])
        if future.outcome is None:
            future.result()
            raise AssertionError("a future without outcome holds an error")
        return future.outcome

    def close(self, timeout: float | None = None) -> bool:
        """Take no more tasks, wait for those that are here, then end what still runs.

        An attempt that is ended is reported as a shutdown of the worker; a task that waits is
        given back with `ExecutorClosed`, at no charge.

        Args:
            timeout: seconds to wait before that; None waits for every task and its retries.

        Returns:
            Whether every task had come to its end.
        """
        with self._changed:
            self._closing = True
            finished = self._changed.wait_for(lambda: not self._unsettled, timeout)
            dropped = [job for _, _, job in self._waiting if job.request.stop is None]
            self._waiting = [entry for entry in self._waiting if entry[2] not in dropped]
            heapq.heapify(self._waiting)
            for job in self._jobs.values():
                job.request.ask(Stop("shutdown"))
            self._changed.notify_all()
        for job in dropped:
            error = ExecutorClosed("the executor was closed; the task did not begin")
            self._settle(job, None, error)
        with self._changed:
            self._changed.wait_for(lambda: not self._unsettled)
        if self._scheduler is not None:
            self._scheduler.join()
        return finished

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(None if error is None else 0.0)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _enqueue(self, job: _Job, delay: float) -> None:
        heapq.heappush(self._waiting, (time.monotonic() + delay, next(self._order), job))
        self._changed.notify_all()

    def _schedule(self) -> None:
        while True:
            with self._changed:
                job = self._next()
                while job is None:
                    if self._closing and not self._unsettled:
                        return
                    self._changed.wait(self._patience())
                    job = self._next()
                self._free -= 1
            thread = threading.Thread(
                target=self._attempt, args=(job,), name=f"failhook-{job.task.name}"
            )
            try:
                if not job.future.running():
                    job.future.set_running_or_notify_cancel()
                thread.start()
            except RuntimeError as error:  # the system has no more threads
                self._release()
                self._settle(job, None, error)

    def _patience(self) -> float | None:
        if not self._waiting or self._free < 1:
            return None
        return min(max(0.0, self._waiting[0][0] - time.monotonic()), _LONGEST_WAIT)

    def _next(self) -> _Job | None:
        """Take the job that is to start now; one that was cancelled needs no free worker."""
        for position, (_, _, job) in enumerate(self._waiting):
            if job.request.stop is not None:
                del self._waiting[position]
                heapq.heapify(self._waiting)
                return job
        if self._free > 0 and self._waiting and self._waiting[0][0] <= time.monotonic():
            return heapq.heappop(self._waiting)[2]
        return None

    def _attempt(self, job: _Job) -> None:
        """Run one attempt in this thread, then settle the task or let it wait for the next."""
        outcome: Outcome | None = None
        error: BaseException | None = None
        try:
            ended = run_attempt(self._pipeline, job.task, job.work, job.terms, job.request)
            cleaned = self._clean_up(job, ended)
            if self._goes_on(job, ended) and cleaned is None:
                job.task = ended.task.next_attempt()
                with self._changed:
                    self._free += 1
                    self._enqueue(job, ended.decision.delay if ended.decision is not None else 0.0)
                return
            outcome, error = conclude(self._pipeline, ended)
            if cleaned is not None and error is not None:
                error.add_note(f"the clean-up failed too: {cleaned!r}")
        except BaseException as failure:  # noqa: BLE001 - it surfaces on the future, nowhere else
            error = failure
        self._release()
        self._settle(job, outcome, error)

    def _goes_on(self, job: _Job, ended: Ended) -> bool:
        shutting_down = job.request.stop is not None and job.request.stop.why == "shutdown"
        return ended.decision is not None and ended.decision.retry and not shutting_down

    def _clean_up(self, job: _Job, ended: Ended) -> Exception | None:
        """Have the attempt's remains removed, where the gate asks for it; return what failed."""
        if job.cleanup is not None and ended.decision is not None and ended.decision.cleanup:
            try:
                job.cleanup(ended.task)
            except Exception as error:  # noqa: BLE001 - the caller's own code; it is told below
                _log.exception("the clean-up of %s failed", ended.task.attempt_key)
                return error
        return None

    def _release(self) -> None:
        with self._changed:
            self._free += 1
            self._changed.notify_all()

    def _settle(self, job: _Job, outcome: Outcome | None, error: BaseException | None) -> None:
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
