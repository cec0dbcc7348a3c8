"""A phase history repeats nothing, is bounded, and its conditions follow from it."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.clock import to_rfc3339
from failhook.phases import MAX_TRANSITIONS, Phase, PhaseHistory
from tests.model.strategies import NOW, histories


def at(second):
    """Return a time so many seconds later."""
    return NOW + timedelta(seconds=second)


def told(*phases):
    """Return the history of these phases, one each second."""
    history = PhaseHistory()
    for second, phase in enumerate(phases):
        history = history.then(phase, at(second))
    return history


@given(st.lists(st.integers(-1_000, 1_000), max_size=9))
def test_time_never_goes_back(seconds):
    """Where the clock is set back between two phases, the later has the time of the one before."""
    history = PhaseHistory()
    for number, second in enumerate(seconds):
        history = history.then(f"phase {number}", at(second))

    times = [transition.occurred_at for transition in history.transitions]
    assert sorted(times) == times
    assert {at(second) for second in seconds[:1]} == set(times[:1])
    assert set(times) <= {at(second) for second in seconds}


def test_a_clock_without_an_offset_is_taken_as_utc():
    """A host's clock may tell times without an offset: they are compared as UTC."""
    naive = PhaseHistory().then("Queued", at(5).replace(tzinfo=None)).then("Executing", at(4))

    assert at(5) == naive.transitions[1].occurred_at


@given(st.lists(st.sampled_from(["", *Phase, "HostsOwn"])))
def test_no_phase_is_empty_or_repeated(phases):
    """An empty phase, or the last one again, adds nothing; every other phase does."""
    found = [transition.phase for transition in told(*phases).transitions]

    assert "" not in found
    assert all(one != other for one, other in pairwise(found))
    assert {str(phase) for phase in phases if phase} == set(found)


def test_a_repeated_phase_keeps_its_first_time_and_message():
    """What is heard again and again stays as it was heard first."""
    history = PhaseHistory().then("Queued", at(0), "first").then("Queued", at(5), "again")

    assert history is history.then("", at(6))
    (only,) = history.transitions
    assert ("Queued", at(0), "first") == (only.phase, only.occurred_at, only.message)


def test_a_history_is_bounded_and_keeps_its_beginning():
    """However long a task goes to and fro, its first phase and the newest ones stay."""
    history = told(*["Executing", "RetryableFailure"] * 200)

    transitions = history.transitions
    assert MAX_TRANSITIONS == len(transitions)
    assert at(0) == transitions[0].occurred_at
    assert at(399) == transitions[-1].occurred_at
    assert at(399 - MAX_TRANSITIONS + 2) == transitions[1].occurred_at


@pytest.mark.parametrize(
    ("phases", "true", "since"),
    [
        (("Queued",), "Progressing", 0),
        (("Queued", "Initializing", "Executing"), "Progressing", 0),
        (("Queued", "Executing", "RetryableFailure"), "Progressing", 0),
        (("Queued", "Executing", "Completed"), "Succeeded", 2),
        (("Queued", "Executing", "PermanentFailure"), "Failed", 2),
        (("Queued", "PermanentFailure", "Queued", "Executing"), "Progressing", 2),
        (("Queued", "HostsOwn"), None, None),
    ],
)
def test_conditions_follow_from_the_last_phase(phases, true, since):
    """One of three conditions is true, with the phase as its reason, since its status changed."""
    conditions = {condition.type: condition for condition in told(*phases).conditions}

    assert ["Progressing", "Succeeded", "Failed"] == list(conditions)
    assert {true} - {None} == {name for name, c in conditions.items() if c.status == "True"}
    assert {phases[-1]} == {condition.reason for condition in conditions.values()}
    if true is not None:
        assert at(since) == conditions[true].last_transition_time


def test_a_condition_that_never_changed_has_its_first_time():
    """As in Kubernetes, a condition's time is that of its status, not of the last phase."""
    progressing, succeeded, failed = told("Queued", "Executing", "Completed").conditions

    assert ("False", at(2)) == (progressing.status, progressing.last_transition_time)
    assert ("True", at(2)) == (succeeded.status, succeeded.last_transition_time)
    assert ("False", at(0)) == (failed.status, failed.last_transition_time)


def test_conditions_have_kubernetes_shape():
    """A condition is written with the names of meta/v1 Condition."""
    history = PhaseHistory().then(Phase.EXECUTING, at(0), "on node-1")

    assert {
        "type": "Progressing",
        "status": "True",
        "reason": "Executing",
        "lastTransitionTime": to_rfc3339(at(0)),
        "message": "on node-1",
    } == history.conditions[0].to_dict()
    assert () == PhaseHistory().conditions


@given(histories())
def test_a_history_survives_being_written(history):
    """A history read back equals what was written; an empty message is left out."""
    written = history.to_list()

    assert history == PhaseHistory.from_list(written)
    assert all(document.get("message", "x") for document in written)
