"""The contract that plugin authors are handed catches what breaks it, and nothing else."""

from __future__ import annotations

import http.client
import json
import logging
import time
import urllib.error
import urllib.request

import pytest

from failhook.plugin import Undelivered, hookimpl
from failhook.testing import ManualClock, PluginContract

TOKEN = "s3cr3t-token"  # noqa: S105 - what must not be seen
PASSING = (429, 500, 502, 503, 504)


class Pager:
    """Posts each event as JSON, as a careful author writes it."""

    def __init__(self, url: str) -> None:
        self._url = url

    @hookimpl
    def on_task_failed(self, event):
        self.send(event)

    @hookimpl
    def on_task_recovered(self, event):
        self.send(event)

    def send(self, event):
        """Post it; a refusal is told with its status alone."""
        body = json.dumps(event.to_dict()).encode()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=0.2) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            with error:
                self.refuse(error)
        except (OSError, http.client.HTTPException):
            raise Undelivered("no answer") from None

    def refuse(self, error: urllib.error.HTTPError) -> None:
        """Say what a status means."""
        wait = error.headers.get("Retry-After")
        raise Undelivered(
            f"status {error.code}",
            retryable=error.code in PASSING,
            retry_after=None if wait is None else float(wait),
        ) from None


class PagerContract(PluginContract):
    """What an author writes."""

    secrets = (TOKEN,)
    patience = 2.0
    pager: type = Pager

    def make(self, url, clock):
        return self.pager(url)


class TestPager(PagerContract):
    """The careful one passes."""


class Blind(Pager):
    """Takes every refusal for one that passes."""

    def refuse(self, error):
        raise Undelivered(f"status {error.code}")


class Silent(Pager):
    """Swallows refusals."""

    def refuse(self, error):
        return


class Talkative(Pager):
    """Repeats what the other side said."""

    def refuse(self, error):
        raise Undelivered(error.read().decode(), retryable=error.code in PASSING)


class Chatty(Pager):
    """Logs what it sends."""

    def send(self, event):
        logging.getLogger("pager").debug("with %s", TOKEN)
        super().send(event)


class Shown(Pager):
    """Shows its token to whoever prints it."""

    def __repr__(self):
        return f"Shown({TOKEN!r})"


class Raw(Pager):
    """Lets its client's errors through."""

    def send(self, event):
        try:
            urllib.request.urlopen(self._url, b"{}", timeout=0.2).close()
        except urllib.error.HTTPError as error:
            error.close()
            raise


class Idle(Pager):
    """Sends nothing."""

    def send(self, event):
        return


class Patient(Pager):
    """Waits longer for an answer than it has."""

    def send(self, event):
        try:
            urllib.request.urlopen(self._url, b"{}", timeout=30).close()
        except urllib.error.HTTPError as error:
            with error:
                self.refuse(error)
        except (OSError, http.client.HTTPException):
            raise Undelivered("no answer") from None


class Slow(Pager):
    """Does not come back from its close."""

    def close(self, timeout):
        time.sleep(timeout + 5)


TAKEN = "test_every_event_is_taken"
TOLD = "test_a_refusal_is_told_and_whether_a_later_try_can_help"
TIME = "test_the_time_that_the_other_side_asks_for_is_handed_on"
TROUBLE = "test_trouble_on_the_way_is_worth_a_later_try"
HIDDEN = "test_no_secret_is_in_what_it_says"
CLOSE = "test_it_closes_in_time"

CAUGHT = [
    (Blind, TOLD, "status 400: retryable must be False"),
    (Blind, TIME, "status 429: None"),
    (Silent, TOLD, "status 400: delivered instead of Undelivered"),
    (Talkative, HIDDEN, "Authorization: Bearer <HERE>"),
    (Chatty, HIDDEN, "with <HERE>"),
    (Shown, HIDDEN, r"Shown\('<HERE>'\)"),
    (Raw, TOLD, "status 400: failed instead of Undelivered"),
    (Raw, TROUBLE, "nobody listens: failed urllib.error.URLError"),
    (Idle, TAKEN, "nothing was sent"),
    (Patient, TROUBLE, "nobody answers: failed no answer within 0.5 s"),
    (Slow, CLOSE, "no close within 0.5 s"),
]


@pytest.mark.parametrize(("pager", "test", "seen"), CAUGHT)
def test_a_plugin_that_breaks_a_promise_is_caught(pager, test, seen):
    """By the test of that promise, which says what it saw."""
    contract = PagerContract()
    contract.pager = pager
    contract.patience = 0.5

    with pytest.raises(AssertionError, match=seen):
        getattr(contract, test)()


def test_the_clock_of_the_kit_stands_still_until_it_is_moved():
    """So that an author's test of an interval takes no time."""
    clock = ManualClock()
    before = clock.now()

    clock.advance(90)
    clock.reach(before)

    assert 90.0 == (clock.now() - before).total_seconds() == clock.monotonic()
