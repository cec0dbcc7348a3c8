"""What failhook raises can be caught by one root, and crosses process borders whole."""

from __future__ import annotations

import pickle

import pytest

from failhook import errors
from failhook.errors import FailhookError, StartRefused, TaskError, Undelivered
from tests.model.test_event_build import DECISION


@pytest.mark.parametrize(
    "name", [name for name, value in vars(errors).items() if isinstance(value, type)]
)
def test_every_error_has_the_root_but_the_tasks_own(name):
    """`except FailhookError` catches all that failhook raises; `TaskError` is the task's."""
    assert (name != "TaskError") is issubclass(getattr(errors, name), FailhookError)


def test_a_refusal_tells_the_whole_story_and_can_be_pickled():
    """A refused start says why in its text, and a pool can carry it to its parent."""
    refusal = StartRefused(DECISION, ("attempt 1: lost", "attempt 2: lost"))

    assert "failed\nattempt 1: lost\nattempt 2: lost" == str(refusal)
    again = pickle.loads(pickle.dumps(refusal))  # noqa: S301 - our own bytes
    assert (DECISION, refusal.story) == (again.decision, again.story)


def test_a_mark_can_be_pickled():
    """A child process may send the mark that it raised, with all that it says."""
    mark = TaskError("m", code="C", kind="infra", deterministic=False, retry_after=5.0)

    again = pickle.loads(pickle.dumps(mark))  # noqa: S301 - our own bytes

    assert vars(mark) == vars(again)
    assert "m" == str(again)


def test_a_delivery_that_failed_says_whether_to_try_again():
    """By default trying again may help."""
    assert (True, None) == (Undelivered("x").retryable, Undelivered("x").retry_after)
    late = Undelivered("x", retryable=False, retry_after=3.0)
    assert (False, 3.0) == (late.retryable, late.retry_after)
