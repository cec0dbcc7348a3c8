"""Evidence has one constructor per source, and one document for all of them."""

from __future__ import annotations

import json
import pickle
import signal
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.details import Started
from failhook.error_info import ErrorInfo
from failhook.errors import EvidenceError
from failhook.evidence import Evidence
from tests.model.strategies import errors, scalars, texts, tokens


class Client:
    """An object as API clients give it: it can tell itself as a dictionary."""

    def __init__(self, document):
        self.document = document

    def to_dict(self):
        """Return the document."""
        return self.document


class HostKind(Enum):
    INFRA = "infra"
    OTHER = "other"


class OldDetails:
    """A details object as AIP-97 had it first."""

    source = "user"
    infra_reason = None
    reason = HostKind.OTHER
    message = "no such table"
    executor_kind = "celery"


@pytest.mark.parametrize(
    ("evidence", "facts", "started"),
    [
        (Evidence.returncode(3), {"exit_code": 3}, "yes"),
        (Evidence.returncode(0), {"exit_code": 0}, "yes"),
        (
            Evidence.returncode(-9, sent=15, oom_own=0, oom_host=2),
            {"signal": 9, "sent": 15, "oom_own": 0, "oom_host": 2},
            "yes",
        ),
        (
            Evidence.deadline(60, elapsed=61.5),
            {"deadline": {"which": "execution", "limit": 60, "elapsed": 61.5}},
            "yes",
        ),
        (
            Evidence.deadline(60, which="start"),
            {"deadline": {"which": "start", "limit": 60, "elapsed": None}},
            "no",
        ),
        (Evidence.cancel("ann"), {"cancel": {"actor": "ann", "action": "cancel"}}, None),
        (
            Evidence.cancel(action="mark_failed", started=Started.NO),
            {"cancel": {"actor": None, "action": "mark_failed"}},
            "no",
        ),
        (Evidence.shutdown("me"), {"shutdown": {"actor": "me"}}, "yes"),
        (
            Evidence.heartbeat(timeout=30, age=45, node_ready=False),
            {"heartbeat": {"timeout": 30, "age": 45, "node_ready": False}},
            "yes",
        ),
        (
            Evidence.mismatch(executor_state="failed", recorded_state="queued", info="x"),
            {
                "mismatch": {
                    "executor_state": "failed",
                    "recorded_state": "queued",
                    "can_report": True,
                    "info": "x",
                }
            },
            None,
        ),
        (
            Evidence.lost(host="h", pid=7, why="rebooted"),
            {"lost": {"host": "h", "pid": 7, "why": "rebooted"}},
            "yes",
        ),
        (Evidence.duplicate(host="h", pid=7), {"duplicate": {"host": "h", "pid": 7}}, "no"),
        (
            Evidence.plugin_error("broken", code="MetadataTooLarge"),
            {"plugin_error": {"code": "MetadataTooLarge", "message": "broken"}},
            "no",
        ),
    ],
)
def test_each_source_has_its_facts(evidence, facts, started):
    """A constructor writes what was seen as JSON, and what is known of the start."""
    assert ("process", facts) == (evidence.system, evidence.facts)
    assert started == evidence.started
    assert evidence == Evidence.from_dict(json.loads(json.dumps(evidence.to_dict())))


def test_an_exception_is_captured_at_once():
    """The evidence of an exception holds it live, and says that the task had begun."""
    live = ValueError("no such table")
    evidence = Evidence.exception(live)

    assert evidence.error is not None
    assert live is evidence.error.exception
    assert ("python", Started.YES) == (evidence.system, evidence.started)
    assert ErrorInfo(type="builtins.str", message="text") == Evidence.exception("text").error


def test_a_command_that_cannot_be_executed_has_not_started():
    """The operating system's error is kept with its number, text and command."""
    error = FileNotFoundError(2, "No such file or directory", "nope")
    evidence = Evidence.not_started(error, command="nope")

    assert Started.NO is evidence.started
    assert {
        "errno": 2,
        "message": "[Errno 2] No such file or directory: 'nope'",
        "command": "nope",
    } == evidence.facts["exec"]
    assert evidence.error is not None
    assert "builtins.FileNotFoundError" == evidence.error.type


