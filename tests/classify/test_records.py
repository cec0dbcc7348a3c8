"""Records of batch systems, clouds and CI runners: every entry of the tables, and damage."""

from __future__ import annotations

import json
import string
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.classify import Classifier
from failhook.classify.sources import SOURCES
from failhook.details import Confidence, FailureDetails, Kind
from failhook.evidence import Evidence

HERE = Path(__file__).parent
ELSEWHERE = frozenset({"kubernetes", "python", "process"})
"""Sources with tests of their own."""

CLASSIFIER = Classifier()


def load(path: Path) -> list[dict]:
    """Read a file of documents, one a line."""
    return [json.loads(line) for line in path.read_text().splitlines()]


FILES = sorted((HERE / "records").glob("*.jsonl"))
ROWS = [(path.stem, number, row) for path in FILES for number, row in enumerate(load(path), 1)]
CASES = [case for case in load(HERE.parent / "cases" / "cluster.jsonl")
         if case["system"] != "kubernetes"]  # fmt: skip
DOCUMENTS = [row for _, _, row in ROWS] + CASES


def verdict(document: dict, **change: Any) -> FailureDetails:
    """What the built-in rules say; they see nothing of the label."""
    seen = {name: document[name] for name in ("system", "evidence", "context") if name in document}
    return CLASSIFIER.classify(None, Evidence.from_dict({**seen, **change}))


@pytest.mark.parametrize(
    "row", [row for _, _, row in ROWS], ids=[f"{name}:{number}" for name, number, _ in ROWS]
)
def test_each_documented_code_and_message_has_its_verdict(row):
    """A platform's state, code or sentence means what its own documentation says."""
    details = verdict(row)

    expected = {"deterministic": None, "started": "maybe", **row["expected"]}
    assert expected == {
        "kind": details.kind.value,
        "reason": details.reason,
        "deterministic": details.deterministic,
        "started": details.started.value,
    }


def test_every_entry_of_the_tables_decides_something():
    """No rule is there that no record can reach."""
    deciding = {verdict(document).rule for document in DOCUMENTS}
    rules = {rule.id for source in SOURCES if source.name not in ELSEWHERE for rule in source.rules}

    assert set() == rules - deciding


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["confidence"] != "low"],
    ids=lambda case: case["id"],
)
def test_every_real_record_is_right_in_kind(case):
    """Sure and likely labels of real failures are all met."""
    assert case["expected"]["kind"] == verdict(case).kind


@pytest.mark.parametrize("name", ["process", "a-host-of-its-own"])
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["confidence"] == "high"],
    ids=lambda case: case["id"],
)
def test_a_records_own_fields_tell_the_system(case, name):
    """A host that reports a job's record under any name gets the same kind."""
    assert case["expected"]["kind"] == verdict(case, system=name).kind


# --- damage ---------------------------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from(
        ["x" * 1_000_000, "\ud800", "-", "0:0", "\x00", "9" * 400, "*** JOB " * 50_000]
    ),
)
SHAPES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=8,
)


def damaged(value: Any, draw: Any) -> Any:
    """Return a copy with some fields dropped, null, retyped, reordered or renamed in style."""
    if draw(st.integers(0, 9)) == 0:
        return draw(SHAPES)
    if isinstance(value, dict):
        fields = [
            (_restyled(name, draw), damaged(inner, draw))
            for name, inner in value.items()
            if draw(st.integers(0, 9)) > 0
        ]
        return dict(draw(st.permutations(fields)))
    if isinstance(value, list):
        return draw(st.permutations([damaged(inner, draw) for inner in value]))
    return value


def _restyled(name: str, draw: Any) -> str:
    styles = (str, str.lower, str.upper, lambda text: text.replace("_", "-"))
    return draw(st.sampled_from(styles))(name)


class Watched(Classifier):
    """A classifier that keeps what it would only log: a rule or a reader that raised."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: list[str] = []

    def _report(self, what: str, error: Exception) -> None:
        self.broken.append(f"{what}: {error!r}")


WATCHED = Watched()


@given(data=st.data())
def test_damaged_records_break_nothing(data):
    """Whatever happens to a record, a verdict comes back, and no reader or rule raises."""
    document = data.draw(st.sampled_from(DOCUMENTS))
    evidence = damaged(document["evidence"], data.draw)
    if not isinstance(evidence, dict):
        evidence = {"State": evidence}

    WATCHED.broken.clear()
    details = WATCHED.classify(
        None,
        Evidence(system=document["system"], facts=evidence, context=document.get("context") or {}),
    )

    assert isinstance(details, FailureDetails)
    assert [] == WATCHED.broken


WORDS = st.text(string.ascii_lowercase + " .,:", max_size=60)


def scrambled(value: Any, draw: Any) -> Any:
    """Return a copy whose texts say nothing, and whose numbers are exit codes of programs."""
    if isinstance(value, dict):
        return {name: scrambled(inner, draw) for name, inner in value.items()}
    if isinstance(value, list):
        return [scrambled(inner, draw) for inner in value]
    if isinstance(value, str):
        return draw(WORDS)
    if isinstance(value, bool) or value is None:
        return value
    return draw(st.integers(57, 123))


@cache
def harmless():
    """Return the records that blame no platform."""
    return [one for one in DOCUMENTS if verdict(one).kind is not Kind.INFRA]


@given(data=st.data())
def test_a_record_that_says_nothing_never_costs_the_platform(data):
    """Fields alone prove nothing: without a platform's word, no refund is offered."""
    document = data.draw(st.sampled_from(harmless()))
    details = verdict(document, evidence=scrambled(document["evidence"], data.draw))

    assert not (details.kind is Kind.INFRA and details.confidence is not Confidence.GUESS)


def test_depth_and_size_are_bounded():
    """A document nested a thousand deep, and one of many megabytes, are read to their limit."""
    deep: dict = {}
    for _ in range(1_000):
        deep = {"state": deep, "status": [deep], "containers": [deep]}
    large = {"sacct": [{"JobID": str(n), "State": "COMPLETED"} for n in range(50_000)]}

    assert Kind.UNKNOWN == verdict({"system": "ecs", "evidence": deep}).kind
    assert Kind.UNKNOWN == verdict({"system": "slurm", "evidence": large}).kind
