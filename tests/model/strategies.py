"""Every part of an event at random, and texts of the kind that break things."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from hypothesis import strategies as st

from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.details import Confidence, Fact, FailureDetails, Hint, Kind, Started
from failhook.error_info import ErrorInfo, Mark
from failhook.event import EventType, FailureEvent, event_id
from failhook.phases import Phase, PhaseHistory
from failhook.policy import MAX_DELAY, Backoff, Policy
from failhook.task import Task

NOW = datetime(2026, 3, 4, 5, 6, 7, 890123, tzinfo=UTC)

texts = st.text(max_size=40)
tokens = st.text(min_size=1, max_size=20)
foreign_texts = st.text(st.characters(), max_size=60)
"""With lone surrogates and NULs, as a task may print them."""

moments = st.integers(0, 10**10).map(lambda number: NOW + timedelta(milliseconds=number))
seconds = st.floats(0, 1e9)
counts = st.integers(0, 9)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**62), 2**62), st.floats(-1e9, 1e9), texts
)

backoffs = st.builds(
    Backoff,
    initial=seconds,
    factor=st.floats(1, 10),
    maximum=st.floats(0, MAX_DELAY),
    jitter=st.booleans(),
)
policies = st.builds(
    Policy,
    retries=counts,
    max_infra_refunds=counts,
    max_system_failures=counts,
    refund_confidence=st.sampled_from(Confidence),
    when_refunds_end=st.sampled_from(("charge", "fail")),
    non_retryable_codes=st.lists(tokens, max_size=3).map(tuple),
    backoff=backoffs,
    infra_backoff=backoffs,
    total_deadline=st.none() | seconds,
)


def tasks(some=texts, names=tokens):
    """Build tasks with `some` as their free texts."""
    return st.builds(
        Task,
        workflow=names,
        name=names,
        namespace=names,
        run_id=names,
        map_index=st.none() | st.integers(-1, 9),
        generation=st.integers(1, 3),
        attempt=st.integers(1, 9),
        owner=st.none() | some,
        labels=st.dictionaries(some, some, max_size=3),
        logical_time=st.none() | moments,
        traceparent=st.none() | st.just(f"00-{'7' * 32}-{'b' * 16}-01"),
        log_url=st.none() | some,
        executor=st.none() | some,
        idempotent=st.booleans(),
        policy=st.none() | policies,
    )


def details(some=texts):
    """Build verdicts with `some` as their free texts."""
    return st.builds(
        FailureDetails,
        kind=st.sampled_from(Kind),
        reason=some,
        message=some,
        deterministic=st.none() | st.booleans(),
        confidence=st.sampled_from(Confidence),
        rule=some,
        evidence=st.lists(st.builds(Fact, path=some, value=scalars | some), max_size=3).map(tuple),
        executor=st.none() | some,
        exit_code=st.none() | st.integers(0, 255),
        signal=st.none() | st.integers(1, 64),
        started=st.sampled_from(Started),
        ended_by_itself=st.booleans(),
        executor_side=st.booleans(),
        cleanup=st.booleans(),
        node=st.none() | some,
        code=st.none() | some,
        retry_after=st.none() | seconds,
        time_limit=st.none() | seconds,
        elapsed=st.none() | seconds,
        actor=st.none() | some,
        hint=st.none() | st.sampled_from(Hint),
    )


counters = st.builds(Counters, *[counts] * 6)


def decisions(some=texts):
    """Build decisions with `some` as their free texts."""
    return st.builds(
        Decision,
        action=st.sampled_from(Action),
        message=some,
        charge=st.sampled_from(Charge),
        because=st.builds(Because, st.just("gate.rule"), some),
        before=counters,
        after=counters,
        attempt=st.integers(1, 9),
        max_tries=st.integers(1, 9),
        delay=st.floats(0, MAX_DELAY),
        code=st.none() | some,
        cleanup=st.booleans(),
    )


def errors(some=texts):
    """Build errors, their chains and groups, with `some` as their free texts."""
    marks = st.builds(
        Mark,
        message=some,
        code=st.none() | some,
        kind=st.none() | some,
        deterministic=st.none() | st.booleans(),
        retry_after=st.none() | seconds,
    )
    own = {
        "type": some.map(lambda text: text or "E"),
        "message": some,
        "traceback": some,
        "mro": st.lists(some, max_size=1).map(tuple),
        "notes": st.lists(some, max_size=1).map(tuple),
        "attributes": st.dictionaries(some, scalars | some, max_size=1).map(MappingProxyType),
        "mark": st.none() | marks,
    }

    def above(below):
        return st.builds(
            ErrorInfo,
            **own,
            cause=st.none() | below,
            context=st.none() | below,
            exceptions=st.lists(below, max_size=2).map(tuple),
        )

    return st.recursive(st.builds(ErrorInfo, **own), above, max_leaves=3)


def histories(some=texts):
    """Build phase histories with `some` as their messages."""
    steps = st.lists(st.tuples(st.sampled_from([*Phase, "HostsOwn"]), some), max_size=6)

    def told(found):
        history = PhaseHistory()
        for number, (phase, message) in enumerate(found):
            history = history.then(phase, NOW + timedelta(seconds=number), message)
        return history

    return steps.map(told)


def parts(some=texts, names=tokens):
    """Build the arguments of `build_event` but the redactor."""
    return st.fixed_dictionaries(
        {
            "type": st.sampled_from(EventType),
            "task": tasks(some, names),
            "details": details(some),
            "error": st.none() | errors(some),
            "decision": st.none() | decisions(some),
            "previous": st.none() | details(some),
            "first_failure": st.none() | details(some),
            "first_error": some,
            "phases": histories(some),
            "started_at": st.none() | moments,
            "ended_at": st.none() | moments,
            "observed_at": moments,
            "observer": some,
            "revision": st.integers(0, 1),
            "simulated": st.booleans(),
        }
    )


def events(some=texts):
    """Build events as they are, without redaction."""

    def event(found, succeeded):
        verdict = found.pop("details")
        key = found["task"].attempt_key
        return FailureEvent(
            **found,
            failure_details=verdict,
            event_id=event_id(found["type"], key, found["revision"]),
            succeeded=succeeded,
        )

    return st.builds(event, parts(some).map(dict), st.booleans())