def test_a_pod_may_be_a_mapping_or_a_clients_object():
    """A pod is taken as the API gives it or as the client's object, with its events."""
    document = {"kind": "Pod", "status": {"reason": "Evicted"}}

    for pod in (document, Client(document)):
        evidence = Evidence.pod(pod, events=[{"reason": "Killing"}], main_container="base")
        assert "kubernetes" == evidence.system
        assert {**document, "events": [{"reason": "Killing"}]} == evidence.facts
        assert {"main_container": "base"} == evidence.context
    assert {} == Evidence.pod(document).context


def test_a_record_may_hold_an_exception():
    """A job's record names its system; an exception in it becomes the error."""
    evidence = Evidence.record("slurm", {"state": "FAILED", "exception": "boom"}, cluster="c1")

    assert ("slurm", {"state": "FAILED"}) == (evidence.system, evidence.facts)
    assert {"cluster": "c1"} == evidence.context
    assert ErrorInfo(type="builtins.str", message="boom") == evidence.error


@pytest.mark.parametrize("wrong", [5, "text", Client("no mapping"), None, ["a"]])
def test_what_is_no_document_is_refused(wrong):
    """A pod or a record that is no mapping, and has none to give, is named by its type."""
    name = type(wrong).__name__
    with pytest.raises(EvidenceError, match=rf"a pod must be a mapping .*, not {name}"):
        Evidence.pod(wrong)
    with pytest.raises(EvidenceError, match=rf"a record of slurm must be .*, not {name}"):
        Evidence.record("slurm", wrong)


@pytest.mark.parametrize(
    ("evidence", "stated"),
    [
        (Evidence.verdict("infra", "Evicted"), {"kind": "infra", "reason": "Evicted"}),
        (Evidence.verdict(HostKind.INFRA, "X"), {"kind": "infra", "reason": "X"}),
        (Evidence.verdict(), {"kind": "unknown"}),
        (Evidence.verdict("user"), {"kind": "application"}),
        (Evidence.verdict(source="user"), {"kind": "application"}),
        (Evidence.verdict(source="infra", reason="X"), {"kind": "infra", "reason": "X"}),
        (
            Evidence.verdict("timeout", confidence="confirmed", message="m", deterministic=False),
            {
                "kind": "timeout",
                "confidence": "confirmed",
                "message": "m",
                "deterministic": False,
            },
        ),
        (
            Evidence.verdict(failure_details=OldDetails()),
            {
                "kind": "application",
                "reason": "other",
                "message": "no such table",
                "executor": "celery",
            },
        ),
        (
            Evidence.verdict(failure_details={"failure_kind": "infra", "infra_reason": "Evicted"}),
            {"kind": "infra", "reason": "Evicted"},
        ),
        (
            Evidence.verdict(reason="Mine", failure_details={"source": "infra", "reason": "X"}),
            {"kind": "infra", "reason": "Mine"},
        ),
    ],
)
def test_a_hosts_verdict_is_taken_under_its_old_and_new_names(evidence, stated):
    """`failure_kind` and `reason`, the older `source`, or one details object: all say the same."""
    assert {"verdict": stated} == evidence.facts


def test_a_verdict_may_say_whether_the_task_had_begun():
    """`started` is the evidence's own, not a fact."""
    assert Started.NO is Evidence.verdict("infra", started="no").started
    assert Started.YES is Evidence.verdict("infra", started=Started.YES).started
    assert Evidence.verdict("infra").started is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"kind": "weather"}, r"verdict: kind is 'weather'; it must be one of infra, application"),
        ({"kind": ["infra"]}, r"verdict: kind is \"\['infra'\]\"; it must be one of"),
        (
            {"kind": "infra", "confidence": "sure"},
            r"Evidence\.verdict: confidence is 'sure'; it must be one of guess, likely, confirmed",
        ),
        (
            {"kind": "infra", "started": "perhaps"},
            r"Evidence\.verdict: started is 'perhaps'; it must be one of yes, no, maybe",
        ),
        ({"failure_details": {"source": "weather"}}, r"verdict: kind is 'weather'"),
    ],
)
def test_a_verdict_outside_the_closed_sets_is_refused(more, message):
    """What a host may say is closed; the error names the field, the value, and the set."""
    with pytest.raises(EvidenceError, match=message):
        Evidence.verdict(**more)


