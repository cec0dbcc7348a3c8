"""What one report changes in the ledger, and which event it makes: each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from failhook.clock import Clock
from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.errors import NothingToResolveError
from failhook.event import EventType, FailureEvent
from failhook.event_build import build_event, redacted_task
from failhook.gate.amend import improves, moved
from failhook.gate.decide import decide
from failhook.gate.ledger import Account, Attempt, AttemptState, Ledger, Owner
from failhook.gate.overrides import Policies
from failhook.phases import Phase
from failhook.redact import Redactor
from failhook.task import Task

Resolution = Literal["retry", "fail", "succeeded"]
RESOLUTIONS: Final = ("retry", "fail", "succeeded")

SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
HELD: Final = "held"
ALREADY_SUCCEEDED: Final = "AlreadySucceeded"


class Failure(NamedTuple):
    """What is known of a failed attempt when it is reported."""

    details: FailureDetails
    error: ErrorInfo | None = None


@dataclass(frozen=True, slots=True)
class Records:
    """Writes reports into the ledger and makes their events.

    Attributes:
        policies: what each task may cost.
        redactor: takes secrets out before anything is stored.
        clock: the time.
        random: returns a number in 0..1 for the jitter of backoffs.
        observer: who reports: host and process.
    """

    policies: Policies
    redactor: Redactor
    clock: Clock
    random: Callable[[], float]
    observer: str = ""

    def opened(
        self, ledger: Ledger, task: Task, owner: Owner, oom_host: int | None, number: int
    ) -> Attempt:
        """Open attempt `number` of a task for a supervisor."""
        now = self.clock.now()
        attempt = Attempt(
            task=redacted_task(task.at_attempt(number), self.redactor),
            state=AttemptState.OPEN,
            owner=owner,
            opened_at=now,
            oom_host=oom_host,
        )
        account = ledger.account(task.key) or _new_account(task)
        ledger.save_attempt(attempt)
        ledger.save_account(
            account._replace(
                last_attempt=max(number, account.last_attempt),
                first_started_at=account.first_started_at or now,
                phases=account.phases.then(Phase.EXECUTING, now),
                closed="",
            )
        )
        return attempt

    def failed(
        self, ledger: Ledger, task: Task, failure: Failure, *, simulated: bool = False
    ) -> tuple[Decision, FailureEvent | None]:
        """Count a failed attempt once; return the decision, and the event if there is news."""
        account = ledger.account(task.key)
        attempt = None
        if account is None:  # then nothing is known of any attempt
            account = _NOBODY
        else:
            attempt = ledger.attempt(task.attempt_key)
            if attempt is not None and attempt.state is not AttemptState.OPEN:
                return self._again(ledger, attempt, account, failure)
        now = self.clock.now()
        first_started_at = account.first_started_at or now
        spent = Counters(account.user, account.infra, account.system)
        if account.closed and attempt is None:
            decision = _closed_before(task, account.closed, spent)
        else:
            decision = decide(
                failure.details,
                self.policies.of(task),
                spent,
                attempt=task.attempt,
                idempotent=task.idempotent,
                elapsed=(now - first_started_at).total_seconds(),
                random=self.random(),
            )
        phase = Phase.RETRYABLE_FAILURE if decision.retry else Phase.PERMANENT_FAILURE
        phases = account.phases.then(phase, now, failure.details.reason)
        event = build_event(
            type=EventType.FAILED,
            task=task,
            details=failure.details,
            error=failure.error,
            decision=decision,
            first_failure=account.first_failure,
            first_error=account.first_error,
            phases=phases,
            started_at=None if attempt is None else attempt.opened_at,
            ended_at=now,
            observed_at=now,
            observer=self.observer,
            simulated=simulated,
            redactor=self.redactor,
        )
        decision = event.decision or decision
        line = root_line(event.error)
        first = account.first_failure is None
        ledger.save_attempt(
            Attempt(
                task=_kept(task, event.task),
                state=AttemptState.FAILED,
                owner=None if attempt is None else attempt.owner,
                opened_at=None if attempt is None else attempt.opened_at,
                closed_at=now,
                details=event.failure_details,
                decision=decision,
                error_line=line,
            )
        )
        ledger.save_account(
            Account(
                key=task.key,
                job_key=task.job_key,
                user=decision.after.user,
                infra=decision.after.infra,
                system=decision.after.system,
                last_attempt=max(task.attempt, account.last_attempt),
                failures=account.failures + 1,
                first_started_at=first_started_at,
                first_failure=event.failure_details if first else account.first_failure,
                first_error=line if first else account.first_error,
                phases=event.phases,
                closed=account.closed or _closed_by(decision),
            )
        )
        return decision, event

    def _again(
        self, ledger: Ledger, attempt: Attempt, account: Account, failure: Failure
    ) -> tuple[Decision, FailureEvent | None]:
        """Answer a repeated report as the first was answered; a better verdict amends it once."""
        decision, previous = attempt.decision, attempt.details
        if decision is None or previous is None:
            return _already_succeeded(attempt, account), None
        if attempt.revision or attempt.state is not AttemptState.FAILED:
            return decision, None
        if not improves(previous, failure.details):
            return decision, None
        spent = Counters(account.user, account.infra, account.system)
        if not account.closed:
            policy = self.policies.of(attempt.task)
            spent, _ = moved(
                spent, decision, failure.details, policy, idempotent=attempt.task.idempotent
            )
        event = build_event(
            type=EventType.AMENDED,
            task=attempt.task,
            details=failure.details,
            error=failure.error,
            decision=decision,
            previous=previous,
            first_failure=account.first_failure,
            first_error=account.first_error,
            phases=account.phases,
            started_at=attempt.opened_at,
            ended_at=attempt.closed_at,
            observed_at=self.clock.now(),
            observer=self.observer,
            revision=attempt.revision + 1,
            redactor=self.redactor,
        )
        ledger.save_attempt(
            attempt._replace(details=event.failure_details, revision=attempt.revision + 1)
        )
        ledger.save_account(
            account._replace(user=spent.user, infra=spent.infra, system=spent.system)
        )
        return decision, event

    def succeeded(
        self, ledger: Ledger, task: Task, suspect: Failure | None
    ) -> Sequence[FailureEvent]:
        """Close an attempt as a success; return what listeners are to hear of it."""
        now = self.clock.now()
        attempt = ledger.attempt(task.attempt_key) or Attempt(
            task=redacted_task(task, self.redactor), state=AttemptState.OPEN
        )
        if attempt.state is AttemptState.SUCCEEDED:
            return ()
        account = ledger.account(task.key) or _new_account(task)
        phases = account.phases.then(Phase.COMPLETED, now)
        closing = account._replace(phases=phases, closed=SUCCEEDED)
        closing = closing._replace(last_attempt=max(task.attempt, account.last_attempt))
        events: list[FailureEvent] = []
        failures = [each for each in ledger.attempts(task.key) if each.details is not None]
        if failures and failures[-1].details is not None:
            events.append(
                self._closing(EventType.RECOVERED, attempt, closing, Failure(failures[-1].details))
            )
        if suspect is not None:
            events.append(self._closing(EventType.SUSPECT_SUCCESS, attempt, closing, suspect))
        ledger.save_attempt(
            attempt._replace(
                state=AttemptState.SUCCEEDED,
                closed_at=now,
                suspect=suspect is not None,
            )
        )
        ledger.save_account(closing)
        return events

    def _closing(
        self,
        kind: EventType,
        attempt: Attempt,
        account: Account,
        failure: Failure,
    ) -> FailureEvent:
        now = self.clock.now()
        return build_event(
            type=kind,
            task=attempt.task,
            details=failure.details,
            error=failure.error,
            first_failure=account.first_failure,
            first_error=account.first_error,
            phases=account.phases,
            started_at=attempt.opened_at,
            ended_at=now,
            observed_at=now,
            observer=self.observer,
            redactor=self.redactor,
        )

    def resolved(
        self, ledger: Ledger, key: str, resolution: Resolution, actor: str
    ) -> tuple[Decision, Sequence[FailureEvent]]:
        """Release an attempt that is on hold, as somebody says.

        Raises:
            NothingToResolveError: no attempt of this task is on hold.
        """
        account = ledger.account(key)
        attempts = ledger.attempts(key)
        held = next((each for each in reversed(attempts) if each.decision is not None), None)
        if account is None or account.closed != HELD or held is None or held.details is None:
            msg = f"nothing of {key} is on hold"
            if account is None:
                msg = f"{msg}: this store knows no such task"
            raise NothingToResolveError(msg)
        spent = Counters(account.user, account.infra, account.system)
        again = decide(held.details, self.policies.of(held.task), spent, attempt=held.task.attempt)
        if resolution == "retry":
            decision = again if again.retry else _by_hand(again, Action.RETRY, actor, "retried")
            ledger.save_account(
                account._replace(
                    user=decision.after.user,
                    infra=decision.after.infra,
                    system=decision.after.system,
                    closed="",
                )
            )
            return decision, ()
        decision = _by_hand(again, Action.FAIL, actor, f"closed as {resolution}")
        if resolution == "succeeded":
            return decision, self.succeeded(ledger, held.task, None)
        ledger.save_account(account._replace(closed=FAILED))
        return decision, ()


def root_line(error: ErrorInfo | None) -> str:
    """Return the root cause in one line: type and the first line of its text."""
    if error is None:
        return ""
    root = error.root
    return f"{root.name}: {root.message.splitlines()[0]}" if root.message.strip() else root.name


def story(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Tell every attempt in one line each: the whole story behind a refusal."""
    lines: list[str] = []
    for attempt in attempts:
        details, decision = attempt.details, attempt.decision
        if details is None or decision is None:
            lines.append(f"attempt {attempt.task.attempt}: {attempt.state.value}")
            continue
        cause = attempt.error_line or details.message
        text = f": {cause}" if cause else ""
        lines.append(
            f"attempt {attempt.task.attempt}: {details.kind.value} {details.reason}{text} "
            f"-> {decision.message}"
        )
    return tuple(lines)


