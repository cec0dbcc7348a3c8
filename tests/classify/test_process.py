from __future__ import annotations

import errno
import subprocess
import sys

import pytest

from failhook.classify import Classifier
from failhook.details import Confidence, Hint, Kind, Started
from failhook.evidence import Evidence

CLASSIFIER = Classifier()

CONFIRMED, LIKELY, GUESS = Confidence.CONFIRMED, Confidence.LIKELY, Confidence.GUESS
YES, NO, MAYBE = Started.YES, Started.NO, Started.MAYBE


def verdict(evidence: Evidence):
    """The verdict of the built-in rules."""
    return CLASSIFIER.classify(None, evidence)


@pytest.mark.parametrize(
    ("evidence", "kind", "reason", "confidence"),
    [
        (Evidence.returncode(-9, oom_own=1), "application", "OutOfMemory", CONFIRMED),
        (Evidence.returncode(-9, oom_own=1, oom_host=1), "application", "OutOfMemory", CONFIRMED),
        (Evidence.returncode(137, oom_own=1), "application", "OutOfMemory", LIKELY),
        (Evidence.returncode(137, oom_own=0), "unknown", "KilledBySignal", GUESS),
        (Evidence.returncode(-9, oom_own=0), "infra", "KilledBySignal", LIKELY),
        (Evidence.returncode(-9, oom_host=0), "infra", "KilledBySignal", LIKELY),
        (Evidence.returncode(-9, oom_own=0, oom_host=0), "infra", "KilledBySignal", LIKELY),
        (Evidence.returncode(-9, oom_own=0, oom_host=2), "unknown", "KilledBySignal", GUESS),
        (Evidence.returncode(-9, oom_host=2), "unknown", "KilledBySignal", GUESS),
        (Evidence.returncode(-9), "infra", "KilledBySignal", GUESS),
        (Evidence.returncode(-9, sent=9), "unknown", "Terminated", LIKELY),
        (Evidence.returncode(-15), "unknown", "Terminated", GUESS),
        (Evidence.returncode(-2), "unknown", "KilledBySignal", GUESS),
        (Evidence.returncode(-34), "unknown", "KilledBySignal", GUESS),
        *[
            (Evidence.returncode(-number), "application", "NativeCrash", CONFIRMED)
            for number in (4, 6, 7, 8, 11)
        ],
        (Evidence.returncode(-24), "application", "ResourceExhausted", CONFIRMED),
        (Evidence.returncode(1), "application", "NonZeroExit", CONFIRMED),
        (Evidence.returncode(3), "application", "NonZeroExit", CONFIRMED),
        (Evidence.returncode(124), "timeout", "ExecutionTimeout", LIKELY),
        (Evidence.returncode(126), "application", "SpecError", LIKELY),
        (Evidence.returncode(127), "application", "SpecError", LIKELY),
        (Evidence.returncode(137), "unknown", "KilledBySignal", GUESS),
        (Evidence.returncode(143), "unknown", "Terminated", GUESS),
        (Evidence.returncode(139), "application", "NativeCrash", LIKELY),
        (Evidence.returncode(134), "application", "NativeCrash", LIKELY),
        (Evidence.returncode(125), "unknown", "NonZeroExit", GUESS),
        (Evidence.returncode(247), "unknown", "NonZeroExit", GUESS),
        (Evidence.returncode(255), "unknown", "NonZeroExit", GUESS),
        (Evidence.returncode(0), "unknown", "StateMismatch", GUESS),
        (Evidence.returncode(-1073741510), "unknown", "Unknown", GUESS),
    ],
)
def test_a_wait_status_says_what_it_can_and_no_more(evidence, kind, reason, confidence):
    """Own OOM is the task's, a kill with no OOM seen the platform's, anything unclear unknown."""
    details = verdict(evidence)

    assert (kind, reason, confidence) == (details.kind, details.reason, details.confidence)