NO_DEADLINE = r"which is 'x'; it must be one of execution, run, sensor, walltime, start"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Evidence(facts=None), r"facts is None; it must be a mapping"),
        (lambda: Evidence(context=[1]), r"context is \[1\]; it must be a mapping"),
        (lambda: Evidence(system=None), r"system is None; it must be a string"),
        (lambda: Evidence(error="x"), r"error is 'x'; it must be an ErrorInfo"),
        (lambda: Evidence(started="zzz"), r"started is 'zzz'; it must be one of yes, no, maybe"),
        (lambda: Evidence(node=5), r"node is 5; it must be a string or None"),
        (lambda: Evidence.returncode(1).at(node=5), r"node is 5; it must be a string or None"),
        (lambda: Evidence.returncode(1).at(started="zzz"), r"started is 'zzz'; it must be one of"),
        (lambda: Evidence.returncode(1).also(None), r"also: other is None; it must be an Evidence"),
        (lambda: Evidence.returncode(None), r"returncode: code is None; it must be a whole number"),
        (lambda: Evidence.returncode("1"), r"returncode: code is '1'; it must be a whole number"),
        (lambda: Evidence.returncode(1.5), r"returncode: code is 1\.5; it must be a whole number"),
        (lambda: Evidence.returncode(True), r"returncode: code is True; it must be a whole number"),
        (lambda: Evidence.returncode(-9, sent="KILL"), r"returncode: sent is 'KILL'"),
        (lambda: Evidence.returncode(-9, oom_own=0.5), r"returncode: oom_own is 0\.5"),
        (lambda: Evidence.returncode(-9, oom_host="1"), r"returncode: oom_host is '1'"),
        (
            lambda: Evidence.not_started(ValueError()),
            r"not_started: error is ValueError\(\); .*OSE",
        ),
        (
            lambda: Evidence.not_started(OSError(), command=["x"]),
            r"not_started: command is \['x'\]",
        ),
        (lambda: Evidence.deadline("5"), r"deadline: limit is '5'; it must be a number of seconds"),
        (lambda: Evidence.deadline(None), r"deadline: limit is None"),
        (lambda: Evidence.deadline(True), r"deadline: limit is True"),
        (lambda: Evidence.deadline(float("nan")), r"deadline: limit is nan"),
        (lambda: Evidence.deadline(float("inf")), r"deadline: limit is inf"),
        (lambda: Evidence.deadline(5, elapsed="6"), r"deadline: elapsed is '6'"),
        (lambda: Evidence.deadline(5, which="x"), NO_DEADLINE),
        (lambda: Evidence.cancel(5), r"cancel: actor is 5; it must be a string or None"),
        (
            lambda: Evidence.cancel(action="x"),
            r"cancel: action is 'x'; it must be one of cancel, mark_failed, interrupt",
        ),
        (lambda: Evidence.cancel(action=["x"]), r"cancel: action is \['x'\]; it must be one of"),
        (lambda: Evidence.cancel(started="x"), r"started is 'x'; it must be one of yes, no, maybe"),
        (lambda: Evidence.shutdown(5), r"shutdown: actor is 5"),
        (lambda: Evidence.heartbeat(timeout="x"), r"heartbeat: timeout is 'x'"),
        (lambda: Evidence.heartbeat(timeout=1, age="x"), r"heartbeat: age is 'x'"),
        (lambda: Evidence.heartbeat(timeout=1, node_ready=1), r"node_ready is 1; .* True or False"),
        (
            lambda: Evidence.mismatch(executor_state=5, recorded_state=None),
            r"mismatch: executor_state is 5; it must be a string",
        ),
        (lambda: Evidence.lost(host="h", pid="7", why="x"), r"lost: pid is '7'"),
        (lambda: Evidence.duplicate(host=None, pid=7), r"duplicate: host is None"),
        (lambda: Evidence.plugin_error(b"x"), r"plugin_error: message is b'x'"),
        (lambda: Evidence.plugin_error("x", code=5), r"plugin_error: code is 5"),
        (lambda: Evidence.pod({}, main_container=5), r"pod: main_container is 5"),
        (lambda: Evidence.record(5, {}), r"system is 5; it must be a string"),
        (lambda: Evidence.from_dict([]), r"from_dict: document is \[\]; it must be an object such"),
        (lambda: Evidence.verdict("infra", mesage="x"), r"no mesage; beside kind and .*, message,"),
    ],
)
def test_what_cannot_be_evidence_is_refused_where_it_is_made(make, message):
    """A wrong type or value raises one error with its name, and is never found out later."""
    with pytest.raises(EvidenceError, match=message):
        make()


