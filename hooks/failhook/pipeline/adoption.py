"""Whether an attempt may start, and what became of the one that was open before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from failhook.decision import Action, Decision
from failhook.details import Started
from failhook.errors import NothingToResolveError
from failhook.event import FailureEvent
from failhook.evidence import Evidence
from failhook.gate.ledger import Account, Attempt, AttemptState, Ledger, Owner
from failhook.host import Fate
from failhook.outbox.port import Store
from failhook.outbox.within import within
from failhook.pipeline.answers import (
    FAILED,
    HELD,
    SUCCEEDED,
    is_closed,
    is_done,
    runs_already,
)
from failhook.pipeline.records import Failure, Records, Resolution
from failhook.pipeline.story import story
from failhook.task import Task


@dataclass(frozen=True, slots=True)
class Start:
    """The attempt may run.

    Attributes:
        attempt: with the ledger's number.
        events: of the loss of the attempt that was open before, when that was news.
    """

    attempt: Attempt
    events: Sequence[FailureEvent] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """The attempt must not run.

    Attributes:
        decision: why not.
        story: every attempt so far, one line each.
        events: as of `Start`.
    """

    decision: Decision
    story: tuple[str, ...]
    events: Sequence[FailureEvent] = ()


@dataclass(frozen=True, slots=True)
class Loss:
    """An attempt that was left open and is over, with the verdict on it."""

    attempt_key: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class Adoption:
    """Judges starts: the same key that comes back is the best witness of a lost supervisor.

    Attributes:
        records: writes the ledger.
        me: this process.
        fate: tells what became of a supervisor.
        judge: turns evidence into a failure.
    """

    records: Records
    me: Owner
    fate: Callable[[Owner], Fate]
    judge: Callable[[Task, Evidence], Failure]

    def loss(self, store: Store, task: Task) -> Loss | None:
        """Judge the loss that a start would have to report, outside of any transaction.

        Plugins are asked for their verdict here, and a plugin may want the store itself.
        """
        last = within(store, lambda ledger: self._last_of(ledger, task))
        if last is None or last.state is not AttemptState.OPEN:
            return None
        evidence = self._left_open(last, task)
        if evidence is None:
            return None
        return Loss(last.task.attempt_key, self.judge(last.task, evidence))

    def loss_of(self, store: Store, key: str, resolution: Resolution, actor: str) -> Loss | None:
        """Judge the attempt of a task that somebody resolves, where it was left open.

        Returns:
            None where no attempt is open, or the task is on hold.

        Raises:
            NothingToResolveError: its supervisor lives.
        """
        last = within(store, lambda ledger: _left(ledger, key))
        if last is None:
            return None
        fate: Fate = "process_gone" if last.owner is None else self.fate(last.owner)
        if fate == "alive" and last.owner is not None:
            msg = (
                f"nothing of {key} is on hold or lost: attempt {last.task.attempt} is supervised "
                f"by process {last.owner.pid} on {last.owner.host}, which lives; end it first"
            )
            raise NothingToResolveError(msg)
        if resolution == "fail":
            evidence = Evidence.cancel(actor, action="mark_failed", started=Started.YES)
        else:
            evidence = lost(last, "process_gone" if fate == "elsewhere" else fate)
        return Loss(last.task.attempt_key, self.judge(last.task, evidence))

    def resolved(
        self, ledger: Ledger, key: str, resolution: Resolution, actor: str, loss: Loss | None
    ) -> tuple[Decision, Sequence[FailureEvent]]:
        """Release what is on hold, or close what was left open, as somebody says.

        Raises:
            NothingToResolveError: nothing of the task is on hold or lost.
        """
        left = None if loss is None else ledger.attempt(loss.attempt_key)
        if loss is None or left is None or left.state is not AttemptState.OPEN:
            return self.records.resolved(ledger, key, resolution, actor)
        if resolution == "succeeded":
            return self.records.said_done(ledger, left, loss.failure, actor)
        decision, events = self.records.failed(ledger, left.task, loss.failure)
        if decision.action is Action.HOLD:
            decision, _ = self.records.resolved(ledger, key, resolution, actor)
        return decision, events

    def _last_of(self, ledger: Ledger, task: Task) -> Attempt | None:
        account = ledger.account(task.key)
        return None if account is None else self._last(ledger, task, account)

    def start(
        self, ledger: Ledger, task: Task, oom_host: int | None, loss: Loss | None
    ) -> Start | Refusal:
        """Open the next attempt of a task, or say why it must not run.

        An attempt that is still open while its supervisor is gone is reported as lost first; the
        gate's word on that loss decides whether another one may begin.

        Args:
            ledger: within one transaction.
            task: as the host counts it.
            oom_host: the host's OOM counter now.
            loss: what `loss` found just before.
        """
        account = ledger.account(task.key)
        if account is None:
            return Start(self.records.opened(ledger, task, self.me, oom_host, task.attempt))
        last = self._last(ledger, task, account)
        events: Sequence[FailureEvent] = ()

        def told() -> tuple[str, ...]:
            return story(ledger.attempts(task.key))

        if last is not None and last.state is AttemptState.OPEN:
            if loss is None or loss.attempt_key != last.task.attempt_key:
                return Refusal(runs_already(last, account), told())
            decision, events = self.records.failed(ledger, last.task, loss.failure)
            if decision.final:
                return Refusal(decision, told(), events)
        elif account.closed in (FAILED, HELD):
            decided = last.decision if last is not None else None
            resolved = account.closed == FAILED and decided and decided.action is Action.HOLD
            if decided is None or resolved:
                decided = is_closed(task, account)
            return Refusal(decided, told())
        elif account.closed == SUCCEEDED and (not task.idempotent or _given_up(last)):
            return Refusal(is_done(task, account), told())
        number = max(task.attempt, account.last_attempt + 1)
        attempt = self.records.opened(ledger, task, self.me, oom_host, number)
        return Start(attempt, events)

    def _last(self, ledger: Ledger, task: Task, account: Account) -> Attempt | None:
        return ledger.attempt(task.at_attempt(max(1, account.last_attempt)).attempt_key)

    def _left_open(self, last: Attempt, task: Task) -> Evidence | None:
        """Return the evidence that an open attempt is over; None when it still runs."""
        if last.owner is not None and last.owner.is_process(self.me):
            return _unreported(last) if task.attempt > last.task.attempt else None
        fate: Fate = "process_gone" if last.owner is None else self.fate(last.owner)
        return None if fate == "alive" else lost(last, fate)


def _left(ledger: Ledger, key: str) -> Attempt | None:
    """Return the last attempt of a task, if it is open and the task not on hold."""
    account = ledger.account(key)
    last = None if account is None or account.closed == HELD else ledger.attempts(key)[-1:]
    return last[0] if last and last[0].state is AttemptState.OPEN else None


def _given_up(last: Attempt | None) -> bool:
    """Return whether a decision was made on the last attempt of a task that has succeeded.

    Then a success was told late, and the start is of the retry that was granted before. Without one
    the task ended well, and somebody wants it to run again.
    """
    return last is not None and last.decision is not None


def lost(attempt: Attempt, fate: Fate) -> Evidence:
    """Return the evidence that an attempt's supervisor is gone."""
    owner = attempt.owner or Owner("", 0)
    why = "started_elsewhere" if fate == "elsewhere" else fate
    return Evidence.lost(host=owner.host, pid=owner.pid, why=why)


def _unreported(attempt: Attempt) -> Evidence:
    """Return the evidence of a host that goes on without saying how an attempt ended."""
    message = f"The host began another attempt and never said how {attempt.task.attempt} ended."
    return Evidence.verdict("unknown", "StateMismatch", message=message, started="yes")
