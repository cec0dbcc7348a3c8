"""Whether an attempt may start, and what became of the one that was open before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.event import FailureEvent
from failhook.evidence import Evidence
from failhook.gate.ledger import Account, Attempt, AttemptState, Ledger, Owner
from failhook.host import Fate
from failhook.outbox.port import Store
from failhook.pipeline.records import (
    ALREADY_SUCCEEDED,
    FAILED,
    HELD,
    SUCCEEDED,
    Failure,
    Records,
    story,
)
from failhook.task import Task

DUPLICATE_EXECUTION: Final = "DuplicateExecution"


@dataclass(frozen=True, slots=True)
class Start:
    """The attempt may run.

    Attributes:
        attempt: with the ledger's number.
        event: the loss of the attempt that was open before, when that was news.
    """

    attempt: Attempt
    event: FailureEvent | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The attempt must not run.

    Attributes:
        decision: why not.
        story: every attempt so far, one line each.
        event: as of `Start`.
    """

    decision: Decision
    story: tuple[str, ...]
    event: FailureEvent | None = None


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
        with store.transaction() as ledger:
            account = ledger.account(task.key)
            last = None if account is None else self._last(ledger, task, account)
        if last is None or last.state is not AttemptState.OPEN:
            return None
        evidence = self._left_open(last, task)
        if evidence is None:
            return None
        return Loss(last.task.attempt_key, self.judge(last.task, evidence))

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
        event = None

        def told() -> tuple[str, ...]:
            return story(ledger.attempts(task.key))

        if last is not None and last.state is AttemptState.OPEN:
            if loss is None or loss.attempt_key != last.task.attempt_key:
                return Refusal(_duplicate(last, account), told())
            decision, event = self.records.failed(ledger, last.task, loss.failure)
            if decision.final:
                return Refusal(decision, told(), event)
        elif account.closed in (FAILED, HELD):
            decided = last.decision if last is not None else None
            resolved = account.closed == FAILED and decided and decided.action is Action.HOLD
            if decided is None or resolved:
                decided = _closed(task, account)
            return Refusal(decided, told())
        elif account.closed == SUCCEEDED and not task.idempotent:
            return Refusal(_done(task, account), told())
        number = max(task.attempt, account.last_attempt + 1)
        attempt = self.records.opened(ledger, task, self.me, oom_host, number)
        return Start(attempt, event=event)

    def _last(self, ledger: Ledger, task: Task, account: Account) -> Attempt | None:
        return ledger.attempt(task.at_attempt(max(1, account.last_attempt)).attempt_key)

    def _left_open(self, last: Attempt, task: Task) -> Evidence | None:
        """Return the evidence that an open attempt is over; None when it still runs."""
        if last.owner is not None and _same_process(last.owner, self.me):
            return _unreported(last) if task.attempt > last.task.attempt else None
        fate: Fate = "process_gone" if last.owner is None else self.fate(last.owner)
        return None if fate == "alive" else lost(last, fate)


def lost(attempt: Attempt, fate: Fate) -> Evidence:
    """Return the evidence that an attempt's supervisor is gone."""
    owner = attempt.owner or Owner("", 0)
    why = "started_elsewhere" if fate == "elsewhere" else fate
    return Evidence.lost(host=owner.host, pid=owner.pid, why=why)


def _unreported(attempt: Attempt) -> Evidence:
    """Return the evidence of a host that goes on without saying how an attempt ended."""
    message = f"The host began another attempt and never said how {attempt.task.attempt} ended."
    return Evidence.verdict("unknown", "StateMismatch", message=message, started="yes")


def _same_process(one: Owner, other: Owner) -> bool:
    return (one.host, one.pid, one.started, one.boot_id) == (
        other.host,
        other.pid,
        other.started,
        other.boot_id,
    )


def _duplicate(attempt: Attempt, account: Account) -> Decision:
    owner = attempt.owner or Owner("", 0)
    why = (
        f"attempt {attempt.task.attempt} is running already, "
        f"supervised by process {owner.pid} on {owner.host}"
    )
    return _refusal("gate.duplicate", why, DUPLICATE_EXECUTION, attempt.task.attempt, account)


def _closed(task: Task, account: Account) -> Decision:
    why = f"the task is closed ({account.closed}); clear it to begin a new generation"
    return _refusal("gate.closed", why, None, task.attempt, account)


def _done(task: Task, account: Account) -> Decision:
    why = "the task has succeeded and must not run twice; clear it to begin a new generation"
    return _refusal("gate.already-succeeded", why, ALREADY_SUCCEEDED, task.attempt, account)


def _refusal(rule: str, why: str, code: str | None, attempt: int, account: Account) -> Decision:
    spent = Counters(account.user, account.infra, account.system)
    return Decision(
        action=Action.FAIL,
        message=f"fail: {why}",
        charge=Charge.NONE,
        because=Because(rule, why),
        before=spent,
        after=spent,
        attempt=attempt,
        max_tries=account.user + account.infra + account.system,
        code=code,
    )