def test_numbers_and_words_of_other_types_become_plain():
    """A start may be given by its word, and a signal as the standard library's own number."""
    evidence = Evidence.returncode(-signal.SIGKILL, sent=signal.SIGTERM).at(started="no")

    assert Started.NO is evidence.started
    assert {"signal": 9, "sent": 15} == evidence.facts
    assert int is type(evidence.facts["sent"])
    assert "no" == evidence.to_dict()["context"]["started"]


def test_two_observers_evidence_is_one():
    """What one saw is completed by what the other saw; the first one's word stays."""
    one = Evidence.returncode(-9).at(node="n1")
    other = Evidence("kubernetes", {"signal": 15, "pod": "p"}, {"a": 1}, ErrorInfo(type="E"))

    both = one.also(other.at(started=Started.NO, node="n2"))

    assert {"signal": 9, "pod": "p"} == both.facts
    assert ("process", {"a": 1}, "n1") == (both.system, both.context, both.node)
    assert ErrorInfo(type="E") == both.error
    assert Started.YES is both.started
    assert "n1" == one.at().node
    assert ErrorInfo(type="E") == other.also(one).error
    assert Started.YES is other.also(one).started


keys = tokens.filter(lambda name: name not in {"exception", "started", "node"})


@given(
    st.builds(
        Evidence,
        system=tokens,
        facts=st.dictionaries(keys, scalars, max_size=3),
        context=st.dictionaries(keys, scalars, max_size=2),
        error=st.none() | errors(),
        started=st.none() | st.sampled_from(Started),
        node=st.none() | texts,
    )
)
def test_evidence_survives_its_document_and_pickle(evidence):
    """Evidence read back from its document, or unpickled elsewhere, equals what was seen."""
    assert evidence == Evidence.from_dict(json.loads(json.dumps(evidence.to_dict())))
    assert evidence == pickle.loads(pickle.dumps(evidence))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("wrong", [{}, {"evidence": None}, {"evidence": [1]}, {"evidence": "x"}])
def test_a_document_without_evidence_is_refused(wrong):
    """A document whose evidence is no object is refused, and the error says what it is."""
    with pytest.raises(EvidenceError, match=r"evidence is \w+; it must be an object"):
        Evidence.from_dict(wrong)


def test_what_has_the_wrong_type_in_a_document_is_left_out():
    """A system, context, start or node that cannot be read counts as not given."""
    evidence = Evidence.from_dict(
        {
            "system": 5,
            "evidence": {"exit_code": 1, "exception": 7},
            "context": {"started": "perhaps", "node": 5, "a": 1},
        }
    )

    assert Evidence("process", {"exit_code": 1, "exception": 7}, {"a": 1}) == evidence
    assert Evidence("x", {}) == Evidence.from_dict({"system": "x", "evidence": {}, "context": 1})
