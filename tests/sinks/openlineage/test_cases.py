"""Every real failure, through the real pipeline and the real HTTP transport."""

from __future__ import annotations

import copy
from collections import Counter
from datetime import UTC, datetime

import pytest

from failhook.clock import SystemClock
from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.task import Task
from failhook_sinks.openlineage import OpenLineageSink
from tests.score.cases import load, question
from tests.sinks.openlineage.receiver import listening
from tests.sinks.openlineage.validation import problems, undeclared

CASES = load()
WHEN = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def sent():
    """Report every case, some after a start and some without, and each third one's recovery."""
    with listening() as backend:
        settings = {"transport": {"type": "http", "url": backend.url}}
        manager = Manager()
        manager.register(OpenLineageSink(settings, SystemClock()), "openlineage")
        pipeline = Pipeline(manager=manager)
        for number, case in enumerate(CASES):
            task = Task(
                "cases",
                case["id"],
                run_id="r1",
                map_index=None if number % 2 else number,
                owner="team:data" if number % 3 else None,
                labels={"system": case["system"]},
                logical_time=WHEN if number % 4 else None,
                log_url=f"https://logs.example.org/{number}" if number % 5 else None,
                policy=Policy(retries=2, max_infra_refunds=2),
            )
            if number % 3:
                task = pipeline.started(task)
            decision = pipeline.failed(task, Evidence.from_dict(question(case)))
            if decision.retry and not number % 3:
                pipeline.succeeded(task.next_attempt())
        assert pipeline.close(timeout=60)
        yield backend.events


def test_every_case_ends_a_run_of_its_own(sent):
    """One START and one end for each attempt: FAIL or ABORT for a failure, COMPLETE after it."""
    runs = {}
    for event in sent:
        runs.setdefault(event["run"]["runId"], []).append(event["eventType"])
    ends = Counter(states[-1] for states in runs.values())

    assert len(CASES) == ends["FAIL"] + ends["ABORT"]
    assert ends["ABORT"] > 0
    assert ends["COMPLETE"] > 0
    assert all(["START"] == states[:-1] for states in runs.values())


def test_every_event_is_valid(sent):
    """Core model, facets, formats of dates, UUIDs and URIs: by the spec's own schemas."""
    assert [] == [problem for event in sent for problem in problems(event)]
    assert set() == set().union(*map(undeclared, sent))


def test_the_kinds_are_told_apart(sent):
    """A case whose label is sure arrives with that label, and with what was decided."""
    found = {
        event["job"]["name"].removeprefix("cases."): event["run"]["facets"]["failhook_failure"]
        for event in sent
        if event["eventType"] in ("FAIL", "ABORT")
    }
    sure = [case for case in CASES if case["confidence"] == "high"]

    assert [(case["id"], case["expected"]["kind"]) for case in sure] == [
        (case["id"], found[case["id"]]["kind"]) for case in sure
    ]
    assert {"retry", "fail", "hold"} >= {facet["retryDecision"] for facet in found.values()}


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("eventTime",), "2026-01-02T03:04:05"),
        (("eventType",), "FAILED"),
        (("producer",), "not a URI"),
        (("run", "runId"), "r1"),
        (("run", "facets", "nominalTime", "nominalStartTime"), "yesterday"),
        (("run", "facets", "parent", "run", "runId"), "r1"),
        (("run", "facets", "failhook_failure", "kind"), "user"),
        (("run", "facets", "failhook_failure", "attempt"), 0),
        (("run", "facets", "failhook_failure", "nextRetryAt"), "2026-01-02 03:04"),
        (("run", "facets", "errorMessage", "message"), None),
        (("job", "facets", "jobType", "processingType"), 1),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else None,
)
def test_a_planted_fault_is_found(sent, where, value):
    """The validation above would have seen it."""
    whole = next(
        event
        for event in sent
        if event["eventType"] == "FAIL"
        and "nominalTime" in event["run"]["facets"]
        and "nextRetryAt" in event["run"]["facets"]["failhook_failure"]
    )
    planted = copy.deepcopy(whole)
    place = planted
    for name in where[:-1]:
        place = place[name]
    place[where[-1]] = value

    assert [] == problems(whole)
    assert 0 < len(problems(planted))
