from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest

from failhook.details import Confidence, Fact, FailureDetails, Kind, Started
from failhook.evidence import Evidence
from failhook.manager import Limits
from failhook.plugin import hookimpl

EVIDENCE = Evidence.returncode(3)
PATIENT = Limits(ask=30.0)
"""For answers that do come, however busy the machine is."""


def classifier(answer, name="Classifier", **options):
    """Return a plugin whose classify_failure calls this."""

    @hookimpl(**options)
    def classify_failure(self, task, evidence):
        return answer()

    return type(name, (), {"classify_failure": classify_failure})


def verdict(reason, **more):
    """Return a verdict with this reason."""
    return FailureDetails(kind=Kind.APPLICATION, reason=reason, **more)


@pytest.fixture
def ask(make_manager, event):
    """Ask these plugins about one failure."""

    def ask(*plugins, limits=PATIENT):
        manager = make_manager(*plugins, limits=limits)
        return manager.ask(event.task, EVIDENCE), manager

    return ask


def test_nobody_is_asked_where_nobody_classifies(ask):
    """Without an implementation there is no verdict, no thread and no counter."""
    before = threading.active_count()

    class Other:
        @hookimpl
        def on_task_failed(self):
            pass

    details, _ = ask(Other)

    assert details is None
    assert before == threading.active_count()


def test_first_verdict_in_pluggy_order_wins(ask):
    """The last registered is asked first, trylast last; None leaves it to the next."""
    details, manager = ask(
        classifier(lambda: verdict("Late"), "late", trylast=True),
        classifier(lambda: verdict("Early"), "early"),
        classifier(lambda: None, "silent"),
    )

    assert "Early" == details.reason
    assert {"silent": 1, "early": 1, "late": 0} == {
        health.plugin: health.delivered for health in manager.health()
    }


def test_classifier_is_given_task_and_evidence(make_manager, event):
    """The hook gets the task and the evidence as the executor gave them."""
    seen = []

    class Classifier:
        @hookimpl
        def classify_failure(self, evidence, task=None):
            seen.append((task, evidence))

    make_manager(Classifier, limits=PATIENT).ask(event.task, EVIDENCE)

    assert [(event.task, EVIDENCE)] == seen


def test_verdict_names_its_plugin_as_the_rule(ask):
    """Each verdict names its rule: a plugin's own, else the plugin."""
    assert "plugin:Classifier" == ask(classifier(lambda: verdict("DiskFull")))[0].rule
    assert "acme.7" == ask(classifier(lambda: verdict("DiskFull", rule="acme.7")))[0].rule


def test_plain_strings_become_the_closed_sets(ask):
    """A verdict written with plain strings is as good as one written with the enumerations."""
    details, _ = ask(
        classifier(
            lambda: FailureDetails(
                kind="infra",
                reason="Evicted",
                confidence="confirmed",
                started="yes",
                evidence=[Fact("pod.reason", "Evicted")],
                retry_after=5,
            )
        )
    )

    assert (Kind.INFRA, Confidence.CONFIRMED) == (details.kind, details.confidence)
    assert Started.YES is details.started
    assert type(details.kind) is Kind
    assert details == FailureDetails.from_dict(details.to_dict())


class Nameless:
    def __repr__(self):
        return "object()"


class Lying(FailureDetails):
    """A verdict that raises when it is read."""

    def __getattribute__(self, name):
        raise SystemExit(5)