@pytest.mark.parametrize(
    ("evidence", "kind", "reason", "started", "by_itself"),
    [
        (Evidence.deadline(5), "timeout", "ExecutionTimeout", YES, False),
        (Evidence.deadline(5, which="run"), "timeout", "RunTimeout", YES, False),
        (Evidence.deadline(5, which="sensor"), "timeout", "SensorTimeout", YES, False),
        (Evidence.deadline(5, which="walltime"), "timeout", "WalltimeExceeded", YES, False),
        (Evidence.deadline(5, which="start"), "infra", "StartTimeout", NO, False),
        (Evidence.cancel("bob"), "manual", "Cancelled", MAYBE, False),
        (Evidence.cancel("bob", action="mark_failed"), "manual", "MarkedFailed", MAYBE, False),
        (Evidence.cancel("bob", action="interrupt"), "manual", "Interrupted", MAYBE, False),
        (Evidence.cancel("bob", started=NO), "manual", "Cancelled", NO, False),
        (Evidence.shutdown(), "infra", "WorkerShutdown", YES, False),
        (Evidence.heartbeat(timeout=9), "infra", "HeartbeatTimeout", YES, False),
        (Evidence.heartbeat(timeout=9, node_ready=True), "infra", "HeartbeatTimeout", YES, False),
        (Evidence.heartbeat(timeout=9, node_ready=False), "infra", "NodeLost", YES, False),
        (Evidence.lost(host="h", pid=1, why="process_gone"), "infra", "WorkerLost", YES, False),
        (Evidence.lost(host="h", pid=1, why="rebooted"), "infra", "NodeLost", YES, False),
        (
            Evidence.lost(host="h", pid=1, why="started_elsewhere"),
            "infra",
            "WorkerLost",
            YES,
            False,
        ),
        (Evidence.duplicate(host="h", pid=1), "infra", "DuplicateExecution", NO, False),
        (Evidence.plugin_error("no"), "infra", "SubmitFailure", NO, False),
        (Evidence.returncode(3), "application", "NonZeroExit", YES, True),
        (Evidence.returncode(-11), "application", "NativeCrash", YES, True),
        (Evidence.returncode(-9), "infra", "KilledBySignal", YES, False),
        (Evidence.exception(ValueError("x")), "application", "UserException", YES, True),
    ],
)
def test_what_a_supervisor_did_or_saw(evidence, kind, reason, started, by_itself):
    """Each constructor of evidence has its verdict, with what is known of the start and the end."""
    details = verdict(evidence)

    assert (kind, reason) == (details.kind, details.reason)
    assert started is details.started
    assert by_itself is details.ended_by_itself


def test_a_deadline_carries_its_times_and_a_cancel_its_actor():
    """Limit and elapsed seconds of a deadline and the actor of a cancel are in the verdict."""
    late = verdict(Evidence.deadline(5, elapsed=6.5))

    assert (5.0, 6.5) == (late.time_limit, late.elapsed)
    assert "bob" == verdict(Evidence.cancel("bob")).actor


@pytest.mark.parametrize(
    ("number", "kind", "reason", "deterministic"),
    [
        (errno.ENOENT, "application", "SpecError", True),
        (errno.EACCES, "application", "SpecError", True),
        (errno.ENOEXEC, "application", "SpecError", True),
        (errno.EAGAIN, "infra", "ResourceExhausted", False),
        (errno.ENOMEM, "infra", "ResourceExhausted", False),
        (errno.EIO, "infra", "SubmitFailure", None),
    ],
)
def test_a_command_that_cannot_be_executed(number, kind, reason, deterministic):
    """A wrong command is the task's own and stays wrong; a machine without room is not."""
    details = verdict(Evidence.not_started(OSError(number, "no"), command="x"))

    assert (kind, reason, deterministic) == (details.kind, details.reason, details.deterministic)
    assert (NO, True) == (details.started, details.ended_by_itself)


def test_a_real_command_that_is_not_there():
    """A real FileNotFoundError of subprocess is application, deterministic, not started."""
    with pytest.raises(FileNotFoundError) as caught:
        subprocess.run(["/nonexistent/command"], check=False)

    details = verdict(Evidence.not_started(caught.value, command="/nonexistent/command"))

    assert (Kind.APPLICATION, True, NO) == (details.kind, details.deterministic, details.started)
    assert CONFIRMED is details.confidence


