"""Retries follow the gate, wait without a worker, and end with everything that is known."""

from __future__ import annotations

import errno
import logging
import os
import selectors
import signal
import sys
import threading
import time
from concurrent.futures import wait
from pathlib import Path

import pytest

from failhook import Backoff, Policy, Task
from failhook.errors import ConfigError
from failhook.executors.local import ExecutorClosed, LocalExecutor, State, TaskFailed, TaskHeld
from failhook.executors.local.attempt import run_attempt
from failhook.executors.local.stop import Stop, StopRequest
from failhook.executors.local.work import Call, Command, Terms, call
from failhook.outbox.port import Store
from failhook.pipeline import Pipeline
from tests.executors.local import tasks
from tests.executors.local.conftest import Fifo, open_pipeline
from tests.pipeline.conftest import Recorder

TASK = Task("nightly", "load")
SQLITE = pytest.mark.parametrize("store", ["sqlite"], indirect=True)


def budget(**limits: object) -> pytest.MarkDecorator:
    """Give the test's pipeline a policy."""
    return pytest.mark.parametrize("policy", [Policy(**limits)], indirect=True)  # type: ignore[arg-type] # as named


@SQLITE
@budget(retries=0, max_infra_refunds=3)
def test_a_task_that_is_killed_twice_recovers_on_refunds(
    executor: LocalExecutor, heard: Recorder, tmp_path: Path
) -> None:
    """Two kills are refunded although retries is 0; the third attempt recovers."""
    future = executor.submit(TASK, tasks.count_then, str(tmp_path / "log"), "kill", "kill", "done")
    assert "done" == future.result()
    assert ["failed", "failed", "recovered"] == heard.types
    assert [1, 2, 3] == [event.task.attempt for event in heard.events]
    assert future.outcome is not None
    assert 3 == future.outcome.task.attempt


