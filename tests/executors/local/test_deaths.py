"""The death matrix: a task dies in every way, as a callable and as a command."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from failhook import Task, host
from failhook.executors.local import LocalExecutor, State, TaskFailed
from failhook.executors.local.cgroup import MemoryCgroup
from tests.executors.local import tasks
from tests.executors.local.conftest import Fifo
from tests.pipeline.conftest import Recorder

TASK = Task("nightly", "load")
MIB = 1 << 20


def python(code: str) -> list[str]:
    """Return a command that runs a piece of Python."""
    return [sys.executable, "-ISc", code]


@dataclass(frozen=True)
class Verdict:
    """What an attempt's event must say."""

    kind: str
    reason: str
    started: str = "yes"
    confidence: str = "confirmed"
    rule: str = ""


CRASH = Verdict("application", "NativeCrash", rule="process.crash")
NON_ZERO = Verdict("application", "NonZeroExit", rule="process.exit.nonzero")
TIMEOUT = Verdict("timeout", "ExecutionTimeout", rule="engine.deadline.execution")
BAD_COMMAND = Verdict("application", "SpecError", "no", rule="process.exec.bad-command")
LOST = Verdict("infra", "HeartbeatTimeout", confidence="likely", rule="process.heartbeat.lost")
KILLED = Verdict(
    "infra", "KilledBySignal", confidence="likely", rule="process.sigkill.no-host-oom-seen"
)


@dataclass(frozen=True)
class Death:
    """One way to die.

    Attributes:
        id: names it.
        work: the task, its arguments behind it.
        verdict: what must be said of it.
        options: what the task runs under.
    """

    id: str
    work: tuple[Any, ...]
    verdict: Verdict
    options: dict[str, Any] = field(default_factory=dict)


def limited(reason: str, rule: str) -> Verdict:
    """Return a verdict on a process that had a memory limit."""
    return Verdict("application", reason, confidence="likely", rule=f"process.memory-limit.{rule}")


EAT = """
import os, sys
kept = []
try:
    while True:
        kept.append(b"x" * (1 << 20))
except MemoryError:
    {}
"""
CRASHES = [
    ("sigsegv", signal.SIGSEGV, CRASH),
    ("abort", signal.SIGABRT, CRASH),
    ("kills itself", signal.SIGKILL, KILLED),
]
DEATHS = [
    Death(
        "callable raises",
        (tasks.raise_value_error,),
        Verdict("application", "UserException", rule="python.exception"),
    ),
    Death("command raises", (python("raise ValueError"),), NON_ZERO),
    Death(
        "callable exits 3",
        (tasks.exit_with, 3),
        Verdict("application", "UserExit", rule="python.exit"),
    ),
    Death("command exits 3", (python("raise SystemExit(3)"),), NON_ZERO),
    Death("callable _exits 1", (tasks.exit_at_once, 1), NON_ZERO),
    Death("command _exits 1", (python("import os; os._exit(1)"),), NON_ZERO),
    *(
        Death(f"{what} {name}", work, verdict)
        for name, number, verdict in CRASHES
        for what, work in (
            ("callable", (tasks.signal_self, number)),
            ("command", (["sh", "-c", f"kill -{int(number)} $$"],)),
        )
    ),
    Death(
        "callable ignores SIGTERM",
        (tasks.ignore_sigterm,),
        TIMEOUT,
        {"timeout": 0.5, "grace": 0.1},
    ),
    Death(
        "command ignores SIGTERM",
        (["sh", "-c", "trap '' TERM; while :; do sleep 60; done"],),
        TIMEOUT,
        {"timeout": 0.3, "grace": 0.1},
    ),
    Death("callable passes its deadline", (signal.pause,), TIMEOUT, {"timeout": 0.3}),
    Death("command passes its deadline", (["sleep", "60"],), TIMEOUT, {"timeout": 0.3}),
    Death(
        "callable over its memory limit",
        (tasks.allocate, 1024 * MIB),
        Verdict("application", "OutOfMemory", rule="python.memory"),
        {"memory_limit": 256 * MIB},
    ),
    Death(
        "command over its memory limit",
        (python(f"bytearray({1024 * MIB})"),),
        NON_ZERO,
        {"memory_limit": 256 * MIB},
    ),
    Death(
        "command that cannot allocate crashes",
        (python(EAT.format("os.kill(os.getpid(), 11)")),),
        limited("OutOfMemory", "crash.peak"),
        {"memory_limit": 256 * MIB},
    ),
    Death(
        "command that cannot allocate gives up",
        (python(EAT.format("sys.exit(1)")),),
        limited("OutOfMemory", "exit.peak"),
        {"memory_limit": 256 * MIB},
    ),
    Death(
        "command that cannot allocate says so",
        (python(f"bytearray({1024 * MIB})"),),
        limited("OutOfMemory", "exit.said"),
        {"memory_limit": 256 * MIB, "capture_tail": 4096},
    ),
    Death(
        "command that cannot allocate says so and aborts",
        (["sh", "-c", "echo 'what():  std::bad_alloc' >&2; kill -ABRT $$"],),
        limited("OutOfMemory", "crash.said"),
        {"memory_limit": 256 * MIB, "capture_tail": 4096},
    ),
    Death(
        "command crashes under a memory limit",
        (["sh", "-c", "kill -SEGV $$"],),
        limited("NativeCrash", "crash"),
        {"memory_limit": 256 * MIB},
    ),
    Death(
        "command's child crashes under a memory limit",
        (["sh", "-c", "sh -c 'kill -SEGV $$'; exit $?"],),
        limited("NativeCrash", "shell-crash"),
        {"memory_limit": 256 * MIB},
    ),
    Death("callable loses its heartbeat", (tasks.stop_self,), LOST, {"heartbeat_timeout": 0.5}),
    Death(
        "command loses its heartbeat",
        (["sh", "-c", "kill -STOP $$"],),
        LOST,
        {"heartbeat_timeout": 0.2},
    ),
    Death("command not found", (["failhook-no-such-command"],), BAD_COMMAND),
    Death("command not executable", (["/etc/passwd"],), BAD_COMMAND),
    Death("command is a folder", (["/etc"],), BAD_COMMAND),
    Death("command in no folder", (["true"],), BAD_COMMAND, {"cwd": "/no/such/folder"}),
    Death("callable in no folder", (tasks.double, 1), BAD_COMMAND, {"cwd": "/no/such/folder"}),
]


