"""What a store writes of the model can be read back: every field, and any text."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.decision import Counters
from failhook.details import Confidence, FailureDetails, Hint, Kind, Started
from failhook.event import EventType
from failhook.gate.ledger import Owner
from failhook.policy import Policy
from failhook.stores import records
from tests.stores.samples import (
    DECISION,
    DETAILS,
    LATER,
    a_failed_attempt,
    a_task,
    an_account,
    an_event,
    an_open_attempt,
)

TASK = a_task(
    namespace="prod",
    map_index=0,
    generation=2,
    attempt=3,
    traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    log_url="https://logs.example.org/1",
    executor="local",
    idempotent=False,
)
FULL_DETAILS = FailureDetails(
    kind=Kind.TIMEOUT,
    reason="ExecutionTimeout",
    message="over 60 s",
    deterministic=False,
    confidence=Confidence.CONFIRMED,
    rule="process.deadline",
    evidence=DETAILS.evidence,
    executor="local",
    exit_code=0,
    signal=9,
    started=Started.YES,
    ended_by_itself=True,
    executor_side=True,
    cleanup=True,
    node="node-7",
    code="E1",
    retry_after=0.5,
    time_limit=60.0,
    elapsed=60.25,
    actor="alice",
    hint=Hint.MORE_MEMORY,
)
FULL_DECISION = replace(
    DECISION, before=Counters(1, 2, 3, 4, 5, 6), after=Counters(7, 8, 9, 10, 11, 12),
    code="RetriesExhausted", cleanup=True,
)  # fmt: skip
EVENT = an_event(
    TASK,
    type=EventType.AMENDED,
    revision=1,
    failure_details=FULL_DETAILS,
    decision=FULL_DECISION,
    previous=DETAILS,
    first_failure=replace(DETAILS, reason="Evicted"),
    first_error="E: 1",
    simulated=True,
    succeeded=True,
)
OWNER = an_open_attempt(TASK).owner


def defaults_of(part):
    """The fields of a part that may be left out, and what they are then."""
    if isinstance(part, tuple):
        return part._field_defaults
    return {field.name: field.default for field in fields(part) if field.init}


@pytest.mark.parametrize(
    "part",
    [TASK, FULL_DETAILS, FULL_DECISION, EVENT, OWNER, an_account(TASK), a_failed_attempt(TASK)],
    ids=type,
)
def test_the_samples_leave_no_field_unset(part):
    """A field that is new to the model must come into these tests, and so into the store."""
    unset = [name for name, value in defaults_of(part).items() if getattr(part, name) == value]

    assert [] == unset


def test_every_field_comes_back():
    """Nothing of an event is lost, nor of the attempt it speaks of."""
    texts = records.Texts()

    assert EVENT == records.read_event(texts.event(EVENT))
    assert OWNER == texts.read(texts.owner(OWNER), records.read_owner)


def test_what_is_not_set_stays_unset():
    """A bare event comes back as bare as it was."""
    event = an_event(
        a_task(owner=None, labels={}, policy=None, logical_time=None),
        error=None,
        decision=None,
        started_at=None,
        ended_at=None,
    )

    assert event == records.read_event(records.Texts().event(event))


def test_a_part_in_several_rows_is_written_once():
    """The same object gives the same text, and what was read is not written anew."""
    texts = records.Texts()
    text = texts.details(FULL_DETAILS)

    assert text is texts.details(FULL_DETAILS)
    assert text in texts.event(EVENT)
    part = texts.read("[" + text[1:], records.read_details)
    assert texts.details(part) == text


def test_what_is_remembered_is_bounded():
    """However many parts were written, a thousand at most are remembered, and none is mixed up."""
    texts = records.Texts()

    for number in range(2_000):
        written = texts.details(replace(FULL_DETAILS, exit_code=number))
        assert number == texts.read(written, records.read_details).exit_code

    assert len(texts._known) <= 1_000


@given(st.text(st.characters(), max_size=20), st.floats(allow_nan=False), st.integers())
def test_any_text_and_number_comes_back(text, number, fact):
    """Quotes, NULs, lone surrogates, infinities and large integers survive."""
    details = replace(
        FULL_DETAILS,
        message=text,
        elapsed=number,
        evidence=(replace(DETAILS.evidence[0], path=text, value=fact),),
    )
    task = a_task(labels=MappingProxyType({text: text}), policy=Policy(retries=min(abs(fact), 9)))
    texts = records.Texts()

    assert details == texts.read(texts.details(details), records.read_details)
    assert task == texts.read(texts.task(task), records.read_task)


@given(st.datetimes(datetime(1900, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 - gets a zone
def test_a_time_comes_back_to_the_microsecond(moment):
    """Times of any zone are kept exactly, as UTC, and sort as they passed."""
    micros = records.to_micros(moment)

    assert moment.astimezone(UTC) == records.from_micros(micros)
    assert UTC is records.from_micros(micros).tzinfo
    assert (moment < LATER) == (micros < records.to_micros(LATER))
    assert datetime(1970, 1, 1, tzinfo=UTC) == records.from_micros(0)


def test_an_owner_is_read_as_older_versions_wrote_it():
    """A row from before PID namespaces were kept is read, and says that its own is not known."""
    assert Owner("here", 1, 2, "boot", 3, 4) == records.read_owner(["here", 1, 2, "boot", 3, 4])
