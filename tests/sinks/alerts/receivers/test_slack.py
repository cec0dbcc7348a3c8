"""Slack with a bot token: one message for a group, later news under it, nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from failhook.plugin import (
    ConfigError,
    Counters,
    ErrorInfo,
    Policy,
    SettingsTable,
    SystemClock,
    Task,
    Undelivered,
)
from failhook_sinks.alerts.model import Why
from failhook_sinks.alerts.receivers import open_receivers, slack, slack_webhook
from failhook_sinks.alerts.receivers.slack_listener import listening
from failhook_sinks.alerts.receivers.slack_terminal import in_terminal
from tests.sinks.alerts.receivers import slack_stand_in
from tests.sinks.alerts.receivers.notices import alert, notice, opened, resolved
from tests.sinks.alerts.receivers.slack_stand_in import CHANNEL, TOKEN, Answer
from tests.sinks.log.events import BROKEN, event

CODES = [
    ("ratelimited", True, ""),
    ("internal_error", True, ""),
    ("service_unavailable", True, ""),
    ("channel_not_found", False, "correct the setting channel"),
    ("not_in_channel", False, "invite the app"),
    ("is_archived", False, "name another"),
    ("invalid_auth", False, "token"),
    ("token_revoked", False, "token"),
    ("missing_scope", False, "chat:write"),
    ("msg_too_long", False, ""),
    ("something_new", False, ""),
]


HIDDEN = "xoxb-2-hidden"
ROOT = Path(__file__).parents[4]
TRACEBACK = """\
Traceback (most recent call last):
  File "/srv/etl/load.py", line 41, in load
    total += row["amount"]
             ~~~^^^^^^^^^^
KeyError: 'amount'
"""
SHOWN = alert(
    failed=event(
        task=Task(
            *("nightly", "load"),
            run_id="2026-01-02",
            attempt=3,
            owner="data",
            log_url="https://logs.example/nightly/load/3",
            executor="kubernetes",
        ),
        details=BROKEN,
        error=ErrorInfo(type="builtins.KeyError", message="'amount'", traceback=TRACEBACK),
        policy=Policy(retries=2),
        spent=Counters(user=2),
    ),
    first_cause="infra Preempted (likely): the node was reclaimed",
)


class Late:
    """A clock on which the time for a notification is nearly over once it has begun."""

    def __init__(self):
        self.asked = False

    def now(self):
        return SystemClock().now()

    def monotonic(self):
        seconds, self.asked = (7.9 if self.asked else 0.0), True
        return seconds


@pytest.fixture(scope="module")
def standing():
    """One stand-in for all tests of the module."""
    with slack_stand_in.slack() as stand_in:
        yield stand_in


@pytest.fixture
def there(standing):
    """A stand-in to which nothing was sent yet."""
    for each in (standing.posted, standing.calls, standing.answers, standing.refuses):
        each.clear()
    return standing


@pytest.fixture
def bot(there):
    """A receiver with a bot token."""
    return opened(slack, token=TOKEN, channel=CHANNEL, url=there.url)


@pytest.fixture
def hook(there):
    """A receiver with a webhook."""
    return opened(slack_webhook, url=there.hook)


def test_later_news_of_a_group_goes_under_its_message_which_shows_how_it_stands(there, bot):
    """One message in the channel for one incident: it turns green, and the thread has the story."""
    first = notice(alert())
    memory = bot.send(first)
    changed = replace(first, alerts=(alert(), alert(number=1)), why=Why.CHANGED, memory=memory)

    assert memory == bot.send(changed)
    assert "2 tasks failed" in there.posted[0].seen
    bot.send(resolved(changed))

    message, news, end = there.posted
    assert ["", message.ts, message.ts] == [each.thread for each in there.posted]
    assert "load-1" in news.seen
    assert "2 tasks are well again" in message.seen
    assert "2 tasks are well again" in end.seen


def test_only_what_is_new_is_told_under_the_message(there, bot):
    """The thread does not repeat, but says how many there are besides."""
    first = notice(alert())
    known = alert(is_new=False)

    bot.send(
        replace(first, alerts=(known, alert(number=1)), why=Why.CHANGED, memory=bot.send(first))
    )

    assert "load-0" not in there.posted[1].seen
    assert "and 1 more" in there.posted[1].seen
    assert "load-0" in there.posted[0].seen


def test_a_receiver_that_was_opened_anew_goes_on_under_the_same_message(there, bot):
    """What it needs to know is in its memory, which outlives the process."""
    memory = bot.send(notice())
    other = opened(slack, token=TOKEN, channel=CHANNEL, url=there.url)

    other.send(replace(notice(), why=Why.REMINDER, memory=memory))

    assert there.posted[0].ts == there.posted[1].thread
    assert "still: " in there.posted[1].seen


def test_a_message_that_was_deleted_is_made_anew(there, bot):
    """The news goes into the channel, though the thread would take it; later news under that."""
    memory = bot.send(notice())
    there.posted.clear()

    anew = bot.send(replace(notice(), why=Why.REMINDER, memory=memory))
    bot.send(resolved(notice(memory=anew)))

    first = json.loads(anew)["ts"]
    assert ["", first] == [each.thread for each in there.posted]
    assert first == there.posted[0].ts


@pytest.mark.parametrize("code", ["edit_window_closed", "cant_update_message"])
def test_a_message_that_cannot_be_changed_stays_and_has_the_news_under_it(there, bot, code):
    """It is still there to be seen."""
    memory = bot.send(notice())
    there.answers = [Answer.error(code)]

    assert memory == bot.send(replace(notice(), why=Why.REMINDER, memory=memory))
    assert ["", there.posted[0].ts] == [each.thread for each in there.posted]


def test_a_thread_that_is_gone_does_not_keep_the_news(there, bot):
    """Slack's words where not even a reply is taken."""
    memory = bot.send(notice())
    there.answers = [Answer.error("edit_window_closed"), Answer.error("thread_not_found")]

    anew = bot.send(replace(notice(), why=Why.REMINDER, memory=memory))

    assert ["", ""] == [each.thread for each in there.posted]
    assert there.posted[1].ts == json.loads(anew)["ts"]