def told(heard: Recorder) -> Verdict:
    """Return what the one event says; more than one fails the test."""
    (event,) = heard.events
    assert "failed" == event.type.value
    details = event.failure_details
    return Verdict(
        details.kind.value,
        details.reason,
        details.started.value,
        details.confidence.value,
        details.rule,
    )


def expected(verdict: Verdict, oom_before: int | None) -> Verdict:
    """Allow for a machine that ran out of memory meanwhile: then nobody can tell a kill."""
    if verdict is KILLED and host.oom_kills() != oom_before:
        return Verdict(
            "unknown", "KilledBySignal", confidence="guess", rule="process.sigkill.oom-host"
        )
    return verdict


@pytest.mark.parametrize("death", DEATHS, ids=lambda death: death.id)
def test_every_death_has_one_event_with_the_right_verdict(
    death: Death, executor: LocalExecutor, heard: Recorder
) -> None:
    """Each way to die is told once, with its kind, reason, start, confidence and rule."""
    oom_before = host.oom_kills()
    options = dict(death.options)
    if death.verdict.rule.endswith(".peak"):  # Linux counts who forks a process into its peak
        options["memory_limit"] += resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    outcome = executor.run(TASK, *death.work, **options)
    assert expected(death.verdict, oom_before) == told(heard)
    assert State.FAILED is outcome.state
    assert heard.events[0].failure_details == outcome.details


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize("what", ["callable", "command"])
def test_a_signal_from_outside_is_judged_by_what_it_is(
    number: signal.Signals, what: str, executor: LocalExecutor, heard: Recorder, fifo: Fifo
) -> None:
    """SIGKILL from outside is infra, as one that the task sends itself; SIGTERM tells nothing."""
    oom_before = host.oom_kills()
    if what == "callable":
        future = executor.submit(TASK, tasks.say_and_wait, fifo.path)
    else:
        future = executor.submit(TASK, ["sh", "-c", f"echo $$ > {fifo.path}; exec sleep 60"])
    os.kill(int(fifo.read()), number)
    with pytest.raises(TaskFailed):
        future.result()
    terminated = Verdict("unknown", "Terminated", confidence="guess", rule="process.sigterm")
    verdict = KILLED if number is signal.SIGKILL else terminated
    assert expected(verdict, oom_before) == told(heard)