NONSENSE = {
    "text": (lambda: "infra", "it answered str, not FailureDetails or None"),
    "number": (lambda: 7, "it answered int"),
    "dictionary": (lambda: {"kind": "infra"}, "it answered dict"),
    "mock": (lambda: Mock(spec=verdict("X")), "it answered Mock"),
    "kind": (
        lambda: FailureDetails(kind="cosmic", reason="Ray"),
        "its kind is 'cosmic', not one of",
    ),
    "kind list": (lambda: FailureDetails(kind=[], reason="Ray"), "its kind is [], not one of"),
    "no reason": (lambda: verdict(""), "its reason is '', not one token"),
    "sentence": (lambda: verdict("disk is full"), "its reason is 'disk is full', not one token"),
    "reason type": (lambda: verdict(None), "its reason is None, not str"),
    "exit code": (lambda: verdict("X", exit_code="1"), "its exit_code is '1', not int | None"),
    "nan": (lambda: verdict("X", retry_after=float("nan")), "its retry_after is nan, not float"),
    "fact": (
        lambda: verdict("X", evidence=(Fact("a", Nameless()),)),
        "its evidence is object(), not JsonScalar",
    ),
    "facts": (lambda: verdict("X", evidence=7), "TypeError: 'int' object is not iterable"),
    "flag": (lambda: verdict("X", cleanup="yes"), "its cleanup is 'yes', not bool"),
    "hint": (lambda: verdict("X", hint="pray"), "its hint is 'pray', not one of"),
    "lying": (lambda: Lying(kind=Kind.INFRA, reason="X"), "SystemExit: 5"),
    "raising": (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
    "exiting": (lambda: sys.exit(3), "SystemExit: 3"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_passed_over_with_one_line(make_manager, event, caplog, name):
    """An answer that is no sound verdict is logged once, and the next plugin is asked."""
    answer, message = NONSENSE[name]
    manager = make_manager(
        classifier(lambda: verdict("Sound"), "sound"),
        classifier(answer, "broken"),
        limits=PATIENT,
    )

    reasons = [manager.ask(event.task, EVIDENCE).reason for _ in range(3)]

    assert ["Sound"] * 3 == reasons
    (record,) = caplog.records
    assert f"plugin 'broken': classify_failure failed: {message}" in record.getMessage()


def test_every_field_of_a_verdict_is_checked(ask):
    """A full verdict comes through unchanged, whatever fields the model has."""
    full = FailureDetails.from_dict(
        {
            **verdict("DiskFull", rule="acme.7", message="no space \ud800").to_dict(),
            "message": "no space",
            "executor": "local",
            "exit_code": 1,
            "signal": 9,
            "executor_side": True,
            "cleanup": True,
            "node": "n1",
            "code": "E1",
            "retry_after": 1.5,
            "time_limit": 2.5,
            "elapsed": 3.5,
            "actor": "me",
            "hint": "other_node",
        }
    )

    assert full == ask(classifier(lambda: full))[0]


def test_text_that_no_writer_accepts_is_escaped(ask):
    """Lone surrogates in a stranger's verdict do not reach the store."""
    details, _ = ask(classifier(lambda: verdict("X", message="a\ud800b")))

    assert r"a\ud800b" == details.message


def test_classifier_that_hangs_is_passed_over_until_it_returns(make_manager, event):
    """A hung one holds one thread, is not asked again meanwhile, and is asked once it is back."""
    release, entered = threading.Event(), []

    def hang():
        entered.append(1)
        release.wait(60)
        return verdict("Late")

    manager = make_manager(
        classifier(lambda: verdict("Sound"), "sound"),
        classifier(hang, "hung"),
        limits=Limits(ask=0.2, failures=100),
    )
    try:
        reasons = [manager.ask(event.task, EVIDENCE).reason]
        threads = threading.active_count()
        reasons += [manager.ask(event.task, EVIDENCE).reason for _ in range(50)]
        assert threads == threading.active_count()
    finally:
        release.set()

    assert ["Sound"] * 51 == reasons
    assert [1] == entered
    hung = next(health for health in manager.health() if health.plugin == "hung")
    assert (1, 1) == (hung.failed, hung.slow)
    while "Late" != manager.ask(event.task, EVIDENCE).reason:
        release.wait(0.01)


def test_healthy_classifier_is_asked_by_many_threads(make_manager, event):
    """Threads that ask at once wait for each other: none of them is left without a verdict."""
    manager = make_manager(classifier(lambda: verdict("Sound")), limits=PATIENT)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: manager.ask(event.task, EVIDENCE), range(200)))

    assert {"Sound"} == {answer.reason for answer in answers}


def test_classifier_that_keeps_failing_is_not_asked_for_a_while(make_manager, event, clock):
    """A classifier in quarantine costs nothing; the probe that succeeds ends it."""
    asked = []

    def answer():
        asked.append(1)
        return verdict("Sound") if len(asked) > 5 else "nonsense"

    manager = make_manager(classifier(answer), clock=clock, limits=PATIENT)

    for _ in range(20):
        assert manager.ask(event.task, EVIDENCE) is None
    assert 5 == len(asked)
    clock.seconds += 31
    assert "Sound" == manager.ask(event.task, EVIDENCE).reason


def test_quarantine_as_classifier_does_not_touch_events(make_manager, event, clock):
    """A plugin whose classify_failure keeps failing still hears every event."""
    heard = []

    class Both(classifier(lambda: "nonsense")):
        @hookimpl
        def on_task_failed(self):
            heard.append(1)

    manager = make_manager(Both, clock=clock, limits=PATIENT)
    for _ in range(5):
        manager.ask(event.task, EVIDENCE)

    assert manager.ready("Both") is None
    assert manager.call("Both", event).delivered
    assert [1] == heard