@pytest.mark.parametrize("memory", ["{", "[]", '{"to": "#other", "channel": "C1", "ts": "1"}'])
def test_a_memory_of_something_else_begins_a_message_of_its_own(there, bot, memory):
    """Another channel in the configuration, or what another receiver remembered."""
    bot.send(notice(memory=memory))

    assert [""] == [each.thread for each in there.posted]


def test_a_reply_that_failed_is_sent_again_and_nothing_is_told_twice(there, bot):
    """First comes what may be done twice: a retry repeats the update, not a message."""
    reminder = replace(notice(), why=Why.REMINDER, memory=bot.send(notice()))
    there.answers += [Answer(body=json.dumps({"ok": True})), Answer(503)]

    with pytest.raises(Undelivered):
        bot.send(reminder)
    bot.send(reminder)

    assert 2 == len(there.posted)


def test_a_reminder_is_shown_in_the_channel_where_configured(there):
    """A thread of yesterday is out of sight."""
    loud = opened(slack, token=TOKEN, channel=CHANNEL, url=there.url, broadcast=True)

    loud.send(replace(notice(), why=Why.REMINDER, memory=loud.send(notice())))

    assert there.posted[1].payload["reply_broadcast"] is True


def test_mentions_come_from_the_configuration(there, bot, hook):
    """Users, groups and the channel can be called; all else in it is text. The end calls nobody."""
    told = notice(mention="<@U0123456> <!subteam^S0123456> @here and <you>")

    memory = bot.send(told)
    hook.send(told)
    bot.send(resolved(replace(told, memory=memory)))

    called = ["U0123456", "S0123456", "here"]
    assert [[], called, []] == [each.mentions for each in there.posted]
    assert "and <you>" in there.posted[1].seen


@pytest.mark.parametrize(("code", "retryable", "told"), CODES)
def test_what_may_pass_is_told_from_what_stays(there, code, retryable, told):
    """Slack says most errors with status 200; each has a remedy where there is one."""
    bot = opened(slack, token=TOKEN, channel=CHANNEL, url=there.url)
    hook = opened(slack_webhook, url=there.hook)
    for receiver, answer in (
        (bot, Answer.error(code)),
        (hook, Answer(429 if retryable else 403, code)),
    ):
        there.answers[:] = [answer] * 3
        with pytest.raises(Undelivered, match=code) as caught:
            receiver.send(notice())
        assert retryable is caught.value.retryable
        assert told in str(caught.value)


def test_slack_says_when_to_come_again(there, bot, hook):
    """429 with Retry-After is kept to by the outbox, and nobody sleeps here."""
    for receiver in (bot, hook):
        there.answers.append(Answer.error("ratelimited", 429, Retry_After="31"))
        with pytest.raises(Undelivered) as caught:
            receiver.send(notice())
        assert (True, 31.0) == (caught.value.retryable, caught.value.retry_after)
    assert 2 == len(there.calls)


@pytest.mark.parametrize(
    "answer",
    [
        *(Answer(500, "<html>"), Answer(200, "<html>log in"), Answer(200, "[1]"), Answer(502)),
        Answer(200, f'{{"ok": {"[" * 100_000}'),
        Answer(200, f'{{"ok": false, "at": {"9" * 5_000}}}'),
    ],
    ids=lambda answer: answer.body[:12],
)
def test_an_answer_that_is_none_of_slacks_may_pass(there, bot, hook, answer):
    """A gateway in front of Slack is ill; nothing counts as delivered."""
    for receiver in (bot, hook):
        there.answers.append(answer)
        with pytest.raises(Undelivered) as caught:
            receiver.send(notice())
        assert caught.value.retryable


