"""The published JSON Schema says all of an event, and an event survives its JSON."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from dataclasses import fields, replace
from importlib.resources import files

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator, FormatChecker

from failhook.decision import Action, Charge, Decision
from failhook.details import Confidence, Fact, FailureDetails, Hint, Kind, Started
from failhook.error_info import ErrorInfo, Mark
from failhook.event import EventType, FailureEvent, event_id
from failhook.phases import Condition, PhaseTransition
from failhook.policy import Backoff, Policy
from failhook.task import Task
from tests.model.strategies import events

SCHEMA = json.loads((files("failhook") / "schema" / "failure-event.json").read_text())
"""As the wheel ships it."""


def strict(schema):
    """Refuse fields that the schema does not name: the published one lets later versions add."""
    schema = deepcopy(schema)
    todo = [schema]
    for part in todo:
        if isinstance(part, dict):
            if "properties" in part:
                part.setdefault("additionalProperties", False)
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)
    return schema


STRICT = Draft202012Validator(strict(SCHEMA), format_checker=FormatChecker())


def test_the_schema_is_a_schema_of_its_draft():
    """The schema itself is valid JSON Schema, draft 2020-12."""
    Draft202012Validator.check_schema(SCHEMA)

    assert "https://json-schema.org/draft/2020-12/schema" == SCHEMA["$schema"]


@given(events())
def test_every_event_is_valid_and_every_field_named(event):
    """Whatever an event holds, its JSON is valid, and the schema names all that is in it."""
    STRICT.validate(json.loads(event.to_json()))


@given(events())
def test_an_event_survives_its_json(event):
    """An event read back from its JSON equals what was written."""
    assert event == FailureEvent.from_json(event.to_json())


@pytest.mark.parametrize(
    ("model", "definition", "elsewhere"),
    [
        (FailureEvent, None, {}),
        (Task, "task", dict.fromkeys(("_", "job_key", "key", "attempt_key"))),
        (Policy, "policy", {}),
        (Backoff, "backoff", {}),
        (ErrorInfo, "error", {"exception": None}),
        (Mark, "mark", {}),
        (FailureDetails, "failure_details", {}),
        (Fact, "fact", {}),
        (Decision, "decision", dict.fromkeys(("before", "after"), "budgets")),
        (PhaseTransition, "phase_transition", {"occurred_at": "occurredAt"}),
        (Condition, "condition", {"last_transition_time": "lastTransitionTime"}),
    ],
)
def test_no_field_of_the_model_is_missing_in_the_schema(model, definition, elsewhere):
    """A field that is added to the model must be added to the schema; live objects have none."""
    known = (SCHEMA if definition is None else SCHEMA["$defs"][definition])["properties"]
    named = {elsewhere.get(field.name, field.name) for field in fields(model)} - {None}

    assert set() == named - set(known)


@pytest.mark.parametrize(
    ("closed", "definition", "field"),
    [
        (EventType, None, "type"),
        (Action, "decision", "action"),
        (Charge, "decision", "charge"),
        (Started, "failure_details", "started"),
        (Hint, "failure_details", "hint"),
    ],
)
def test_the_schema_has_the_closed_sets_of_the_model(closed, definition, field):
    """A member that is added to a closed set must be added to the schema."""
    part = SCHEMA if definition is None else SCHEMA["$defs"][definition]

    assert {member.value for member in closed} == set(part["properties"][field]["enum"])
    assert {kind.value for kind in Kind} == set(SCHEMA["$defs"]["kind"]["enum"])
    assert {level.value for level in Confidence} == set(SCHEMA["$defs"]["confidence"]["enum"])


def test_every_property_says_what_it_is():
    """A reader of the schema finds a sentence on each field, there or at the part that it names."""
    silent = []
    for title, part in {"event": SCHEMA, **SCHEMA["$defs"]}.items():
        for name, schema in part.get("properties", {}).items():
            reference = schema.get("$ref", "").rpartition("/")[2]
            told = schema.get("description") or SCHEMA["$defs"].get(reference, {}).get(
                "description"
            )
            if not told and title not in {"budget", "counters"} and "properties" not in schema:
                silent.append(f"{title}.{name}")

    assert ["condition.type", "condition.status"] == silent


@given(events())
def test_a_later_schema_is_refused_by_name(event):
    """An event of a schema from the future is refused, and the error says which it is."""
    document = {**event.to_dict(), "schema_version": "2"}

    with pytest.raises(ValueError, match="event schema '2'; this version reads 1"):
        FailureEvent.from_dict(document)


@given(events())
def test_equal_events_are_one_key(event):
    """An event can be the key of a dictionary, and its hash agrees with equality."""
    assert "found" == {event: "found"}[FailureEvent.from_json(event.to_json())]


def test_observers_of_one_thing_compute_one_id():
    """The id depends on type, attempt key and revision, and on nothing else."""
    task = Task("w", "t", run_id="r")
    ids = [
        event_id(kind, key, revision)
        for kind in EventType
        for key in (task.attempt_key, task.next_attempt().attempt_key)
        for revision in (0, 1)
    ]

    assert len(ids) == len(set(ids))
    assert ids[0] == event_id(EventType.FAILED, Task("w", "t", run_id="r").attempt_key, 0)


@given(events())
def test_no_live_exception_is_reachable_once_stripped(event):
    """An event without its exception holds no live object, and is otherwise the same."""
    live = ValueError("alive")
    error = replace(event.error or ErrorInfo(type="E"), exception=live)
    event = replace(event, error=error)

    stripped = event.without_exception()

    assert stripped.error is not None
    assert stripped.error.exception is None
    assert event == stripped
    assert stripped is stripped.without_exception()
    assert event == pickle.loads(pickle.dumps(stripped))  # noqa: S301 - our own bytes
