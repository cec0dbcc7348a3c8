"""The line that people read."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.details import Confidence, FailureDetails, Hint, Kind, Started
from failhook.error_info import ErrorInfo
from failhook.event import EventType
from failhook.gate.ledger import Account, Attempt, AttemptState
from failhook.pipeline.answers import task_succeeded
from failhook.plugin import Counters
from failhook.policy import Backoff, Policy
from failhook.task import Task
from failhook_sinks.log.sentence import MAX_TEXT, sentence, undelivered_sentence
from tests.sinks.log.events import BROKEN, LOST, TASK, event

ACCOUNT = Account(TASK.key, TASK.job_key)
TOLD = {
    "refunded": event(),
    "charged-after-a-wait": event(
        details=BROKEN,
        error=ErrorInfo(type="builtins.ValueError", message="bad\ninput"),
        policy=Policy(retries=2, backoff=Backoff(initial=10, jitter=False)),
    ),
    "final": event(
        task=replace(TASK, attempt=5, map_index=3, log_url="https://logs/5"),
        details=BROKEN,
        error=ErrorInfo(
            type="acme.LoadError",
            message="cannot load",
            cause=ErrorInfo(type="builtins.KeyError", message="'id'"),
        ),
        policy=Policy(retries=1, max_infra_refunds=3),
        spent=Counters(user=1, infra=3),
    ),
    "hold": event(task=replace(TASK, idempotent=False)),
    "before-start-with-a-node": event(
        details=FailureDetails(
            kind=Kind.INFRA,
            reason="SubmitFailure",
            started=Started.NO,
            node="node-7",
            hint=Hint.OTHER_NODE,
        )
    ),
    "cleanup": event(
        details=FailureDetails(
            kind=Kind.INFRA,
            reason="CorruptedPluginState",
            code="CorruptedPluginState",
            cleanup=True,
            started=Started.NO,
        )
    ),
    "cancelled": event(
        details=FailureDetails(
            kind=Kind.MANUAL,
            reason="Cancelled",
            actor="ops",
            confidence=Confidence.CONFIRMED,
        )
    ),
    "text-only-error-that-the-message-repeats": event(
        details=replace(LOST, message="boom happened."),
        error=ErrorInfo(type="builtins.str", message="boom"),
    ),
    "simulated-and-undecided": event(simulated=True, decision=None),
    "recovered": event(EventType.RECOVERED, task=replace(TASK, attempt=2), first_failure=LOST),
    "recovered-after-two-causes": event(
        EventType.RECOVERED,
        task=replace(TASK, attempt=3),
        details=BROKEN,
        first_failure=LOST,
    ),
    "amended": event(
        EventType.AMENDED,
        details=FailureDetails(
            kind=Kind.INFRA,
            reason="Evicted",
            message="The node was short of memory.",
            confidence=Confidence.CONFIRMED,
        ),
        previous=FailureDetails(
            kind=Kind.UNKNOWN, reason="Terminated", confidence=Confidence.GUESS
        ),
    ),
    "succeeded-after-all": event(EventType.AMENDED, previous=LOST, succeeded=True),
    "failed-after-the-tasks-success": event(
        decision=task_succeeded(TASK, Attempt(TASK.next_attempt(), AttemptState.SUCCEEDED), ACCOUNT)
    ),
    "suspect-success": event(
        EventType.SUSPECT_SUCCESS,
        details=replace(LOST, reason="OutOfMemory", message="A child was killed for memory."),
    ),
}


LINES = Path(__file__).with_name("lines.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", TOLD)
def test_each_event_has_its_line(name):
    """A reader learns who failed, why, who pays and what comes next, from one line."""
    (line,) = [line for line in LINES if line.startswith(f"{name}: ")]

    assert line == f"{name}: {sentence(TOLD[name])}"


def test_a_dead_letter_says_whom_it_was_for_and_why_it_died():
    """What one plugin will never hear of is heard of here."""
    line = undelivered_sentence(event(decision=None), "slack", "HTTP 404\nno such channel")

    assert line == (
        "plugin slack was not told that nightly/load attempt 1 failed: infra WorkerLost (likely) - "
        "Whoever supervised the attempt is gone (now a dead letter: HTTP 404 no such channel)"
    )


TEXT = st.text("ab. \n\x1b\ud800", max_size=8)
DETAILS = st.builds(
    FailureDetails,
    kind=st.sampled_from(Kind),
    reason=st.sampled_from(["Evicted", "Evicted\nBy\x07Hand"]),
    message=TEXT,
    confidence=st.sampled_from(Confidence),
    started=st.sampled_from(Started),
    node=st.none() | TEXT,
    actor=st.none() | st.just("ops"),
    hint=st.none() | st.sampled_from(Hint),
    cleanup=st.booleans(),
)
EVENTS = st.builds(
    event,
    st.sampled_from(EventType),
    task=st.builds(
        Task,
        st.sampled_from(["nightly", "night\nly\x1b[31m"]),
        st.just("load"),
        map_index=st.none() | st.just(0),
        idempotent=st.booleans(),
        log_url=st.none() | TEXT,
    ),
    details=DETAILS,
    previous=st.none() | DETAILS,
    first_failure=st.none() | DETAILS,
    error=st.none() | st.builds(ErrorInfo, type=st.just("builtins.ValueError"), message=TEXT),
    policy=st.builds(
        Policy,
        retries=st.integers(0, 1),
        max_infra_refunds=st.integers(0, 1),
        max_system_failures=st.integers(0, 1),
    ),
)


@given(EVENTS)
def test_what_is_not_known_is_left_out(told):
    """No line says None or nothing at all, breaks, or grows without bound."""
    line = undelivered_sentence(told, "slack", "") if told.simulated else sentence(told)

    assert not re.search(r"None|unknown error|\(\)| - ;|: ;|  |; ;| - $", line)
    assert line.isprintable()


def test_a_message_of_any_length_keeps_the_line_readable():
    """What somebody else wrote never pushes the decision out of sight."""
    line = sentence(
        event(
            details=replace(LOST, message="m" * 5_000, node="n" * 5_000),
            error=ErrorInfo(type="builtins.ValueError", message="e" * 5_000),
        )
    )

    assert line.endswith("; retry as attempt 2, refunded (infra 1/3)")
    assert len(line) < 4 * MAX_TEXT
