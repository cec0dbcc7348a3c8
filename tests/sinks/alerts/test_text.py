"""A message says what failed, where, why, who pays, and what comes next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from failhook.plugin import (
    Confidence,
    Counters,
    ErrorInfo,
    EventType,
    Fact,
    FailureDetails,
    Kind,
    Policy,
    Started,
    Task,
)
from failhook.policy import Backoff
from failhook_sinks.alerts.entry import entry_of, page_of
from failhook_sinks.alerts.inert import inert, one_line, shortened
from failhook_sinks.alerts.model import Why
from failhook_sinks.alerts.text import message_of, plain
from tests.sinks.alerts.receivers.notices import alert, notice, resolved
from tests.sinks.log.events import BROKEN, event

GOLDEN = Path(__file__).with_name("messages.txt")
TASK = Task(
    *("nightly", "load"),
    run_id="2026-01-02",
    owner="team-data",
    log_url="https://logs.example/7",
    executor="kubernetes",
)
ROOT = ErrorInfo(type="builtins.KeyError", message="'amount'")
ERROR = ErrorInfo(type="etl.LoadError", message="cannot load", cause=ROOT)
RETRIES = Policy(retries=3, max_infra_refunds=5, backoff=Backoff(initial=30, jitter=False))


def infra(reason, **more):
    """Return a verdict that blames the infrastructure."""
    return FailureDetails(kind=Kind.INFRA, reason=reason, node="node-7", **more)


def failed(details, task=TASK, **more):
    """Return an alert on a failure under a policy with retries."""
    return alert(task, failed=event(task=task, details=details, policy=RETRIES, **more))


CAUSES = {
    "a node is lost": failed(
        infra(
            "NodeLost",
            confidence=Confidence.CONFIRMED,
            message="The node is gone.",
            evidence=(Fact("pod.status.reason", "NodeLost"),),
        )
    ),
    "retries are used up": alert(
        failed=event(
            task=replace(TASK, attempt=4),
            details=BROKEN,
            error=ERROR,
            policy=RETRIES,
            spent=Counters(3, 0, 0),
        ),
        first_cause="infra Preempted (likely): the node was reclaimed",
        count=47,
        runs=12,
    ),
    "a bug will be retried": failed(BROKEN, error=ERROR),
    "no retry helps": failed(replace(BROKEN, deterministic=True), error=ERROR),
    "it may have done its work": failed(infra("WorkerLost"), replace(TASK, idempotent=False)),
    "it never started": failed(infra("NeverStarted", started=Started.NO)),
    "it took too long": failed(
        FailureDetails(
            kind=Kind.TIMEOUT, reason="ExecutionTimeout", message="It ran 60 s, allowed were 60 s."
        )
    ),
    "somebody ended it": failed(FailureDetails(kind=Kind.MANUAL, reason="Cancelled", actor="ada")),
    "nobody knows": failed(
        FailureDetails(
            kind=Kind.UNKNOWN, reason="NonZeroExit", confidence=Confidence.GUESS, exit_code=1
        )
    ),
    "a success in doubt": alert(
        failed=event(EventType.SUSPECT_SUCCESS, task=TASK, details=infra("OutOfMemory"))
    ),
    "a better verdict": alert(
        failed=event(EventType.AMENDED, task=TASK, details=infra("Preempted"), previous=BROKEN)
    ),
    "a mapped task": failed(BROKEN, replace(TASK, map_index=3, generation=2, namespace="prod")),
    "a marked test": failed(BROKEN, simulated=True),
}


def told(name):
    """Return what is said of a cause."""
    run = "https://runs.example/{workflow}/{run_id}"
    return plain(message_of(notice(CAUSES[name], run_url=run)))


def test_messages_for_every_cause_are_as_agreed():
    """Read messages.txt as the people who are called at night will read it."""
    lines = "\n\n".join(f"# {name}\n\n{told(name)}" for name in CAUSES)

    assert GOLDEN.read_text("utf-8") == f"{lines}\n"


@pytest.mark.parametrize("name", CAUSES)
def test_no_message_says_nothing(name):
    """What is not known is left out; nothing is called killed externally."""
    said = told(name)

    assert [] == [each for each in ("None", "unknown error", "killed externally") if each in said]
    facts = ("Task: ", "Attempt: ", "Verdict: ", "Owner: team-data", "\nlog: ", "\nrun: ")
    assert [] == [fact for fact in facts if fact not in said]


def test_the_time_of_the_next_attempt_is_told():
    """Who is called can wait for it, or not."""
    said = told("a bug will be retried")

    assert "Next: attempt 2 at 03:04:35 UTC, in 30 s: " in said
    assert "Who pays: the user budget (user 1/3, " in said


def test_many_are_told_in_a_line_each_and_the_rest_is_counted():
    """A digest names the cause, how many, since when."""
    many = notice(*(alert(number=number) for number in range(3)), more=39, failures=90)

    first, second, *lines = plain(message_of(many)).splitlines()

    assert "42 tasks failed: KeyError/3f2a9c01" == first
    assert "90 failures since 2026-01-02 03:04 UTC" == second
    assert ["and 39 more"] == lines[3:]


@pytest.mark.parametrize("limit", [80, 500, 2_000])
def test_plain_text_keeps_to_its_limit_and_counts_the_rest(limit):
    """What does not fit is not dropped without a word."""
    many = notice(*(alert(number=number) for number in range(300)), failures=300)

    text = plain(message_of(many), limit)

    assert len(text) <= limit
    assert text.endswith(" more")


def test_the_end_calls_nobody():
    """What is well again wakes nobody."""
    called = notice(mention="@here")

    assert ("@here", "") == (message_of(called).mention, message_of(resolved(called)).mention)


def test_a_reminder_says_that_it_is_one():
    """It is not taken for another failure."""
    assert message_of(notice(why=Why.REMINDER)).title.startswith("still: ")


def test_the_page_of_a_reason_has_an_address():
    """Under the docs, or wherever the configuration says."""
    assert "https://d/reasons/nodelost.md" == page_of("https://d/", "NodeLost")
    assert "https://wiki/?q=A%2FB" == page_of("https://wiki/?q={reason}", "A/B")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "/var/log/x", "https://h/a|b", "https://h/ x"]
)
def test_what_is_no_address_of_the_web_is_no_link(url):
    """It is shown as text."""
    entry = entry_of(failed(BROKEN, replace(TASK, log_url=url)), notice())

    assert "log" not in [link.name for link in entry.links]
    assert ("Log", url) in entry.facts


def test_nothing_in_a_text_is_hidden():
    """Controls are written out; letters of all scripts, emoji and lines stay."""
    assert r"a\x00\x1b[31m\u202e\ud800" == inert("a\x00\x1b[31m\u202e\ud800")
    assert "\u05e9\u05dc \U0001f468\u200d\U0001f469\n\t" == inert(
        "\u05e9\u05dc \U0001f468\u200d\U0001f469\r\n\t"
    )
    assert "a b" == one_line(" a \n b ", 10)


@pytest.mark.parametrize("limit", [10, 60, 200])
def test_the_end_of_a_long_text_is_kept(limit):
    """It has as many characters as allowed, and its end where there is room."""
    text = f"{'a' * 500}{'b' * 500} the end"

    cut = shortened(text, limit)

    assert limit >= len(cut)
    assert cut.endswith("the end") or limit < 60
