"""Documents in each spelling, bare or wrapped, by sight."""

from __future__ import annotations

import re
from datetime import datetime

import pytest

from failhook.classify import recognise
from failhook.errors import EvidenceError
from failhook.evidence import Evidence
from tests.classify.kubernetes.samples import (
    CLASSIFIER,
    cases,
    disrupted,
    ended,
    event,
    job,
    pod,
    runs,
    workload,
)

PODS = [
    case
    for case in cases()
    if case["evidence"].get("kind") in ("Pod", None)
    and "status" in case["evidence"]
    and "log_tail" not in case["evidence"]
]
_TIME = re.compile(r"\d{4}-\d\d-\d\dT")


def of_the_client(value):
    """Return a document as the Python client's to_dict() gives it: other names, live times."""
    if isinstance(value, dict):
        return {
            re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", key): of_the_client(
                v
            )
            for key, v in value.items()
            if key not in ("kind", "apiVersion")
        } | ({"kind": None, "api_version": None} if "status" in value else {})
    if isinstance(value, list):
        return [of_the_client(each) for each in value]
    if isinstance(value, str) and _TIME.match(value):
        return datetime.fromisoformat(value)
    return value


class Client:
    """An object of a client library: nothing of it can be read but its to_dict()."""

    def __init__(self, document):
        self._document = document

    def to_dict(self):
        return self._document


def kind_and_reason(evidence: Evidence):
    """Return what the spelling of a document must not change."""
    details = CLASSIFIER.classify(None, evidence)
    return details.kind, details.reason, details.rule, details.started


@pytest.mark.parametrize("case", PODS, ids=lambda case: case["id"])
def test_the_spelling_of_a_pod_changes_no_verdict(case):
    """CamelCase of the API, snake_case of the client, an object, a List: one pod, one verdict."""
    document, context = case["evidence"], case.get("context") or {}
    named = {**document, "kind": "Pod"}
    wanted = kind_and_reason(Evidence("kubernetes", named, context))
    events = [{**each, "kind": "Event"} for each in named.get("events", [])]
    listed = {"kind": "List", "items": [named, *events]}
    client = of_the_client(document)
    told = [
        Evidence("kubernetes", client, context),
        Evidence.pod(Client(client), **context),
        Evidence("kubernetes", listed, context),
        Evidence("kubernetes", {"pod": Client(client), "events": events}, context),
    ]
    assert [kind_and_reason(each) for each in told] == [wanted] * len(told)


@pytest.mark.parametrize(
    "record",
    [
        pod(ended(1)),
        {"kind": "List", "apiVersion": "v1", "items": [pod(ended(1))]},
        {"kind": "PodList", "items": [of_the_client(pod(ended(1)))]},
        {"kind": "List", "apiVersion": "v1", "items": [{**event("Evicted"), "apiVersion": "v1"}]},
        of_the_client(pod(ended(1))),
        job("BackoffLimitExceeded"),
        workload("Preempted"),
        {"kind": "Status", "apiVersion": "v1", "code": 404},
        {"type": "DELETED", "object": pod(runs())},
    ],
)
def test_bare_records_are_known_by_sight(record):
    """What kubectl and the clients give needs no wrapping."""
    assert recognise(record).system == "kubernetes"


@pytest.mark.parametrize(
    "record",
    [
        {"status": {"state": "FAILED"}},
        {"status": "FAILED", "statusReason": "Host EC2 terminated", "attempts": []},
        {"kind": "Job", "status": {}},
        {"kind": ["Pod"]},
        {"items": []},
        {"items": [{"id": 1}]},
        {"lastStatus": "STOPPED", "containers": []},
    ],
)
def test_strangers_are_not_taken_for_pods(record):
    """A record that another system could write is left to that system."""
    try:
        system = recognise(record).system
    except EvidenceError:
        system = None
    assert system != "kubernetes"


def test_facts_name_their_place_in_the_document():
    """What the verdict cites can be found in what was handed in."""
    details = CLASSIFIER.classify(
        None, Evidence("kubernetes", pod(ended(137), conditions=disrupted()))
    )
    cited = {fact.path: fact.value for fact in details.evidence}
    assert cited == {
        "status.conditions[type=DisruptionTarget].reason": "PreemptionByScheduler",
    }
    assert details.node == "node-1"


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence("airflow", {"status": "failed", "pod": pod(ended(137, "OOMKilled"))}),
        Evidence("kubernetes", pod(ended(137, "OOMKilled"))["status"]),
        Evidence("dagster", pod(ended(137, "OOMKilled"))["status"]),
    ],
)
def test_a_pod_is_read_wherever_it_stands(evidence):
    """An engine that hands in a pod, or its status alone, is understood under any name."""
    assert CLASSIFIER.classify(None, evidence).reason == "OOMKilled"
