"""Whatever a failure says, and however many there are: it arrives, and it calls nobody."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from failhook.plugin import (
    ErrorInfo,
    FailureDetails,
    Kind,
    SettingsTable,
    SystemClock,
    Task,
    Undelivered,
)
from failhook_sinks.alerts.inert import inert
from failhook_sinks.alerts.receivers import open_receivers, slack, slack_webhook
from tests.sinks.alerts.receivers import slack_stand_in
from tests.sinks.alerts.receivers.notices import HOSTILE, alert, notice, opened
from tests.sinks.alerts.receivers.slack_stand_in import CHANNEL, TOKEN
from tests.sinks.log.events import event

HOSTILES = (
    *("<!channel>", "<!here|x>", "<@U0123456>", "<#C0123456>", "@here", "&amp;", "&lt;!channel>"),
    *("<https://evil.example|log>", "https://evil.example", "```", "`", "*b*", "_i_", "~s~", ">"),
    *("\u202e", "\u2066", "\u05e9\u05dc\u05d5\u05dd", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    *("\x00", "\x1b[31m", "\ud800", "\n", "\r\n", "&", "|", ":fire:", "a" * 5_000, "&" * 5_000),
)
TEXTS = st.lists(st.sampled_from(HOSTILES) | st.text(max_size=20), max_size=6).map("".join)
BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


@pytest.fixture(scope="module")
def there():
    """One stand-in for all tests of the module."""
    with slack_stand_in.slack() as stand_in:
        yield stand_in


def receivers(there):
    """Return one of each type, with nothing sent yet."""
    for each in (there.posted, there.calls, there.answers, there.refuses):
        each.clear()
    return (
        opened(slack, token=TOKEN, channel=CHANNEL, url=there.url),
        opened(slack_webhook, url=there.hook),
    )


def failing(text, number=0, **more):
    """Return an alert every text of which is this."""
    details = FailureDetails(
        kind=Kind.APPLICATION, reason=text or "x", message=text, node=text, executor=text, code=text
    )
    name = inert(text)[:1_000] or "x"
    task = Task(name, name, run_id=name, owner=text, log_url=f"https://logs.example/{text}")
    error = ErrorInfo(type=text or "x", message=text, traceback=text * 3)
    failed = event(task=task, details=details, error=error)
    labels = {"owner": text, "reason": text}
    return alert(task, failed=failed, number=number, labels=labels, first_cause=text, **more)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=TEXTS, count=st.sampled_from([1, 1, 3]), refuses=st.sampled_from([(), ("blocks",)]))
def test_text_of_a_failure_calls_nobody_and_links_nowhere(there, text, count, refuses):
    """In blocks and in plain text: no mention, no link, nothing hidden, nothing left unescaped."""
    both = receivers(there)
    there.refuses.update(dict.fromkeys(refuses, "invalid_blocks"))
    told = notice(
        *(failing(text, number) for number in range(count)),
        group_labels={"cause": text},
        note=text,
        docs_url="",
    )

    for receiver in both:
        receiver.send(told)

    assert 2 == len(there.posted)
    for posted in there.posted:
        assert [] == posted.mentions
        assert [] == posted.loose
        assert all(link.startswith("https://logs.example/") for link in posted.links)
        assert not BIDI & {*posted.seen, *posted.payload["text"]}
        assert "\x00" not in posted.seen


def test_a_traceback_of_5_mb_arrives_with_its_beginning_and_its_end(there):
    """What is left out is counted."""
    both = receivers(there)
    line = f'  File "/srv/load.py", line 7, in load\n    {"x" * 50}\n'
    traceback = f"Traceback (most recent call last):\n{line * 55_000}KeyError: 'amount'"
    error = ErrorInfo(type="builtins.KeyError", message="'amount'", traceback=traceback)
    told = notice(alert(failed=event(error=error)))

    for receiver in both:
        receiver.send(told)

    for posted in there.posted:
        assert "Traceback (most recent call last)" in posted.seen
        assert "characters left out" in posted.seen
        assert "KeyError: 'amount'" in posted.seen[-200:]


@pytest.mark.parametrize("text", [HOSTILE, "&\U0001f4a5" * 450])
def test_10000_alerts_are_one_message_that_counts_what_it_does_not_name(there, text):
    """A digest of a bad night is read, not split and not refused."""
    both = receivers(there)
    told = notice(*(failing(text, number) for number in range(1_000)), more=9_000, failures=12_345)

    for receiver in both:
        receiver.send(told)

    assert 2 == len(there.calls)
    for posted in there.posted:
        assert "10,000 tasks failed" in posted.seen
        assert "12,345 failures since" in posted.seen
        assert " more" in posted.seen


@pytest.mark.parametrize("code", ["invalid_blocks", "msg_blocks_too_long"])
def test_what_slack_refuses_goes_smaller_and_then_as_plain_text(there, code):
    """Nothing is lost because Slack dislikes how it looks."""
    both = receivers(there)
    there.refuses["blocks"] = code

    for receiver in both:
        receiver.send(notice(alert(first_cause="OSError: gone"), mention="@here"))

    assert 6 == len(there.calls)
    for posted in there.posted:
        assert "First attempt: OSError: gone" in posted.seen
        assert ["here"] == posted.mentions


def test_what_slack_refuses_for_good_goes_to_the_fallback_with_the_reason(there):
    """And where that refuses it too, the dead letter says both reasons."""
    receivers(there)
    tables = {
        "team": {"type": "slack", "token": "xoxb-old", "channel": CHANNEL, "url": there.url},
        "spare": {"type": "slack_webhook", "url": there.hook},
    }
    tables["team"]["fallback"] = "spare"
    named = {name: SettingsTable(table, name) for name, table in tables.items()}
    team = open_receivers(named, SystemClock())["team"]

    team.send(notice(failing(HOSTILE)))
    there.refuses.update(blocks="no_service", text="no_service")
    with pytest.raises(Undelivered, match=r"team: .*invalid_auth.*spare: .*no_service") as caught:
        team.send(notice())

    (posted,) = there.posted
    assert "spare gets this because team did not take it" in posted.seen
    assert "invalid_auth" in posted.seen
    assert [] == posted.mentions
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"text": "x" * 4_001}, "msg_too_long"),
        ({"text": ""}, "no_text"),
        ({"blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        (
            {"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]},
            "invalid_blocks",
        ),
        ({"blocks": [{"type": "rich_text", "elements": []}]}, "invalid_blocks"),
        ({"blocks": [{"type": "text", "text": "x" * 3_000}] * 5}, "msg_blocks_too_long"),
    ],
)
def test_the_stand_in_refuses_what_slack_refuses(payload, code):
    """What is taken above is taken because it fits."""
    with pytest.raises(slack_stand_in.InvalidError, match=code):
        slack_stand_in.check(payload)


def test_the_stand_in_sees_who_is_called():
    """What calls nobody above calls nobody because nothing in it does."""
    posted = slack_stand_in.Posted({"text": "<!channel> <https://evil.example|log> a & b <"})

    assert ["channel"] == posted.mentions
    assert ["https://evil.example"] == posted.links
    assert ["&", "<"] == posted.loose
