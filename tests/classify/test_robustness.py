"""Whatever it is fed: no exception, no verdict that the evidence does not support."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.classify import Classifier, recognise
from failhook.details import FailureDetails, Kind
from failhook.errors import EvidenceError
from failhook.evidence import Evidence

CASES = [
    json.loads(line)
    for name in ("python", "cluster")
    for line in (Path(__file__).parents[1] / "cases" / f"{name}.jsonl").read_text().splitlines()
]
NEVER_INFRA = [case for case in CASES if case["expected"]["kind"] in ("application", "manual")]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=20,
)
known = st.sampled_from(
    sorted({key for case in CASES for key in case["evidence"]} | {"exit_code", "signal", "verdict"})
)
systems = st.sampled_from(sorted({case["system"] for case in CASES}))


class Watched(Classifier):
    """A classifier that keeps what it would only log: a rule or a reader that raised."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: list[str] = []

    def _report(self, what: str, error: Exception) -> None:
        self.broken.append(f"{what}: {error!r}")


@pytest.fixture(scope="module")
def classifier() -> Watched:
    """One classifier: what one document leaves behind must not harm the next."""
    return Watched()


def check(classifier: Watched, document: object) -> FailureDetails:
    """Classify and explain a document; nothing breaks inside, and all of it is JSON."""
    evidence = Evidence.from_dict(document)
    details = classifier.classify(None, evidence)
    json.dumps(details.to_dict())
    assert FailureDetails.from_dict(details.to_dict()) == details
    json.dumps(classifier.explain(None, evidence).to_dict())
    assert [] == classifier.broken
    return details


@given(
    system=systems | st.text(max_size=9),
    evidence=st.dictionaries(known | st.text(max_size=9), documents, max_size=5),
    context=documents,
)
def test_any_document_has_a_verdict(classifier, system, evidence, context):
    """Random JSON under known and unknown names is read without an exception."""
    check(classifier, {"system": system, "evidence": evidence, "context": context})


def mutated(value: object, chance: random.Random, depth: int = 0) -> object:
    """A document with fields dropped, nulled, retyped, renamed, reordered, blown up or nested."""
    roll = chance.random()
    if depth and roll < 0.03:
        return chance.choice(
            [None, 0, -1, 1e308, True, "", "x", [], {}, [[]], {"a": None}, "\ud800"]
        )
    if isinstance(value, dict):
        items = list(value.items())
        chance.shuffle(items)
        return {
            chance.choice([key, key, key, key, key.upper(), f"{key}x"]): mutated(
                v, chance, depth + 1
            )
            for key, v in items
            if chance.random() > 0.05
        }
    if isinstance(value, list):
        kept = [mutated(member, chance, depth + 1) for member in value if chance.random() > 0.1]
        return [kept] if roll > 0.98 else kept
    if isinstance(value, str) and roll > 0.97:
        return chance.choice([value * 3, value.upper(), value[: len(value) // 2], list(value)])
    if isinstance(value, int) and roll > 0.9:
        return chance.choice([str(value), -value, value + 128, value * 10**6])
    return value


@given(case=st.sampled_from(CASES), seed=st.integers(0, 2**32))
def test_a_mutated_case_has_a_verdict(classifier, case, seed):
    """Real evidence with missing, null, retyped, renamed and reordered fields breaks nothing."""
    document = {
        "system": case["system"],
        "evidence": case["evidence"],
        "context": case.get("context"),
    }

    check(
        classifier,
        mutated(document, random.Random(seed))
        | {"evidence": mutated(case["evidence"], random.Random(seed))},
    )


def without_text(value: object) -> object:
    """A document with every text taken out: nothing is left that could name a disruption."""
    if isinstance(value, dict):
        return {key: without_text(member) for key, member in value.items()}
    if isinstance(value, list):
        return [without_text(member) for member in value]
    return "" if isinstance(value, str) else value


@pytest.mark.parametrize("case", NEVER_INFRA, ids=lambda case: case["id"])
def test_evidence_that_lost_its_words_is_never_called_infra_with_any_certainty(classifier, case):
    """What the evidence does not name cannot be blamed on the platform, but for a bare SIGKILL."""
    document = {"system": case["system"], "evidence": without_text(case["evidence"])}

    details = classifier.classify(None, Evidence.from_dict(document))

    assert details.kind is not Kind.INFRA or details.confidence == "guess"


@pytest.mark.parametrize(
    "kind", ["ValueError", "RuntimeError", "airflow.exceptions.AirflowException"]
)
@pytest.mark.parametrize(
    "words",
    ["Evicted", "OOMKilled", "node lost", "preempted", "SIGKILL", "zombie", "heartbeat", "spot"],
)
def test_words_in_a_users_own_message_make_no_infra(classifier, kind, words):
    """A task can write anything into its exception; that alone is never the platform's fault."""
    error = {"type": kind, "message": f"step 3 failed: {words} happened, see {words} docs"}

    details = classifier.classify(None, Evidence.exception(error))

    assert Kind.INFRA is not details.kind


def nested(depth: int, leaf: object) -> object:
    """A document as deep as asked."""
    for level in range(depth):
        leaf = {"cause": leaf, "state": leaf} if level % 2 else [leaf]
    return leaf


@pytest.mark.parametrize(
    "evidence",
    [
        {"log_tail": "x" * 1_000_000},
        {"log_tail": ["Traceback (most recent call last):"] * 20_000},
        {"log_tail": ["a" * 1_000_000] * 3},
        {"exception": {"type": "x" * 1_000_000, "message": "y: " * 300_000}},
        {"exception": {"type": "ValueError", "message": "(" * 1_000_000}},
        {"exception": {"type": "ValueError", "message": "Error: " * 150_000}},
        {"exception": {"type": "ValueError", "mro": ["a.B"] * 100_000}},
        {"exception": {"type": "E", "exceptions": [{"type": "F"}] * 10_000}},
        {"state": {f"k{number}": "v" for number in range(100_000)}},
        {"state": nested(20, {"message": "x"}), "exception": nested(20, {"type": "x"})},
        {f"field{number}": number for number in range(50_000)},
        {"exception": "\ud800 \x00 \u202e"},
    ],
    ids=range(12),
)
def test_the_size_of_evidence_is_no_danger(classifier, evidence):
    """Megabytes of text, thousands of fields and deep nesting are read through bounded windows."""
    details = check(classifier, {"system": "python", "evidence": evidence})

    assert 8_000 > len(json.dumps(details.to_dict()))


def test_a_chain_as_deep_as_python_allows(classifier):
    """A recorded chain far deeper than any that is kept is cut, not followed to the end."""
    error = {"type": "ValueError", "message": "the root"}
    for _ in range(200):
        error = {"type": "RuntimeError", "message": "wrapped", "cause": error}

    assert (
        "application"
        == check(classifier, {"system": "python", "evidence": {"exception": error}}).kind
    )


@given(documents)
def test_recognise_knows_or_refuses(document):
    """Any document is evidence, or one clear error."""
    with contextlib.suppress(EvidenceError):
        assert isinstance(recognise(document), Evidence)
