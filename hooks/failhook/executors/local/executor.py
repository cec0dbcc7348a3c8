"""The standalone executor: N attempts at a time, each in a process of its own, as the gate says."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self, TypedDict, TypeVar, Unpack, overload

from failhook.decision import Decision
from failhook.errors import ConfigError
from failhook.executors.local.cgroup import sweep
from failhook.executors.local.future import TaskFuture
from failhook.executors.local.orphans import end_orphans
from failhook.executors.local.outcome import Outcome
from failhook.executors.local.scheduler import Cleanup, Job, Scheduler
from failhook.executors.local.stop import StopRequest
from failhook.executors.local.work import (
    Argv,
    Call,
    Command,
    Terms,
    UnsendableError,
    call,
    command,
    folder,
    refuse_while_main_is_loaded,
    variables,
)
from failhook.log import say
from failhook.pipeline import Pipeline
from failhook.task import Task

T = TypeVar("T")

NAME: Final = "local"


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


class LocalExecutor:
    """Runs tasks in child processes of this one, and retries them as the gate decides.

    Use it as a context manager: leaving it waits for every task; leaving it with an exception, or
    Ctrl-C while it waits, ends what runs. At the start it ends the processes that an executor which
    was killed has left behind on this host, and reports their attempts as lost; `reaped` says
    which. A task that comes back waits for the rest of the delay that its last decision asked for.

    While the store cannot be used, what runs goes on, the outcomes are kept and recorded when it
    can be used again, and no other attempt begins.

    Args:
        pipeline: hears of every attempt; the caller closes it.
        workers: how many attempts run at a time; as many as there are CPUs unless given.

    Attributes:
        reaped: the attempts that were reported as lost at the start, with the gate's decisions.

    Raises:
        ConfigError: `workers` is not a positive whole number, or `pipeline` is none.
        StoreError: the store cannot be read or written.
    """

    def __init__(self, pipeline: Pipeline, *, workers: int | None = None) -> None:
        if not isinstance(pipeline, Pipeline):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise ConfigError(f"pipeline is {pipeline!r}; it must be a failhook.Pipeline")
        slots = (os.cpu_count() or 1) if workers is None else workers
        if type(slots) is not int or slots < 1:
            raise ConfigError(f"workers is {workers!r}; it must be a whole number, 1 or more")
        self._pipeline = pipeline
        self._scheduler = Scheduler(pipeline, slots)
        sweep()
        end_orphans(pipeline.orphans())
        self.reaped: tuple[tuple[Task, Decision], ...] = tuple(pipeline.reap())
        self._granted = {each.task.key: each for each in pipeline.between_attempts()}

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
            memory_limit: bytes: the address space of each process (RLIMIT_AS), and the memory of
                all together where a memory cgroup can be made. Some programs, such as Java and
                Node, reserve far more address space than they use, and need a higher limit.
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
            UnguardedMainError: this process is a task's own and still loads the program's main
                module, which submits tasks without ``if __name__ == "__main__":``.
        """
        refuse_while_main_is_loaded()
        if not isinstance(task, Task):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
            raise ConfigError(f"task is {task!r}; it must be a failhook.Task")
        if cleanup is not None and not callable(cleanup):
            raise ConfigError(f"cleanup is {cleanup!r}; it must be a callable or None")
        terms = Terms(
            timeout=timeout,
            grace=grace,
            memory=memory_limit,
            heartbeat=heartbeat_timeout,
            cwd=folder(cwd),
            env=variables(env),
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
        future: TaskFuture[Any] = TaskFuture(request, self._scheduler.wake)
        named = task if task.executor else replace(task, executor=NAME)
        job = Job(named, packed, terms, cleanup, request, future)
        self._scheduler.add(job, self._goes_on(job))
        return future

    def _goes_on(self, job: Job) -> float:
        """Return the seconds until a task may begin, which another executor did not get to."""
        granted = self._granted.pop(job.task.key, None)
        if granted is None:
            return 0.0
        job.owed = granted.decision
        now = self._pipeline.clock.now()
        delay = min(granted.delay, max(0.0, (granted.due - now).total_seconds()))
        if delay >= 1.0:
            say(
                logging.WARNING,
                "attempt %d of %s begins in %.0f s, as was decided before the executor ended",
                granted.task.attempt,
                granted.task.key,
                delay,
            )
        return delay

    def run(
        self, task: Task, work: Callable[..., Any] | Argv, *args: Any, **options: Any
    ) -> Outcome:
        """Submit a task, wait for it, and return its outcome, whatever it is.

        Ctrl-C ends the task, which is reported as interrupted, and is then raised on.

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
        try:
            wait([future])
        except KeyboardInterrupt:
            future.cancel("SIGINT", "interrupt")
            wait([future])
            raise
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
        return self._scheduler.close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self.close(0.0)
            return
        try:
            self.close()
        except BaseException:  # Ctrl-C while it waits: nothing runs on unwatched
            self.close(0.0)
            raise