@budget(retries=1)
def test_the_last_failure_ends_it_with_verdict_and_decision(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """When the gate says fail, the future raises the verdict, the decision and the error."""
    with pytest.raises(TaskFailed) as caught:
        executor.submit(TASK, ["sh", "-c", "exit 3"]).result()
    assert 2 == caught.value.task.attempt == len(heard.events)
    assert ("NonZeroExit", 3) == (caught.value.details.reason, caught.value.details.exit_code)
    assert "RetriesExhausted" == caught.value.decision.code


def test_a_task_that_may_not_run_twice_is_held(executor: LocalExecutor, heard: Recorder) -> None:
    """A kill of a task that is not idempotent leaves its outcome in doubt."""
    task = Task("nightly", "pay", idempotent=False)
    with pytest.raises(TaskHeld):
        executor.submit(task, ["sh", "-c", "kill -9 $$"]).result()
    assert 1 == len(heard.events)


@budget(retries=1, backoff=Backoff(initial=0.4, jitter=False))
def test_a_delay_holds_no_worker(pipeline: Pipeline, tmp_path: Path) -> None:
    """While a task waits for its next attempt, another one runs on the only worker."""
    log = tmp_path / "log"
    with LocalExecutor(pipeline, workers=1) as executor:
        slow = executor.submit(TASK, ["sh", "-c", f"echo slow >> {log}; exit 1"])
        quick = executor.submit(Task("nightly", "quick"), ["sh", "-c", f"echo quick >> {log}"])
        wait([slow, quick])
    assert ["slow", "quick", "slow"] == log.read_text(encoding="utf-8").split()


@budget(retries=1, backoff=Backoff(initial=3600, jitter=False))
def test_a_task_that_waits_for_its_next_attempt_can_be_cancelled(
    executor: LocalExecutor, heard: Recorder, tmp_path: Path
) -> None:
    """A cancel does not wait for the delay: it is reported at once, as not started."""
    future = executor.submit(TASK, ["sh", "-c", "exit 1"])
    await_events(heard, 1)
    future.cancel("ann")
    with pytest.raises(TaskFailed):
        future.result()
    assert ["NonZeroExit", "Cancelled"] == [each.failure_details.reason for each in heard.events]
    assert "no" == heard.events[1].failure_details.started


def await_events(heard: Recorder, number: int) -> None:
    """Return once so many events were heard; the test's own limit ends what never comes."""
    while len(heard.events) < number:
        time.sleep(0.01)


def test_workers_run_side_by_side(executor: LocalExecutor, tmp_path: Path) -> None:
    """Two workers run two attempts at a time, and the third task waits for a free one."""
    parties = [
        executor.submit(Task("nightly", f"party{n}"), tasks.together, str(tmp_path), n, 2)
        for n in range(2)
    ]
    assert [0, 1] == [each.result() for each in parties]


def test_one_task_is_not_run_twice_at_a_time(executor: LocalExecutor, fifo: Fifo) -> None:
    """A key that is here already is refused; once it is over it may come again."""
    first = executor.submit(TASK, tasks.say, fifo.path)
    with pytest.raises(ConfigError, match="is here already"):
        executor.submit(TASK, ["true"])
    fifo.read()
    first.result()
    assert State.SUCCEEDED is executor.run(TASK, ["true"]).state


def test_a_clean_up_runs_where_the_gate_asks_for_it(
    executor: LocalExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    """`cleanup` is called with the attempt; when it fails, log and error say so."""
    cleaned: list[Task] = []

    def clean_up(task: Task) -> None:
        cleaned.append(task)
        raise OSError("disk is gone")

    with caplog.at_level(logging.ERROR), pytest.raises(TaskFailed) as caught:
        executor.submit(TASK, tasks.corrupt, cleanup=clean_up).result()
    assert [caught.value.task] == cleaned
    assert ["the clean-up failed too: OSError('disk is gone')"] == caught.value.__notes__
    assert "disk is gone" in caplog.text


def test_ctrl_c_ends_the_task_as_interrupted(
    executor: LocalExecutor, heard: Recorder, fifo: Fifo
) -> None:
    """Whoever waits with `run` and presses Ctrl-C ends the task, and gets the interrupt too."""
    main = threading.get_ident()

    def interrupt() -> None:
        fifo.read()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        executor.run(TASK, tasks.say_and_wait, fifo.path)
    thread.join()
    (event,) = heard.events
    assert ("manual", "Interrupted", "SIGINT") == (
        event.failure_details.kind,
        event.failure_details.reason,
        event.failure_details.actor,
    )


def test_ctrl_c_while_the_with_block_waits_ends_what_runs(pipeline: Pipeline, fifo: Fifo) -> None:
    """Nothing runs on, or begins, once the program that waits for it is interrupted."""
    main = threading.get_ident()
    executor = LocalExecutor(pipeline, workers=1)
    lines = f"echo $$ > {fifo.path}; exec sleep 3600"
    running = executor.submit(TASK, ["sh", "-c", lines])
    queued = executor.submit(Task("nightly", "queued"), ["sleep", "3600"])
    pid = int(fifo.read())

    def interrupt() -> None:
        while not executor._scheduler._closing:
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt), executor:
        thread.start()
    thread.join()
    await_death(pid)
    assert "WorkerShutdown" == running.outcome.details.reason  # type: ignore[union-attr] # it has ended
    assert isinstance(queued.exception(0), ExecutorClosed)


class StopsAtTheStart(Pipeline):
    """A pipeline during whose `started` somebody shuts the executor down."""

    request = StopRequest()

    def started(self, task: Task) -> Task:
        self.request.ask(Stop("shutdown"))
        return super().started(task)


def test_a_shutdown_that_meets_a_start_runs_nothing(heard: Recorder, tmp_path: Path) -> None:
    """An attempt that is open already is told as not started; a later one is not even opened."""
    mark = tmp_path / "ran"
    work, terms = Command(("touch", str(mark))), Terms()
    with StopsAtTheStart(dispatch="inline") as pipeline:
        pipeline.manager.register(heard, "heard")
        ended = run_attempt(pipeline, TASK, work, terms, pipeline.request)
        with pytest.raises(ExecutorClosed, match="did not begin"):
            run_attempt(pipeline, TASK.next_attempt(), work, terms, pipeline.request)
    (event,) = heard.events
    assert ended.decision == event.decision
    assert ("WorkerShutdown", "no", False) == (
        event.failure_details.reason,
        event.failure_details.started,
        mark.exists(),
    )


def test_closing_waits_for_what_is_here(pipeline: Pipeline, tmp_path: Path) -> None:
    """`close()` lets running and queued tasks end, and is then final."""
    executor = LocalExecutor(pipeline, workers=1)
    futures = [executor.submit(Task("nightly", f"n{n}"), ["true"]) for n in range(3)]
    assert executor.close()
    assert all(each.done() for each in futures)
    with pytest.raises(ExecutorClosed, match="takes no more tasks"):
        executor.submit(TASK, ["true"])
    assert executor.close()


@budget(max_infra_refunds=1)
def test_closing_in_time_reports_a_shutdown_and_charges_nothing_for_the_queue(
    pipeline: Pipeline, heard: Recorder, fifo: Fifo
) -> None:
    """What runs is ended and told as a shutdown; what waits is given back, and nobody is told."""
    executor = LocalExecutor(pipeline, workers=1)
    running = executor.submit(TASK, tasks.say_and_wait, fifo.path)
    queued = executor.submit(Task("nightly", "queued"), ["true"])
    fifo.read()
    assert not executor.close(0)
    with pytest.raises(ExecutorClosed, match=r"retry as attempt 2"):
        running.result()
    with pytest.raises(ExecutorClosed, match="did not begin"):
        queued.result()
    assert running.outcome is not None
    assert State.INTERRUPTED is running.outcome.state
    (event,) = heard.events
    assert ("infra", "WorkerShutdown", "yes") == (
        event.failure_details.kind,
        event.failure_details.reason,
        event.failure_details.started,
    )


def test_an_error_in_the_with_block_ends_what_runs(pipeline: Pipeline, fifo: Fifo) -> None:
    """Nothing is left running, and nothing is waited for, when the program is on its way out."""
    executor = LocalExecutor(pipeline)
    future = executor.submit(TASK, ["sh", "-c", f"echo > {fifo.path}; sleep 3600"])
    fifo.read()
    with pytest.raises(KeyError), executor:
        raise KeyError
    assert isinstance(future.exception(), TaskFailed)


@pytest.mark.parametrize(
    "left", ["sleep 3600 & echo $! > {}", "setsid sh -c 'echo $$ > {}; exec sleep 3600' &"]
)
def test_what_a_task_leaves_behind_ends_with_it(
    left: str, executor: LocalExecutor, fifo: Fifo
) -> None:
    """A background process does not outlive its attempt, not even in a session of its own."""
    lines = f"{left.format(fifo.path)}\nread -r _ < {fifo.path}.back; exit 0"
    os.mkfifo(f"{fifo.path}.back")
    future = executor.submit(TASK, ["sh", "-c", lines])
    pid = int(fifo.read())
    Path(f"{fifo.path}.back").write_text("\n", encoding="utf-8")
    future.result()
    await_death(pid)


def await_death(pid: int) -> None:
    """Return once a process is gone; the test's own limit ends one that stays."""
    while Path(f"/proc/{pid}/stat").exists():
        if " Z " in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8"):
            return
        time.sleep(0.01)


def test_a_command_beats_by_touching_a_file(executor: LocalExecutor, heard: Recorder) -> None:
    """A command that touches the file which it was given is alive for as long as it does."""
    lines = 'for i in 1 2 3 4 5 6 7 8; do touch "$FAILHOOK_HEARTBEAT"; sleep 0.2; done'
    outcome = executor.run(TASK, ["sh", "-c", lines], heartbeat_timeout=1.2)
    assert (State.SUCCEEDED, []) == (outcome.state, heard.events)


def test_the_end_of_the_output_is_kept_and_all_of_it_passed_on(
    executor: LocalExecutor, capfd: pytest.CaptureFixture[str]
) -> None:
    """`capture_tail` keeps the last bytes of both streams; nothing is withheld."""
    outcome = executor.run(TASK, ["sh", "-c", "echo one; echo two >&2; exit 1"], capture_tail=4)
    assert outcome.output in {"one\n", "two\n"}
    assert ("one\n", "two\n") == capfd.readouterr()


def test_output_is_not_waited_for_from_who_got_away(
    executor: LocalExecutor, fifo: Fifo, capfd: pytest.CaptureFixture[str]
) -> None:
    """A process that got away with the pipes costs no thread, no descriptor, and no output."""
    escaped = f"env -i setsid sh -c 'echo $$ > {fifo.path}; exec sleep 3600' &"
    executor.run(Task("nightly", "first"), ["true"])
    before = len(list(Path("/proc/self/fd").iterdir()))
    outcomes = []
    for number in range(3):
        task = Task("nightly", f"escape{number}")
        words = ["sh", "-c", f"echo begun; {escaped} echo done; read -r _ < {fifo.path}.back"]
        os.mkfifo(f"{fifo.path}.back")
        future = executor.submit(task, words, capture_tail=100)
        pid = int(fifo.read())
        Path(f"{fifo.path}.back").write_text("\n", encoding="utf-8")
        future.result()
        outcomes.append(future.outcome)
        os.kill(pid, signal.SIGKILL)  # it lives, and holds the pipes
        Path(f"{fifo.path}.back").unlink()
    assert ["begun\ndone\n"] * 3 == [each.output for each in outcomes if each is not None]
    assert "begun\ndone\n" * 3 == capfd.readouterr().out
    assert before == len(list(Path("/proc/self/fd").iterdir()))
    assert "failhook-output" not in {each.name for each in threading.enumerate()}


def test_a_command_reads_the_input_that_it_is_given(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    """A command has no input unless it is given one."""
    copy = tmp_path / "copy"
    executor.run(TASK, ["cp", "/dev/stdin", str(copy)])
    assert "" == copy.read_text(encoding="utf-8")
    (tmp_path / "data").write_text("data", encoding="utf-8")
    with (tmp_path / "data").open(encoding="utf-8") as file:
        task = Task("nightly", "input")
        executor.run(task, ["cp", "/dev/stdin", str(copy)], stdin=file.fileno())
    assert "data" == copy.read_text(encoding="utf-8")


def test_a_command_runs_with_signals_as_a_shell_would_set_them(executor: LocalExecutor) -> None:
    """Python ignores SIGPIPE; a command that it starts must not, or `yes | head` never ends."""
    outcome = executor.run(TASK, ["bash", "-c", "yes | head -n 1; exit ${PIPESTATUS[0]}"])
    assert 128 + signal.SIGPIPE == outcome.exit_code


def test_a_process_that_cannot_be_started_is_the_platforms_failure(
    executor: LocalExecutor, heard: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When not even the launcher starts, the system budget pays, up to its limit."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(TaskFailed) as caught:
        executor.submit(TASK, ["true"]).result()
    assert "MaxSystemFailuresExceeded" == caught.value.decision.code
    assert 4 == len(heard.events)
    assert {("infra", "SubmitFailure", "no")} == {
        (each.failure_details.kind, each.failure_details.reason, each.failure_details.started)
        for each in heard.events
    }


def test_an_exit_status_that_somebody_else_took_is_unknown(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """A program that ignores SIGCHLD throws exit statuses away: no success is made up for one."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        outcome = executor.run(TASK, ["true"])
        value = executor.run(Task("nightly", "double"), tasks.double, 2).value
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (State.FAILED, None) == (outcome.state, outcome.exit_code)
    assert "unknown" == heard.events[0].failure_details.kind
    assert 4 == value


def test_the_end_is_seen_where_the_system_has_no_process_descriptors(
    executor: LocalExecutor, heard: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pidfd the child is looked at often enough."""

    def refuse(pid: int, flags: int = 0) -> int:
        raise OSError

    monkeypatch.setattr(os, "pidfd_open", refuse)
    assert 3 == executor.run(TASK, ["sh", "-c", "exit 3"]).exit_code
    assert 1 == len(heard.events)


def test_a_supervision_that_fails_ends_the_child_and_is_told(
    executor: LocalExecutor, heard: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the system gives no more descriptors, the attempt is ended and reported all the same."""

    def refuse() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(selectors, "DefaultSelector", refuse)
        outcome = executor.run(TASK, ["sleep", "3600"])
    assert outcome.decision is not None
    assert "MaxSystemFailuresExceeded" == outcome.decision.code
    assert {("SubmitFailure", "maybe")} == {
        (each.failure_details.reason, each.failure_details.started) for each in heard.events
    }


@pytest.mark.parametrize(
    ("work", "env", "told"),
    [
        (call(tasks.double, (1,), {}), {"A": 1}, ("maybe", "supervision failed: TypeError")),
        (Command(("true",)), {"A": object()}, ("maybe", "supervision failed: TypeError")),
        (Command(("true",)), {"A": "\ud800"}, ("no", "exit status 1 before it could begin")),
        (Command(("true", "\ud800")), {}, ("no", "exit status 1 before it could begin")),
        (call(tasks.double, (1,), {}), {"PYTHONHOME": "/no"}, ("no", "before it could begin")),
    ],
)
def test_no_error_on_the_way_leaves_an_attempt_open_or_blames_the_task(
    work: Command | Call,
    env: dict[str, str],
    told: tuple[str, str],
    pipeline: Pipeline,
    heard: Recorder,
) -> None:
    """Whatever goes wrong around the task is the executor's failure, reported once."""
    run_attempt(pipeline, TASK, work, Terms(env=env), StopRequest())
    (event,) = heard.events
    details = event.failure_details
    assert ("infra", "SubmitFailure", told[0]) == (details.kind, details.reason, details.started)
    assert told[1] in details.message
    with pipeline.store.transaction() as ledger:
        assert [] == list(ledger.open_attempts())


@SQLITE
def test_attempt_numbers_come_from_the_ledger(
    store: Store, heard: Recorder, policy: Policy, tmp_path: Path
) -> None:
    """A key that comes back counts on where it was, whatever number the host says."""
    with open_pipeline(store, heard, policy) as pipeline, LocalExecutor(pipeline) as executor:
        assert 1 == executor.run(TASK, ["true"]).task.attempt
        assert 2 == executor.run(TASK, ["true"]).task.attempt
