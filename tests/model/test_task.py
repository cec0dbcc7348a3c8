"""A task knows who it is: one attempt, three keys, and no two tasks share them."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.errors import ConfigError
from failhook.policy import Policy
from failhook.task import MAX_NAME, Task, new_run_id
from tests.model.strategies import tasks

names = st.text(st.sampled_from("a/%[]2F5B"), min_size=1, max_size=4)
identities = st.tuples(
    names, names, names, names, st.none() | st.integers(-1, 2), st.integers(1, 2), st.integers(1, 2)
)


def identified(identity):
    """Make the task of an identity."""
    namespace, workflow, name, run_id, map_index, generation, attempt = identity
    return Task(
        workflow,
        name,
        namespace=namespace,
        run_id=run_id,
        map_index=map_index,
        generation=generation,
        attempt=attempt,
    )


@given(identities, identities)
def test_keys_are_equal_only_where_the_parts_are(one, other):
    """No separator in a name makes two tasks share a key."""
    first, second = identified(one), identified(other)

    assert (one[:3] == other[:3]) is (first.job_key == second.job_key)
    assert (one[:6] == other[:6]) is (first.key == second.key)
    assert (one == other) is (first.attempt_key == second.attempt_key)


def test_keys_read_well():
    """The keys of a task with plain names are those names and numbers."""
    task = Task("nightly", "load", namespace="prod", run_id="r1", map_index=3)

    assert "prod/nightly/load" == task.job_key
    assert "prod/nightly/load/r1[3]/1" == task.key
    assert "prod/nightly/load/r1[3]/1/1" == task.attempt_key


def test_attempts_and_generations_count_up():
    """The next attempt keeps the key; a cleared task gets another, and starts at attempt 1."""
    task = Task("w", "t")

    assert (task.key, 2) == (task.next_attempt().key, task.next_attempt().attempt)
    assert 7 == task.at_attempt(7).attempt
    assert task is task.at_attempt(1)
    cleared = task.next_attempt().cleared()
    assert (2, 1) == (cleared.generation, cleared.attempt)
    assert task.key != cleared.key
    assert task.job_key == cleared.job_key


def test_a_run_id_is_generated_unless_given():
    """Two tasks that name no run are of different runs."""
    assert Task("w", "t").run_id != Task("w", "t").run_id
    assert new_run_id() != new_run_id()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"workflow": ""}, r"Task\.workflow is ''; it must be a string that is not empty"),
        ({"name": 5}, r"Task\.name is 5; it must be a string that is not empty"),
        ({"run_id": "x" * 1_025}, r"Task\.run_id has 1025 characters; at most 1024 are allowed"),
        ({"attempt": 0}, r"Task\.attempt is 0; it must be a whole number, 1 or more"),
        ({"generation": "2"}, r"Task\.generation is '2'; it must be a whole number, 1 or more"),
        ({"attempt": None}, r"Task\.attempt is None; it must be a whole number, 1 or more"),
        ({"map_index": "3"}, r"Task\.map_index is '3'; it must be a whole number, -1 or more"),
        ({"map_index": -2}, r"Task\.map_index is -2; it must be a whole number, -1 or more"),
    ],
)
def test_a_wrong_task_is_refused_by_name(more, message):
    """What cannot identify a task raises one error that names the field and what is allowed."""
    with pytest.raises(ConfigError, match=message):
        Task(**{"workflow": "w", "name": "t", **more})


def test_names_that_cannot_be_written_are_made_so():
    """A lone surrogate or a NUL in a name becomes an escape: keys go into every database."""
    task = Task("w\ud800", "t\x00")

    assert (r"w\ud800", r"t\x00") == (task.workflow, task.name)
    task.attempt_key.encode()


def test_the_longest_names_are_allowed():
    """Each name may have 1,024 characters."""
    assert MAX_NAME == len(Task("w" * MAX_NAME, "t").workflow)


def test_labels_are_frozen_strings():
    """Labels become strings, are the task's own, and nobody can change them."""
    given_labels = {"team": "sales", 5: 7}
    task = Task("w", "t", labels=given_labels)
    given_labels["team"] = "other"

    assert {"team": "sales", "5": "7"} == dict(task.labels)
    assert MappingProxyType is type(task.labels)
    assert task.labels is task.next_attempt().labels
    with pytest.raises(TypeError):
        task.labels["x"] = "y"  # type: ignore[index] # that is what must not work


def test_the_logical_time_is_kept_in_utc():
    """A logical time of any offset is kept in UTC; one without is taken as UTC."""
    east = timezone(timedelta(hours=2))
    aware = Task("w", "t", logical_time=datetime(2026, 1, 1, 2, tzinfo=east))
    naive = Task("w", "t", logical_time=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point

    assert datetime(2026, 1, 1, tzinfo=UTC) == aware.logical_time == naive.logical_time


@given(tasks())
def test_a_task_survives_json_shape_pickle_and_copies(task):
    """Written and read back, pickled or copied, a task is the same task."""
    assert task == Task.from_dict(task.to_dict())
    assert task == pickle.loads(pickle.dumps(task))  # noqa: S301 - our own bytes
    assert task == copy.deepcopy(task)
    assert task.attempt_key == Task.from_dict(task.to_dict()).attempt_key


def test_a_task_without_its_names_cannot_be_read():
    """A document that lacks a name raises KeyError with the name: no run id is made up."""
    document = Task("w", "t", policy=Policy(retries=1)).to_dict()
    del document["run_id"]

    with pytest.raises(KeyError, match="run_id"):
        Task.from_dict(document)
