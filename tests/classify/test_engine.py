from __future__ import annotations

import logging

import pytest

from failhook.classify import Classifier, Rule, Tier
from failhook.classify.conditions import PRESENT, Predicate
from failhook.classify.facts import Derived
from failhook.classify.source import Source
from failhook.classify.sources import SOURCES
from failhook.classify.user_rules import read_user_rules
from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.evidence import Evidence
from failhook.task import Task

TASK = Task("nightly", "load", run_id="r1", executor="local", labels={"team": "core"})
KILLED = Evidence.returncode(-9, oom_own=0)


def rule(name: str, when: dict, *, tier: Tier = Tier.SIGNAL, **more) -> Rule:
    """A rule of a test, complete enough to be put into a table."""
    fields = {"kind": Kind.APPLICATION, "reason": "Test", "because": "It is a test."}
    return Rule(id=name, tier=tier, when=when, source="test", **(fields | more))


def source(*rules: Rule, read=lambda evidence, facts: None, **more) -> Source:
    """A source of a test; it is asked before the built-in ones."""
    return Source(name="test", read=read, rules=rules, **more)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (Evidence.verdict("manual", "Stopped").also(Evidence.cancel("bob")), "host.verdict"),
        (Evidence.cancel("bob").also(Evidence.deadline(5)), "engine.cancel"),
        (Evidence.deadline(5).also(Evidence.shutdown()), "engine.deadline.execution"),
        (Evidence.shutdown().also(Evidence.exception(ValueError("x"))), "engine.shutdown"),
        (Evidence.exception(ValueError("x")).also(Evidence.returncode(-9)), "python.exception"),
        (
            Evidence.returncode(-9).also(Evidence("process", {"exit_code": 1})),
            "process.sigkill.not-watched",
        ),
        (Evidence.returncode(3).also(Evidence.heartbeat(timeout=9)), "process.exit.nonzero"),
        (
            Evidence.heartbeat(timeout=9).also(
                Evidence("process", {"log_tail": "Task received SIGTERM"})
            ),
            "process.heartbeat.lost",
        ),
        (Evidence("process", {"log_tail": "Task received SIGTERM"}), "log.terminated"),
        (Evidence(), "unknown"),
    ],
)
def test_stronger_evidence_wins_whatever_else_was_seen(evidence: Evidence, expected: str):
    """Host, cancel, deadline, disruption, report, signal, exit, mismatch, log: in this order."""
    assert expected == Classifier().classify(TASK, evidence).rule


def test_a_broken_device_wins_over_the_plain_traceback_it_caused():
    """Hardware evidence in the log beats an exception that says nothing of it."""
    evidence = Evidence.exception(ValueError("loss is nan")).also(
        Evidence(
            "python", {"log_tail": ["NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus"]}
        )
    )

    details = Classifier().classify(TASK, evidence)

    assert (Kind.INFRA, "HardwareFailure") == (details.kind, details.reason)


@pytest.mark.parametrize("end", [Evidence.deadline(5), Evidence.cancel("bob")])
def test_a_kill_that_carries_out_a_deadline_or_a_cancel_changes_nothing(end: Evidence):
    """The verdict with the later SIGKILL is the verdict without it, but for the signal it names."""
    classifier = Classifier()

    alone = classifier.classify(TASK, end)
    killed = classifier.classify(TASK, end.also(Evidence.returncode(-9, sent=9)))

    assert (alone.kind, alone.reason, alone.rule) == (killed.kind, killed.reason, killed.rule)
    assert 9 == killed.signal


def test_user_rules_stand_above_everything():
    """A rule of the configuration decides before a third party, a host or any built-in rule."""
    rules = read_user_rules(
        [{"match": ["verdict.reason = Evicted"], "kind": "application", "reason": "OurQuota"}]
    )
    stranger = FailureDetails(kind=Kind.MANUAL, reason="Stranger")

    details = Classifier(rules, lambda task, evidence: stranger).classify(
        TASK, Evidence.verdict("infra", "Evicted")
    )

    assert (Kind.APPLICATION, "OurQuota", "user.0") == (details.kind, details.reason, details.rule)