@pytest.mark.parametrize(
    ("code", "reason", "deterministic", "cleanup", "side"),
    [
        ("BadTaskSpecification", "application", True, False, True),
        ("MetadataTooLarge", "application", True, False, True),
        ("CorruptedPluginState", "infra", True, True, True),
        ("QuotaExceeded", "infra", None, False, True),
        (None, "infra", None, False, True),
    ],
)
def test_typed_codes_of_plugins(code, reason, deterministic, cleanup, side):
    """Permanence and blame are separate, and the code and the message are kept."""
    details = verdict(Evidence.plugin_error("it broke", code=code))

    assert (reason, deterministic) == (details.kind, details.deterministic)
    assert (cleanup, side, NO) == (details.cleanup, details.executor_side, details.started)
    assert (code, "it broke") == (details.code, details.message)


@pytest.mark.parametrize(
    ("executor", "recorded", "can_report", "expected"),
    [
        ("failed", "queued", True, ("infra", "NeverStarted", NO)),
        ("failed", "scheduled", True, ("infra", "NeverStarted", NO)),
        ("failed", "running", True, ("infra", "WorkerLost", YES)),
        ("failed", "RUNNING", True, ("infra", "WorkerLost", YES)),
        ("failed", "failed", True, ("manual", "MarkedFailed", MAYBE)),
        ("failed", "cancelled", True, ("manual", "Cancelled", MAYBE)),
        ("failed", "skipped", True, ("manual", "ExternalStateChange", MAYBE)),
        ("failed", "success", True, ("manual", "ExternalStateChange", MAYBE)),
        ("failed", "running", False, ("unknown", "StateMismatch", MAYBE)),
        ("failed", "queued", False, ("unknown", "StateMismatch", MAYBE)),
        ("failed", "failed", False, ("manual", "MarkedFailed", MAYBE)),
        ("success", "running", True, ("unknown", "StateMismatch", MAYBE)),
        ("failed", "up_for_retry", True, ("unknown", "ExternalStateChange", MAYBE)),
        ("failed", None, True, ("unknown", "StateMismatch", MAYBE)),
        ("failed", "nonsense", True, ("unknown", "StateMismatch", MAYBE)),
    ],
)
def test_a_bare_state_mismatch_has_three_guards(executor, recorded, can_report, expected):
    """No way to report, already final, and queued against running each change the verdict."""
    details = verdict(
        Evidence.mismatch(executor_state=executor, recorded_state=recorded, can_report=can_report)
    )

    assert expected == (details.kind, details.reason, details.started)


@pytest.mark.parametrize("kind", ["infra", "application", "timeout", "manual", "unknown"])
def test_a_hosts_verdict_is_passed_on_as_it_is(kind):
    """Kind, reason, message and what else the host said stand, under one rule id."""
    details = verdict(
        Evidence.verdict(
            kind, "Theirs", message="they say", deterministic=True, code="C1", hint="other_node"
        )
    )

    assert (kind, "Theirs", "they say", True) == (
        details.kind,
        details.reason,
        details.message,
        details.deterministic,
    )
    rule = "host.unknown" if kind == "unknown" else "host.verdict"
    assert (rule, "C1", Hint.OTHER_NODE) == (details.rule, details.code, details.hint)


def test_a_host_without_a_verdict_stays_unknown():
    """failure_kind None is unknown, and only a guess."""
    details = verdict(Evidence.verdict(None, "Evicted"))

    assert (Kind.UNKNOWN, "Evicted", GUESS) == (details.kind, details.reason, details.confidence)


def test_a_host_that_does_not_know_leaves_the_verdict_to_what_else_was_seen():
    """None is no verdict: the exception beside it decides."""
    both = Evidence.exception(ValueError("no such column")).also(Evidence.verdict(None))

    assert Kind.APPLICATION == verdict(both).kind


@pytest.mark.parametrize("reason", ["SubmitFailure", "OrchestratorUnreachable"])
def test_a_hosts_submit_failure_is_of_the_executor(reason):
    """These reasons say by themselves that the failure arose in the executor."""
    assert verdict(Evidence.verdict("infra", reason)).executor_side
    assert not verdict(Evidence.verdict("infra", "Evicted")).executor_side


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(3)", "process.exit.nonzero"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "process.sigkill.not-watched"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "process.crash"),
        ("import os; os.abort()", "process.crash"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "process.sigterm"),
    ],
)
def test_real_processes_that_die(code, expected):
    """What subprocess really returns of a real death reaches the rule for it."""
    died = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)

    assert expected == verdict(Evidence.returncode(died.returncode)).rule
