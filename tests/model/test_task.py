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
        ({"attempt": True}, r"Task\.attempt is True; it must be a whole number, 1 or more"),
        ({"owner": 5}, r"Task\.owner is 5; it must be a string or None"),
        ({"log_url": ["x"]}, r"Task\.log_url is \['x'\]; it must be a string or None"),
        ({"executor": 3}, r"Task\.executor is 3; it must be a string or None"),
        ({"traceparent": b"x"}, r"Task\.traceparent is b'x'; it must be a string or None"),
        ({"policy": "x"}, r"Task\.policy is 'x'; it must be a Policy or None"),
        ({"policy": {"retries": 1}}, r"Task\.policy is .*; Policy\.from_dict\(\) makes one"),
        ({"labels": None}, r"Task\.labels is None; it must be a mapping of strings to strings"),
        ({"labels": [("a", "b")]}, r"Task\.labels is \[\('a', 'b'\)\]; it must be a mapping"),
        ({"labels": {"a": 1}}, r"Task\.labels\['a'\] is 1; it must be a string"),
        ({"labels": {5: "a"}}, r"Task\.labels: the name 5 is 5; it must be a string"),
        ({"labels": MappingProxyType({"a": 1})}, r"Task\.labels\['a'\] is 1"),
        ({"logical_time": "2020-01-01"}, r"Task\.logical_time is '2020-01-01'; .* a datetime or"),
        (
            {"logical_time": datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))},
            r"Task\.logical_time: 0001-01-01 .* is outside the years 1 to 9999",
        ),
        ({"idempotent": "no"}, r"Task\.idempotent is 'no'; it must be True or False"),
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
    """Labels are the task's own, and nobody can change them."""
    given_labels = {"team": "sales"}
    task = Task("w", "t", labels=given_labels)
    given_labels["team"] = "other"

    assert {"team": "sales"} == dict(task.labels)
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


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_trace_context_is_kept():
    """A traceparent of the W3C form stays, also one of a later version."""
    assert TRACE == Task("w", "t", traceparent=TRACE).traceparent
    assert "cc" + TRACE[2:] == Task("w", "t", traceparent="cc" + TRACE[2:]).traceparent


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "https://bob:secret@host/",
        f"{TRACE}-secret",
        f"{TRACE}\n",
        TRACE.upper(),
        "ff" + TRACE[2:],
        TRACE.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32),
        TRACE.replace("b7ad6b7169203331", "0" * 16),
    ],
)
def test_what_is_no_trace_context_is_dropped(wrong):
    """Any other text is not kept: it cannot be followed, and it could hold a secret."""
    assert Task("w", "t", traceparent=wrong).traceparent is None


@given(tasks())
def test_equal_tasks_are_one_key(task):
    """A task can be the key of a dictionary, and its hash agrees with equality."""
    again = Task.from_dict(task.to_dict())

    assert "found" == {task: "found"}[again]
    assert hash(task) == hash(again)
    assert {task} != {task.next_attempt()}


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
