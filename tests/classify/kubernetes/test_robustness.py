"""Documents that are broken, strange, huge or hostile."""

from __future__ import annotations

import contextlib
import copy
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.classify import Classifier, recognise
from failhook.errors import EvidenceError
from failhook.evidence import Evidence
from tests.classify.kubernetes.samples import cases, pod, verdict

CASES = list(cases())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
TOKENS = st.sampled_from(
    [
        *("Evicted", "Preempting", "NodeLost", "Terminated", "OOMKilled", "Error", "Completed"),
        *("NodeShutdown", "Preempted", "DeadlineExceeded", "PreemptionByScheduler", "Unknown?"),
    ]
)
JUNK = st.recursive(
    SCALARS | TOKENS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """Return the path of every member of a document."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in members:
            found.extend(places(member, (*path, key)))
    return found


@st.composite
def mutants(draw: Any) -> tuple[dict, dict, dict]:
    """Draw a real failure with up to three of its fields dropped, replaced, renamed or repeated."""
    case = draw(st.sampled_from(CASES))
    document = copy.deepcopy(case["evidence"])
    for _ in range(draw(st.integers(1, 3))):
        found = places(document)
        if not found:
            break
        *above, key = draw(st.sampled_from(found))
        parent: Any = document
        for step in above:
            parent = parent[step]
        change(draw, parent, key)
    return case, document, case.get("context") or {}


def change(draw: Any, parent: Any, key: Any) -> None:
    """Change one member of a document."""
    what = draw(st.sampled_from(["drop", "replace", "rename", "repeat", "long", "deep"]))
    value = parent[key]
    if what == "drop":
        del parent[key]
    elif what == "replace":
        parent[key] = draw(JUNK)
    elif what == "rename" and isinstance(parent, dict):
        parent[draw(st.sampled_from(["status", "state", "reason", "name", "x"]))] = parent.pop(key)
    elif what == "repeat" and isinstance(parent, list):
        parent.extend([value] * draw(st.integers(1, 100)))
    elif what == "long" and isinstance(value, str):
        parent[key] = value + "x" * 100_000
    else:
        for _ in range(200):
            value = {"a": value} if draw(st.booleans()) else [value]
        parent[key] = value


@given(mutants())
def test_nothing_in_it_raises_whatever_the_document_is(mutant):
    """Neither reader nor rule raises, so the verdict never rests on half of the facts."""
    _, document, context = mutant
    errors: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = errors.append
    logger = logging.getLogger("failhook.classify")
    logger.addHandler(handler)
    try:
        details = Classifier().classify(None, Evidence("kubernetes", document, context))
        with contextlib.suppress(EvidenceError):  # what is not known by sight is refused by name
            recognise(document)
    finally:
        logger.removeHandler(handler)
    assert [each.getMessage() for each in errors] == []
    assert details.reason


@given(mutants())
def test_an_infra_verdict_cites_what_stands_in_the_document(mutant):
    """What supports a refund is in the document, not in what was left out of it."""
    _, document, context = mutant
    details = Classifier().classify(None, Evidence("kubernetes", document, context))
    if details.kind == "infra":
        assert [fact.path for fact in details.evidence if fact.value in (None, "")] == []
        assert details.evidence


CONTAINERS = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "base", "x"])},
    optional={
        "state": st.fixed_dictionaries(
            {},
            optional={
                "terminated": st.fixed_dictionaries(
                    {"exitCode": st.integers(-300, 300)},
                    optional={
                        "reason": st.sampled_from(
                            [
                                *("Error", "Completed", "OOMKilled", "Terminated", "NodeLost"),
                                *("Preempting", "DeadlineExceeded", "NodeShutdown", None),
                            ]
                        ),
                        "message": st.sampled_from(
                            [
                                "The node was low on resource: memory. ",
                                "Pod was terminated in response to imminent node shutdown.",
                                "Preempted in order to admit critical pod",
                                "Container main failed: node lost, spot reclaim, 503, i/o timeout",
                            ]
                        ),
                    },
                ),
            },
        )
    },
)


@given(st.lists(CONTAINERS, max_size=3), st.sampled_from(["Failed", "Running", "Succeeded"]))
def test_what_the_task_writes_never_makes_a_failure_the_platforms(containers, phase):
    """Exit codes and termination messages are the task's own: none of them makes a refund."""
    document = pod(*containers, phase=phase)
    document["log_tail"] = "Evicted: The node was low on resource: memory. DisruptionTarget"
    assert verdict(document).kind != "infra"


@pytest.mark.parametrize("place", ["message", "reason"])
def test_a_huge_text_is_read_through_a_window(place):
    """A text of 10 MB costs no more than one of some kilobytes, and the verdict stays short."""
    huge = "The node was low on resource: memory. " + "x" * 10_000_000
    details = verdict(pod(**{"reason": "Evicted", place: huge}))
    assert len(str(details.to_dict())) < 10_000


def test_a_list_of_any_length_is_read_in_part():
    """A thousand events cost what some dozens cost; the newest are among them."""
    events = [{"reason": "Pulled", "message": "x"}] * 5_000
    told = {"reason": "Evicted", "message": "The node was low on resource: memory. "}
    assert verdict(pod(events=[*events, told])).reason == "Evicted"