def test_a_third_party_stands_above_the_built_in_rules():
    """What a `classify_failure` hook answers is the verdict, as it is."""
    stranger = FailureDetails(kind=Kind.MANUAL, reason="Stranger", rule="acme")

    assert stranger is Classifier(third_party=lambda task, evidence: stranger).classify(
        TASK, KILLED
    )


@pytest.mark.parametrize("answer", [None, "infra", {"kind": "infra"}, ValueError("no")])
def test_a_third_party_that_has_no_verdict_leaves_it_to_the_rules(answer, caplog):
    """None, nonsense and an exception of a third party each cost only its own answer."""

    def third_party(task, evidence):
        if isinstance(answer, Exception):
            raise answer
        return answer

    classifier = Classifier(third_party=third_party)

    assert "process.sigkill.no-oom-seen" == classifier.classify(TASK, KILLED).rule
    assert "process.sigkill.no-oom-seen" == classifier.classify(TASK, KILLED).rule
    assert (1 if isinstance(answer, Exception) else 0) == len(caplog.records)


def test_a_rule_that_raises_costs_only_itself_and_is_logged_once(caplog):
    """The verdict goes on with the next rule, and the log names the broken one once."""

    def broken(facts):
        raise ZeroDivisionError

    bad = rule("test.broken", {"signal": 9}, also=(Predicate("it breaks", broken),))
    classifier = Classifier(sources=(source(bad), *SOURCES))

    with caplog.at_level(logging.ERROR):
        verdicts = [classifier.classify(TASK, KILLED).rule for _ in range(3)]

    assert ["process.sigkill.no-oom-seen"] * 3 == verdicts
    assert 1 == len(caplog.records)
    assert "test.broken" in caplog.text


def test_a_reader_that_raises_costs_only_itself_and_is_logged_once(caplog):
    """What the other readers found is still judged."""

    def broken(evidence, facts):
        raise ZeroDivisionError

    classifier = Classifier(sources=(source(read=broken), *SOURCES))

    with caplog.at_level(logging.ERROR):
        verdicts = [classifier.classify(TASK, KILLED).rule for _ in range(3)]

    assert ["process.sigkill.no-oom-seen"] * 3 == verdicts
    assert ["reader test"] == [record.args[0] for record in caplog.records]


@pytest.mark.parametrize(
    "evidence", [None, 5, "x", object(), Evidence("process", {"signal": object()})]
)
def test_it_never_raises_whatever_it_is_given(evidence):
    """What is no evidence at all gives the verdict unknown."""
    assert Kind.UNKNOWN is Classifier().classify(TASK, evidence).kind
    assert Kind.UNKNOWN is Classifier().explain(TASK, evidence).details.kind


def test_a_derived_fact_is_computed_only_when_a_rule_asks_for_it():
    """Evidence that no rule on the fact can hold for never pays for it."""
    asked = []

    def derive(facts):
        asked.append(facts["signal"])
        return "yes"

    costly = source(
        rule("test.costly", {"test.costly": "yes", "signal": PRESENT}),
        derived={"test.costly": Derived(derive, ("signal",))},
    )
    classifier = Classifier(sources=(costly, *SOURCES))

    assert "process.exit.nonzero" == classifier.classify(TASK, Evidence.returncode(3)).rule
    assert [] == asked
    assert "test.costly" == classifier.classify(TASK, KILLED).rule
    assert [9] == asked


def test_a_fallback_is_asked_last_in_its_tier():
    """A fallback gives way to any other rule of its tier, wherever it stands in the table."""
    rules = (
        rule("test.fallback", {"signal": 9}, fallback=True),
        rule("test.plain", {"signal": PRESENT}),
    )

    assert (
        "test.plain" == Classifier(sources=(source(*rules), *SOURCES)).classify(TASK, KILLED).rule
    )