@pytest.mark.parametrize("what", ["callable", "command"])
def test_a_deadline_that_is_caught_and_ended_cleanly_is_a_success(
    what: str, executor: LocalExecutor, heard: Recorder, fifo: Fifo
) -> None:
    """Whoever ends cleanly within the grace time has succeeded, and nobody hears of a failure."""
    if what == "callable":
        outcome = executor.run(TASK, tasks.wait_for_deadline, timeout=0.8, grace=60)
    else:
        script = "trap 'exit 0' TERM; while :; do sleep 60 & wait; done"
        outcome = executor.run(TASK, ["sh", "-c", script], timeout=0.8, grace=60)
    assert (State.SUCCEEDED, False) == (outcome.state, outcome.suspect)
    assert [] == heard.events


@pytest.mark.parametrize("work", [(tasks.double, 1), (["true"],)], ids=["callable", "command"])
def test_a_task_that_is_cancelled_before_its_start_never_runs(
    work: tuple[Any, ...], executor: LocalExecutor, heard: Recorder, fifo: Fifo
) -> None:
    """A cancel in the queue is manual and not started, although every worker is busy."""
    busy = [
        executor.submit(Task("nightly", f"busy{n}"), ["cat", fifo.path], cwd="/") for n in range(2)
    ]
    future = executor.submit(TASK, *work)
    assert future.cancel("ann")
    with pytest.raises(TaskFailed) as caught:
        future.result()
    with Path(fifo.path).open("w", encoding="utf-8"):
        pass
    for each in busy:
        each.cancel()
    assert Verdict("manual", "Cancelled", "no", rule="engine.cancel") == told_of(heard, TASK)
    assert "ann" == caught.value.details.actor
    assert not future.cancel("too late")


def told_of(heard: Recorder, task: Task) -> Verdict:
    """Return what the one event on a task says."""
    mine = Recorder()
    mine.events = [event for event in heard.events if event.task.key == task.key]
    return told(mine)


CANCELLED: dict[str, Callable[[str], tuple[Any, ...]]] = {
    "callable": lambda path: (tasks.say_and_wait, path),
    "callable that survives exceptions": lambda path: (tasks.survive_every_exception, path),
    "callable that ends cleanly": lambda path: (tasks.clean_up_when_cancelled, path),
    "command": lambda path: (["sh", "-c", f"echo > {path}; exec sleep 60"],),
    "command that ends cleanly": lambda path: (
        ["sh", "-c", f"trap 'exit 0' TERM; echo > {path}; sleep 60 & wait"],
    ),
}


@pytest.mark.parametrize("work", CANCELLED.values(), ids=CANCELLED)
def test_a_task_that_is_cancelled_while_it_runs_is_manual(
    work: Callable[[str], tuple[Any, ...]],
    executor: LocalExecutor,
    heard: Recorder,
    fifo: Fifo,
) -> None:
    """A cancel is manual however the task then ends, and no retry follows."""
    future = executor.submit(TASK, *work(fifo.path), grace=60)
    fifo.read()
    future.cancel("ann", "mark_failed")
    with pytest.raises(TaskFailed) as caught:
        future.result()
    assert Verdict("manual", "MarkedFailed", rule="engine.cancel.mark-failed") == told(heard)
    assert "ann" == caught.value.details.actor


def test_children_that_together_pass_the_limit_are_an_out_of_memory(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """Where a memory cgroup can be made, the kernel's kill is told from a kill from outside."""
    require_cgroup()
    script = f"{sys.executable} -ISc 'b = b\"x\" * {48 * MIB}; import time; time.sleep(60)'"
    lines = f"{script} & {script} & {script} & wait -n; kill -9 $$"
    executor.run(TASK, ["bash", "-c", lines], memory_limit=96 * MIB)
    rule = "process.sigkill.oom-own"
    assert Verdict("application", "OutOfMemory", rule=rule) == told(heard)


def test_the_size_of_this_process_is_not_taken_for_the_tasks(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """Linux counts who forked a process as that one's peak; a large host makes no task large."""
    ballast = b"x" * (300 * MIB)
    executor.run(TASK, ["sh", "-c", "exit 3"], memory_limit=256 * MIB)
    assert 300 * MIB == len(ballast)
    assert NON_ZERO == told(heard)


def require_cgroup() -> None:
    """Skip where this process may not make a memory cgroup."""
    group = MemoryCgroup.make(96 * MIB)
    if group is None:
        pytest.skip("no memory cgroup can be made here")
    group.remove()


def test_a_program_without_threads_to_spare_says_so_on_the_future(
    executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system that gives no more threads surfaces on the future, and the executor lives on."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    executor.run(Task("nightly", "first"), ["true"])  # the scheduler's own thread is there now
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        future = executor.submit(TASK, ["true"])
        with pytest.raises(RuntimeError, match="can't start new thread"):
            future.result()
    assert State.SUCCEEDED is executor.run(TASK, ["true"]).state
