"""What every plugin that sends events somewhere owes its users, as tests to inherit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from failhook.event import FailureEvent
from failhook.manager.outcome import Outcome, Status
from failhook.testing.clock import ManualClock
from failhook.testing.events import sample_event, sample_events
from failhook.testing.harness import Harness
from failhook.testing.server import Answer, LoopbackServer, Request, unused_url

_STATUSES: Final[Mapping[int, bool]] = MappingProxyType(
    {
        **dict.fromkeys((400, 401, 403, 404, 422), False),
        **dict.fromkeys((429, 500, 502, 503, 504), True),
    }
)
_WAIT: Final = 7


class PluginContract:
    """Subclass it, say how the plugin is made, and every test below runs against the real plugin.

    The other side is an HTTP server on loopback, reached through the plugin's own client.

    Attributes:
        secrets: what the plugin is given that must never be seen again.
        statuses: what a refusal with each HTTP status means: True where a later try can help.
        patience: seconds within which the plugin answers whatever the other side does; it is
            failhook's own time limit for a delivery unless set lower.
    """

    secrets: Sequence[str] = ()
    statuses: Mapping[int, bool] = _STATUSES
    patience: float = 10.0

    # -- what a plugin says of itself

    def make(self, url: str, clock: ManualClock) -> object:
        """Return the plugin, set up to send to `url` with `secrets`."""
        raise NotImplementedError

    def taken(self, request: Request) -> Answer:
        """Return what the other side says to a request that it takes."""
        del request
        return Answer()

    def refused(self, request: Request, status: int) -> Answer:
        """Return what the other side says to a request that it refuses.

        It repeats the request, secrets and all, as some servers do.
        """
        headers = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
        echo = f"{request.method} {request.path}\n{headers}\n\n"
        return Answer(status, echo + request.body[:2_000].decode("utf-8", "replace"))

    def wanted(self) -> Sequence[FailureEvent]:
        """Return events of which each makes the plugin send something."""
        return [sample_event()]

    # -- what it owes

    def test_every_event_is_taken(self) -> None:
        """Each type and kind of event is delivered, whatever stands in its texts."""
        with LoopbackServer(self.taken) as server:
            for event in sample_events():
                outcome = self._outcome(server.url, event)
                _owes(outcome.delivered, f"{event.type} {event.task.run_id}: {outcome.error}")
            _owes(bool(server.requests), "of all these events nothing was sent")

    def test_a_refusal_is_told_and_whether_a_later_try_can_help(self) -> None:
        """`Undelivered` says so by the status: what is busy or broken passes, the rest does not."""
        for status, retryable in self.statuses.items():
            outcome = self._refused(status)
            undelivered = outcome.status is Status.UNDELIVERED
            _owes(undelivered, f"status {status}: {outcome.status} instead of Undelivered")
            _owes(outcome.retryable is retryable, f"status {status}: retryable must be {retryable}")

    def test_the_time_that_the_other_side_asks_for_is_handed_on(self) -> None:
        """``Retry-After`` becomes ``retry_after``."""
        for status in (429, 503):
            outcome = self._refused(status, Retry_After=str(_WAIT))
            _owes(outcome.retry_after == _WAIT, f"status {status}: {outcome.retry_after}")

    def test_trouble_on_the_way_is_worth_a_later_try(self) -> None:
        """Nobody listens or answers, the line is dropped: `Undelivered`, retryable, in time."""
        outcomes = {
            "nobody listens": self._outcome(unused_url(), self.wanted()[0]),
            "nobody answers": self._answered(_silence),
            "the connection is dropped": self._answered(_drop),
        }
        for what, outcome in outcomes.items():
            undelivered = outcome.status is Status.UNDELIVERED and outcome.retryable
            _owes(undelivered, f"{what}: {outcome.status} {outcome.error}")

    def test_no_secret_is_in_what_it_says(self) -> None:
        """Neither in errors, nor in logs, nor in its ``repr``, though the other side repeats it."""
        with _logged() as lines:
            said = [self._refused(status).error for status in self.statuses]
            said.append(self._outcome(unused_url(), self.wanted()[0]).error)
            said.append(self._answered(_drop).error)
        said += [*lines, repr(self.make(unused_url(), ManualClock()))]
        for secret in self.secrets:
            for text in said:
                _owes(secret not in text, f"a secret is shown: {text.replace(secret, '<HERE>')}")

    def test_it_closes_in_time(self) -> None:
        """With an idle other side and with one that hangs; what it could not send it has told."""
        answers: Sequence[Callable[[Request], Answer]] = (self.taken, _silence)
        for answer in answers:
            with LoopbackServer(answer) as server:
                harness = self._harness(server.url)
                harness.deliver(*self.wanted(), within=self.patience)
                _owes(harness.close(self.patience), f"no close within {self.patience:g} s")

    # -- made here

    def _harness(self, url: str) -> Harness:
        clock = ManualClock()
        return Harness(self.make(url, clock), clock)

    def _outcome(self, url: str, event: FailureEvent) -> Outcome:
        harness = self._harness(url)
        try:
            return harness.deliver(event, within=self.patience)[0]
        finally:
            harness.close(self.patience)

    def _answered(self, answer: Callable[[Request], Answer]) -> Outcome:
        with LoopbackServer(answer) as server:
            return self._outcome(server.url, self.wanted()[0])

    def _refused(self, status: int, **headers: str) -> Outcome:
        return self._answered(lambda request: self.refused(request, status).with_headers(**headers))


def _silence(_: Request) -> Answer:
    return Answer(trouble="silent")


def _drop(_: Request) -> Answer:
    return Answer(trouble="dropped")


def _owes(kept: bool, what: str) -> None:  # noqa: FBT001 - reads as assert does
    """Raise AssertionError unless the promise is kept; `what` says what was seen."""
    if not kept:
        raise AssertionError(what)


@contextmanager
def _logged() -> Generator[list[str]]:
    """Collect what is logged, by any logger, at any level, with its traceback."""
    lines: list[str] = []
    handler = logging.Handler(logging.NOTSET)
    written = logging.Formatter()
    handler.emit = lambda record: lines.append(written.format(record))  # type: ignore[method-assign]  # no class for one line
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.NOTSET)
    try:
        yield lines
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
