"""What a run says of a failure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from failhook.details import FailureDetails, Kind
from failhook.error_info import ErrorInfo
from failhook.errors import Undelivered
from failhook.event import EventType
from failhook.phases import Phase, PhaseHistory
from tests.sinks.openlineage.conftest import BROKEN, LOST, START, TASK, an_event, tell
from tests.sinks.openlineage.validation import problems

THEIR_RUN = "019b7cdb-1388-7a3f-b6b2-0123456789ab"
THEIRS = replace(TASK, labels={"openlineage.run_id": THEIR_RUN, "tier": "gold"})
MAPPED = replace(TASK, map_index=3, logical_time=START, log_url="https://logs.example.org/1")


def end_of(sink, backend, event):
    """Tell an event and return the last that came of it."""
    tell(sink, event)
    assert [] == [problem for sent in backend.events for problem in problems(sent)]
    return backend.events[-1]


def tags(event):
    """Return the tags of an event that we set."""
    found = event["run"]["facets"]["tags"]["tags"]
    return {tag["key"]: tag["value"] for tag in found if tag["source"] == "FAILHOOK"}


@pytest.mark.parametrize(
    ("details", "state"),
    [
        (FailureDetails(kind=Kind.INFRA, reason="Evicted"), "FAIL"),
        (FailureDetails(kind=Kind.APPLICATION, reason="UserException"), "FAIL"),
        (FailureDetails(kind=Kind.TIMEOUT, reason="ExecutionTimeout"), "FAIL"),
        (FailureDetails(kind=Kind.UNKNOWN, reason="Unknown"), "FAIL"),
        (FailureDetails(kind=Kind.MANUAL, reason="Cancelled"), "ABORT"),
        (FailureDetails(kind=Kind.MANUAL, reason="Interrupted"), "ABORT"),
        (FailureDetails(kind=Kind.MANUAL, reason="MarkedFailed"), "FAIL"),
        (FailureDetails(kind=Kind.MANUAL, reason="marked_failed"), "FAIL"),
    ],
    ids=lambda value: value.reason if isinstance(value, FailureDetails) else value,
)
@pytest.mark.parametrize("mode", ["terminal", "enrich"])
def test_every_failing_path_ends_its_run(make_sink, backend, details, state, mode):
    """A cancel aborts; all else has failed, and so has what somebody marked as failed."""
    task = TASK if mode == "terminal" else THEIRS

    end = end_of(make_sink(mode), backend, an_event(task=task, details=details))

    assert state == end["eventType"]
    facet = end["run"]["facets"]["failhook_failure"]
    assert (details.kind, details.reason) == (facet["kind"], facet["reason"])


def test_a_run_says_what_it_was_and_what_becomes_of_it(make_sink, backend):
    """Job, owner, workflow, nominal time, error, verdict, budgets and the next attempt."""
    error = ErrorInfo(type="builtins.KeyError", message="'id'", traceback="Traceback: ...")
    details = replace(BROKEN, exit_code=1, node="node-7", rule="python.exception")

    end = end_of(make_sink(), backend, an_event(task=MAPPED, details=details, error=error))

    run, job = end["run"]["facets"], end["job"]["facets"]
    assert ("default", "nightly.load") == (end["job"]["namespace"], end["job"]["name"])
    assert ["START", "FAIL"] == backend.states
    assert "2026-01-02T03:04:05.000000Z" == backend.events[0]["eventTime"]
    assert "2026-01-02T03:09:05.000000Z" == end["eventTime"]
    assert ("BATCH", "FAILHOOK", "TASK") == (
        job["jobType"]["processingType"],
        job["jobType"]["integration"],
        job["jobType"]["jobType"],
    )
    assert [{"name": "team:data"}] == job["ownership"]["owners"]
    assert "nightly" == run["parent"]["job"]["name"] == run["parent"]["root"]["job"]["name"]
    assert "2026-01-02T03:04:05.000000Z" == run["nominalTime"]["nominalStartTime"]
    assert "failhook" == run["processing_engine"]["name"]
    assert ("KeyError: 'id'", "python", "Traceback: ...") == (
        run["errorMessage"]["message"],
        run["errorMessage"]["programmingLanguage"],
        run["errorMessage"]["stackTrace"],
    )
    facet = run["failhook_failure"]
    assert {
        "kind": "application",
        "reason": "UserException",
        "attempt": 1,
        "mapIndex": 3,
        "retryDecision": "retry",
        "maxAttempts": 3,
        "exitCode": 1,
        "confidence": "confirmed",
        "rule": "python.exception",
        "started": "maybe",
        "node": "node-7",
        "charge": "user",
        "budgets": {
            "user": {"used": 1, "limit": 2},
            "infra": {"used": 0, "limit": 0},
            "system": {"used": 0, "limit": 3},
        },
        "nextRetryAt": "2026-01-02T03:09:05.000000Z",
        "logUrl": "https://logs.example.org/1",
        "phases": [
            {
                "name": "Executing",
                "startTime": "2026-01-02T03:04:05.000000Z",
                "endTime": "2026-01-02T03:09:05.000000Z",
            },
            {"name": "RetryableFailure", "startTime": "2026-01-02T03:09:05.000000Z"},
        ],
    } == {name: value for name, value in facet.items() if name[0] != "_"}
    assert {
        "failhook.event": "failed",
        "failhook.attempt": "1",
        "failhook.map_index": "3",
        "failhook.failure.kind": "application",
        "failhook.failure.reason": "UserException",
        "failhook.retry.decision": "retry",
        "tier": "gold",
    } == tags(end)


@pytest.mark.parametrize(
    ("error", "details", "message"),
    [
        (None, LOST, "The worker is gone."),
        (None, replace(LOST, message=""), "infra WorkerLost"),
        (ErrorInfo(type="builtins.ValueError"), BROKEN, "ValueError"),
        (ErrorInfo(type="builtins.str", message="exit 3"), BROKEN, "exit 3"),
    ],
    ids=["verdict", "nothing", "silent", "text"],
)
def test_there_is_always_an_error_message(make_sink, backend, error, details, message):
    """A death that nobody could report has the verdict's words."""
    end = end_of(make_sink(), backend, an_event(error=error, details=details))

    assert message == end["run"]["facets"]["errorMessage"]["message"]