def test_a_redirect_is_not_followed(there, bot, hook):
    """The token goes nowhere else."""
    for receiver in (bot, hook):
        there.answers.append(Answer(302, headers={"Location": there.hook}))
        with pytest.raises(Undelivered, match="redirect") as caught:
            receiver.send(notice())
        assert not caught.value.retryable
    assert 2 == len(there.calls)


def test_a_slack_that_says_nothing_is_given_up_in_time(there):
    """One deadline for all that a notification takes, and no retry of the client's own."""
    for module, settings in (
        (slack, {"token": TOKEN, "channel": CHANNEL, "url": there.url}),
        (slack_webhook, {"url": there.hook}),
    ):
        there.answers.append(Answer(silent=True))
        with pytest.raises(Undelivered, match="took too long") as caught:
            opened(module, Late(), **settings).send(notice())
        assert caught.value.retryable
    assert 2 == len(there.calls)


def test_no_error_repeats_a_secret(there, capfd):
    """Neither the token nor the address of a webhook, whatever comes back or does not."""
    receivers = [
        opened(slack, token=HIDDEN, channel=CHANNEL, url=there.url),
        opened(slack, token=HIDDEN, channel=CHANNEL, url="http://127.0.0.1:9/api/"),
        opened(slack_webhook, url=there.hook),
        opened(slack_webhook, url="http://127.0.0.1:9/services/T0/B0/hooksecret"),
    ]
    for receiver in receivers:
        there.answers.append(Answer(403, f"no: {HIDDEN} {there.hook}"))
        with pytest.raises(Undelivered) as caught:
            receiver.send(notice())
        told = "".join((str(caught.value), repr(receiver), *capfd.readouterr()))
        assert [] == [each for each in ("hidden", "hooksecret") if each in told]


def test_a_receiver_is_opened_without_slacks_client(there):
    """The client is imported when something is sent; that it is there is seen before."""
    code = (
        "import sys\n"
        "from failhook.plugin import SettingsTable, SystemClock\n"
        "from failhook_sinks.alerts.receivers import open_receivers\n"
        "table = SettingsTable({'type': 'slack', 'token': 't', 'channel': '#c'}, 'x')\n"
        "open_receivers({'x': table}, SystemClock())\n"
        "print('slack_sdk' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False\n" == done.stdout


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"channel": "#c"}, r"receivers\.x\.token is missing"),
        ({"token": "t"}, r"receivers\.x\.channel is missing"),
        ({"token": "t\n", "channel": "#c"}, r"receivers\.x\.token has characters"),
        ({"token": "t", "channel": "#c", "url": "slack"}, r"receivers\.x\.url "),
        ({"token": "t", "channel": "#c", "chanel": "#d"}, r"chanel is not a setting; did you mean"),
        ({"token": "t", "channel": "#c", "fallback": "y"}, r"receivers\.x\.fallback "),
    ],
)
def test_a_wrong_setting_is_named(settings, told):
    """With the place and what is allowed."""
    table = SettingsTable({"type": "slack", **settings}, "plugins", "alerts", "receivers", "x")

    with pytest.raises(ConfigError, match=told):
        open_receivers({"x": table}, SystemClock())


def test_a_client_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    """At configuration, and not when the first alert is lost."""
    monkeypatch.setitem(sys.modules, "slack_sdk", None)
    table = SettingsTable({"type": "slack_webhook", "url": "https://h/x"}, "receivers", "x")

    with pytest.raises(ConfigError, match=r"receivers\.x\.type .*failhook\[slack\]"):
        open_receivers({"x": table}, SystemClock())


def test_a_message_can_be_shown_in_a_terminal(there, hook):
    """What was sent, as people see it in Slack."""
    hook.send(notice())

    shown = in_terminal(there.posted[0].payload)

    assert "Verdict: application UserException (confirmed)" in shown
    assert "what UserException means <https://docs.example/reasons/userexception.md>" in shown


def test_the_page_shows_a_message_as_it_was_sent(there, bot):
    """docs/receivers.md has real output."""
    bot.send(notice(SHOWN, run_url="https://airflow.example/{workflow}/{run_id}"))

    page = (ROOT / "docs" / "receivers.md").read_text("utf-8")

    assert f"```text\n{in_terminal(there.posted[0].payload)}\n```" in page


def test_without_an_account_messages_are_shown_in_a_terminal():
    """Both types of receivers can be tried with nothing but this machine."""
    shown = []
    with listening(shown.append) as address:
        bot = opened(slack, token=TOKEN, channel=CHANNEL, url=f"{address}/api/")
        memory = bot.send(notice())
        bot.send(resolved(notice(memory=memory)))
        opened(slack_webhook, url=f"{address}/services/x").send(notice())

    headings = [text.partition("\n")[0] for text in shown]
    assert [
        f"in {CHANNEL}:",
        "the message now says:",
        "in its thread:",
        "in the webhook's channel:",
    ] == headings
    assert "nightly/load-0 failed for good" in shown[0]
    assert "nightly/load-0 is well again" in shown[2]