_NOBODY: Final = Account(key="", job_key="")
"""What a task has used before its first attempt."""


def _kept(task: Task, redacted: Task) -> Task:
    """Return the task as the ledger keeps it: redacted as in the event, with all of its policy."""
    return redacted if redacted.policy is task.policy else replace(redacted, policy=task.policy)


def _new_account(task: Task) -> Account:
    return Account(key=task.key, job_key=task.job_key)


def _closed_by(decision: Decision) -> str:
    if decision.action is Action.RETRY:
        return ""
    return HELD if decision.action is Action.HOLD else FAILED


def _closed_before(task: Task, closed: str, spent: Counters) -> Decision:
    """Answer a report on an attempt that should not have run: nothing is resurrected."""
    why = f"the task was closed before as {closed}, so attempt {task.attempt} is not followed up"
    return Decision(
        action=Action.FAIL,
        message=f"fail: {why}",
        charge=Charge.NONE,
        because=Because("gate.closed", why),
        before=spent,
        after=spent,
        attempt=task.attempt,
        max_tries=spent.paid,
        code="AlreadyClosed",
    )


def _already_succeeded(attempt: Attempt, account: Account) -> Decision:
    spent = Counters(account.user, account.infra, account.system)
    why = f"attempt {attempt.task.attempt} was reported as succeeded before"
    return Decision(
        action=Action.FAIL,
        message=f"fail: {why}; nothing runs again",
        charge=Charge.NONE,
        because=Because("gate.already-succeeded", why),
        before=spent,
        after=spent,
        attempt=attempt.task.attempt,
        max_tries=0,
        code=ALREADY_SUCCEEDED,
    )


def _by_hand(decision: Decision, action: Action, actor: str, what: str) -> Decision:
    why = f"{actor} had it {what}"
    return replace(
        decision,
        action=action,
        message=f"{action.value}: {why} ({decision.before})",
        charge=Charge.NONE,
        because=Because("gate.resolved", why),
        after=decision.before,
        delay=0.0,
        code=None if action is Action.RETRY else "Resolved",
    )