def test_a_recovery_completes_the_run_of_the_attempt_that_succeeded(make_sink, backend):
    """It has no failure of its own: the verdict is that of the attempt before."""
    event = an_event(EventType.RECOVERED, task=TASK.next_attempt())

    end = end_of(make_sink(), backend, event)

    assert ["START", "COMPLETE"] == backend.states
    assert {"parent", "processing_engine", "tags"} == end["run"]["facets"].keys()
    assert {"failhook.event": "recovered", "failhook.attempt": "2", "tier": "gold"} == tags(end)


def test_a_suspect_success_completes_its_run_and_says_what_was_seen(make_sink, backend):
    """Not a failure, and not kept quiet either."""
    end = end_of(make_sink(), backend, an_event(EventType.SUSPECT_SUCCESS))

    assert ["START", "COMPLETE"] == backend.states
    facet = end["run"]["facets"]["failhook_failure"]
    assert ("WorkerLost", "none", True) == (
        facet["reason"],
        facet["retryDecision"],
        facet["succeeded"],
    )


def test_an_amendment_replaces_the_facets_of_the_same_run(make_sink, backend):
    """The end stands where it was; the better verdict names the one before."""
    sink = make_sink()
    first = end_of(sink, backend, an_event())
    manual = FailureDetails(kind=Kind.MANUAL, reason="Cancelled", message="By ann.")

    second = end_of(
        sink,
        backend,
        an_event(EventType.AMENDED, details=manual, previous=LOST, revision=1),
    )

    assert ["START", "FAIL", "START", "ABORT"] == backend.states
    assert first["run"]["runId"] == second["run"]["runId"]
    assert "2026-01-02T03:09:05.000001Z" == second["eventTime"]
    assert first["run"]["facets"].keys() == second["run"]["facets"].keys()
    assert {"kind": "infra", "reason": "WorkerLost"} == second["run"]["facets"]["failhook_failure"][
        "previous"
    ]


def test_a_simulated_failure_is_marked(make_sink, backend):
    """Nobody takes a test for a failure."""
    end = end_of(make_sink(), backend, an_event(simulated=True))

    assert end["run"]["facets"]["failhook_failure"]["simulated"] is True
    assert "true" == tags(end)["failhook.simulated"]


@pytest.mark.parametrize(
    "kind", [EventType.FAILED, EventType.AMENDED, EventType.SUSPECT_SUCCESS], ids=str
)
def test_enrich_adds_the_failure_and_nothing_else_to_the_orchestrators_run(
    make_sink, backend, kind
):
    """No facet of the orchestrator's is replaced, the client's own tags included."""
    end = end_of(make_sink("enrich"), backend, an_event(kind, task=THEIRS))

    assert 1 == len(backend.events)
    assert THEIR_RUN == end["run"]["runId"]
    assert {"errorMessage", "failhook_failure"} == end["run"]["facets"].keys()
    assert {} == end["job"]["facets"]


def test_enrich_leaves_a_recovery_to_the_orchestrator(make_sink, backend):
    """It has seen the success itself."""
    tell(make_sink("enrich"), an_event(EventType.RECOVERED, task=THEIRS))

    assert [] == backend.requests


def test_enrich_tells_of_a_success_after_all(make_sink, backend):
    """The run that was told to have failed is told to have completed."""
    event = an_event(EventType.AMENDED, task=THEIRS, previous=LOST, revision=1, succeeded=True)

    end = end_of(make_sink("enrich"), backend, event)

    assert "COMPLETE" == end["eventType"]
    assert end["run"]["facets"]["failhook_failure"]["succeeded"] is True


def test_enrich_tells_whole_runs_of_tasks_that_nobody_else_tells_of(make_sink, backend):
    """A task without the label loses nothing."""
    tell(make_sink("enrich"), an_event())

    assert ["START", "FAIL"] == backend.states


def test_terminal_keeps_to_runs_of_its_own(make_sink, backend):
    """The label means nothing there."""
    tell(make_sink(), an_event(task=THEIRS))

    assert ["START", "FAIL"] == backend.states
    assert THEIR_RUN != backend.events[0]["run"]["runId"]
    assert "openlineage.run_id" not in tags(backend.events[-1])


def test_a_label_that_is_no_run_id_is_told(make_sink, backend):
    """No run is invented, and no try is wasted on it."""
    with pytest.raises(Undelivered) as refused:
        tell(make_sink("enrich"), an_event(task=replace(TASK, labels={"openlineage.run_id": "7"})))

    assert refused.value.retryable is False
    assert "label openlineage.run_id of default/nightly/load/r1/1 is not a UUID" == str(
        refused.value
    )
    assert [] == backend.requests


def test_an_attempt_whose_host_has_a_clock_behind_is_told_all_the_same(make_sink, backend):
    """Its phases are later than its end by that clock; none of them is this attempt's then."""
    later = PhaseHistory().then(Phase.EXECUTING, START + timedelta(hours=1))

    tell(make_sink(), an_event(phases=later))

    (facet,) = [
        event["run"]["facets"]["failhook_failure"]
        for event in backend.events
        if event["eventType"] == "FAIL"
    ]
    assert "phases" not in facet