@pytest.mark.parametrize(
    ("observed", "proved", "expected"),
    [
        (None, None, Started.MAYBE),
        (Started.YES, None, Started.YES),
        (Started.YES, Started.NO, Started.NO),
        (Started.NO, None, Started.NO),
    ],
)
def test_started_is_what_was_seen_unless_the_rule_proves_better(observed, proved, expected):
    """Without proof it is maybe; a rule that proves something wins over the observer."""
    tested = source(rule("test.started", {"signal": 9}, started=proved))
    evidence = Evidence("process", {"signal": 9}, started=observed)

    assert expected is Classifier(sources=(tested, *SOURCES)).classify(TASK, evidence).started


def test_each_verdict_names_its_rule_and_the_facts_it_used():
    """The evidence summary holds the paths and values that the rule's conditions asked for."""
    details = Classifier().classify(TASK, Evidence.returncode(-9, oom_own=2).at(node="n1"))

    assert "process.sigkill.oom-own" == details.rule
    assert {("signal", 9), ("oom_own", 2)} == {(f.path, f.value) for f in details.evidence}
    assert ("local", "n1", 9, None) == (
        details.executor,
        details.node,
        details.signal,
        details.exit_code,
    )


def test_the_same_death_gives_the_same_verdict_and_another_task_its_own():
    """Verdicts that are said again never mix up executors, nodes or what was seen."""
    classifier = Classifier()
    other = Task("nightly", "load", executor="celery")

    first = classifier.classify(TASK, KILLED)

    assert first == classifier.classify(TASK, KILLED)
    assert "celery" == classifier.classify(other, KILLED).executor
    assert "n2" == classifier.classify(TASK, KILLED.at(node="n2")).node
    assert 7.0 == classifier.classify(TASK, Evidence.deadline(7)).time_limit
    assert 8.0 == classifier.classify(TASK, Evidence.deadline(8)).time_limit


def test_long_texts_are_cut_in_messages_and_facts():
    """A message of a megabyte leaves neither the message nor a fact of the verdict long."""
    details = Classifier().classify(TASK, Evidence.exception(ValueError("x" * 1_000_000)))

    assert 2_000 > len(details.message)
    assert all(2_000 > len(str(fact.value)) for fact in details.evidence)


def test_an_explanation_tells_rule_facts_rivals_and_the_next_step():
    """It holds the verdict, why, every fact with its path, what lost, and where to read on."""
    evidence = Evidence.deadline(5, elapsed=6).also(Evidence.returncode(-9, oom_own=0))

    told = Classifier().explain(TASK, evidence)

    assert "engine.deadline.execution" == told.details.rule
    assert "deadline" == told.tier
    assert ("deadline.limit", 5) in [(fact.path, fact.value) for fact in told.facts]
    assert "process.sigkill.no-oom-seen" == told.considered[0].rule
    assert "signal" == told.considered[0].tier
    assert told.because
    assert told.next_step
    assert told.source
    assert told.docs.startswith("docs/")
    assert told.details.rule == told.to_dict()["details"]["rule"]


def test_an_explanation_follows_a_user_rule_and_a_third_party():
    """The deciding rule is explained wherever it comes from; a stranger's verdict stays its own."""
    rules = read_user_rules(
        [{"match": ["signal = 9"], "kind": "infra", "reason": "Ours", "because": "We say so."}]
    )
    stranger = FailureDetails(kind=Kind.INFRA, reason="Theirs", message="They say so.", rule="acme")

    assert "We say so." == Classifier(rules).explain(TASK, KILLED).because
    told = Classifier(third_party=lambda task, evidence: stranger).explain(TASK, KILLED)
    assert ("They say so.", "third_party") == (told.because, told.tier)


def test_confidence_is_never_more_than_likely_for_what_a_log_shows():
    """An error that was only read out of a log is at most likely, and only ever the task's own."""
    evidence = Evidence(
        "airflow", {"exit_code": 1, "log_tail": "ModuleNotFoundError: No module named 'pandas'"}
    )

    details = Classifier().classify(TASK, evidence)

    assert (Kind.APPLICATION, "CodeLoadError") == (details.kind, details.reason)
    assert Confidence.LIKELY is details.confidence
