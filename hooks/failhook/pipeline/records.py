"""What one report changes in the ledger, and which events it makes: each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from failhook.clock import Clock
from failhook.decision import Action, Counters, Decision
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
from failhook.pipeline.answers import (
    FAILED,
    HELD,
    SUCCEEDED,
    attempt_succeeded,
    by_hand,
    closed_before,
    success_after_all,
    task_succeeded,
)
from failhook.pipeline.recovery import note_failure, recovered_run
from failhook.pipeline.standing import done_by_another, ended_by_hand, is_held, standing_success
from failhook.pipeline.stopwatch import Stopwatch
from failhook.pipeline.story import root_line
from failhook.redact import Redactor
from failhook.task import Task

Resolution = Literal["retry", "fail", "succeeded"]
RESOLUTIONS: Final = ("retry", "fail", "succeeded")

# As in `gate.decide`: quicker than through their classes.
_HOLD: Final = Action.HOLD
_OPEN: Final = AttemptState.OPEN
_FAILED_ATTEMPT: Final = AttemptState.FAILED
_FAILED_EVENT: Final = EventType.FAILED
_RETRYABLE: Final = Phase.RETRYABLE_FAILURE
_PERMANENT: Final = Phase.PERMANENT_FAILURE


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
        watch: how long what began in this process has run.
        random: returns a number in 0..1 for the jitter of backoffs.
        observer: who reports: host and process.
    """

    policies: Policies
    redactor: Redactor
    clock: Clock
    watch: Stopwatch
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
        first_started_at = account.first_started_at or now
        self.watch.start(attempt.task.attempt_key)
        if self.policies.of(task).total_deadline is not None:
            self.watch.elapsed(task.key, first_started_at, now)
        ledger.save_attempt(attempt)
        ledger.save_account(
            account._replace(
                last_attempt=max(number, account.last_attempt),
                first_started_at=first_started_at,
                phases=account.phases.then(Phase.EXECUTING, now),
                closed="",
            )
        )
        return attempt

    def lost(
        self, ledger: Ledger, task: Task, failure: Failure
    ) -> tuple[Decision | None, Sequence[FailureEvent]]:
        """Count an attempt as lost that is still open; None where it is not."""
        known = ledger.attempt(task.attempt_key)
        if known is None or known.state is not _OPEN:
            return None, ()
        return self.failed(ledger, task, failure)

    def failed(
        self, ledger: Ledger, task: Task, failure: Failure, *, simulated: bool = False
    ) -> tuple[Decision, Sequence[FailureEvent]]:
        """Count a failed attempt once; return the decision, and the events if there is news."""
        details = failure.details
        account = ledger.account(task.key)
        attempt = done = None
        if account is None:  # then nothing is known of any attempt
            account = _NOBODY
        else:
            attempt = ledger.attempt(task.attempt_key)
            if attempt is not None and attempt.state is not _OPEN:
                return self._again(ledger, attempt, account, failure)
            done = done_by_another(ledger, task, account, details)
        owner = None if attempt is None else attempt.owner
        opened_at = None if attempt is None else attempt.opened_at
        ended_at = self.watch.stop(task.attempt_key, opened_at) if attempt else None
        now = self.clock.now()
        first_started_at = account.first_started_at or now
        if done is not None:
            decision = task_succeeded(task, done, account)
        elif account.closed:
            decision = closed_before(task, account)
        else:
            policy = self.policies.of(task)
            decision = decide(
                details,
                policy,
                Counters(account.user, account.infra, account.system),
                attempt=task.attempt,
                idempotent=task.idempotent,
                elapsed=0.0
                if policy.total_deadline is None
                else self.watch.elapsed(task.key, first_started_at, now),
                random=self.random(),
            )
        if done is not None:
            phases = account.phases.then(Phase.COMPLETED, now)
        else:
            phase = _RETRYABLE if decision.retry else _PERMANENT
            phases = account.phases.then(phase, now, details.reason)
        event = build_event(
            type=_FAILED_EVENT,
            task=task,
            details=details,
            error=failure.error,
            decision=decision,
            first_failure=account.first_failure,
            first_error=account.first_error,
            phases=phases,
            started_at=opened_at,
            ended_at=ended_at or now,
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
                state=_FAILED_ATTEMPT,
                owner=owner,
                opened_at=opened_at,
                closed_at=event.ended_at,
                details=event.failure_details,
                decision=decision,
                error_line=line,
            )
        )
        told = bool(account.closed and account.failures)
        account = Account(
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
            closed=account.closed or (_closed_by(decision) if done is None else SUCCEEDED),
        )
        ledger.save_account(account)
        if done is None and not simulated:
            note_failure(ledger, event)
        if done is None or told:  # of the recovery, when the task was closed
            return decision, (event,)
        return decision, (event, self._event(EventType.RECOVERED, done, account, Failure(details)))

    def _again(
        self, ledger: Ledger, attempt: Attempt, account: Account, failure: Failure
    ) -> tuple[Decision, Sequence[FailureEvent]]:
        """Answer a repeated report as the first was answered; a better verdict amends it once."""
        decision, previous = attempt.decision, attempt.details
        if decision is None or previous is None:
            return attempt_succeeded(attempt, account), ()
        if attempt.revision or attempt.state is not AttemptState.FAILED:
            return decision, ()
        if not improves(previous, failure.details):
            return decision, ()
        charge = decision.charge
        if not account.closed:
            spent, charge = moved(
                Counters(account.user, account.infra, account.system),
                decision,
                failure.details,
                self.policies.of(attempt.task),
                idempotent=attempt.task.idempotent,
            )
            ledger.save_account(
                account._replace(user=spent.user, infra=spent.infra, system=spent.system)
            )
        event = self._event(EventType.AMENDED, attempt, account, failure)
        ledger.save_attempt(
            attempt._replace(
                details=event.failure_details,
                revision=event.revision,
                moved_to=None if charge is decision.charge else charge,
            )
        )
        return decision, (event,)

    def succeeded(
        self, ledger: Ledger, task: Task, suspect: Failure | None, *, simulated: bool = False
    ) -> Sequence[FailureEvent]:
        """Close an attempt as a success; return what listeners are to hear of it.

        Where it had been declared a failure, that is amended. The task is closed too, unless
        another attempt that came later, or a person, has the last word.
        """
        attempt = ledger.attempt(task.attempt_key) or Attempt(
            task=redacted_task(task, self.redactor), state=AttemptState.OPEN
        )
        if attempt.state is AttemptState.SUCCEEDED:
            return ()
        account = ledger.account(task.key) or _new_account(task)
        events: list[FailureEvent] = []
        declared, closes = attempt.details, True
        if declared is not None:
            after_all = Failure(success_after_all(task.attempt, declared))
            amended = replace(
                self._event(EventType.AMENDED, attempt, account, after_all), succeeded=True
            )
            events.append(amended)
            attempt = attempt._replace(revision=amended.revision)
            closes = not ended_by_hand(attempt, account)
        events += self._done(ledger, attempt, account, suspect, closes=closes, simulated=simulated)
        return [replace(event, simulated=True) for event in events] if simulated else events

    def _done(
        self,
        ledger: Ledger,
        attempt: Attempt,
        account: Account,
        suspect: Failure | None = None,
        *,
        closes: bool = True,
        simulated: bool = False,
    ) -> Sequence[FailureEvent]:
        """Record that an attempt has succeeded and, where it `closes` the task, that too."""
        number, key = attempt.task.attempt, attempt.task.attempt_key
        ended_at = self.watch.stop(key, attempt.opened_at)
        now = self.clock.now()
        attempt = attempt._replace(
            state=AttemptState.SUCCEEDED,
            closed_at=ended_at or now,
            suspect=suspect is not None,
        )
        ledger.save_attempt(attempt)
        attempts: Sequence[Attempt] = ()
        if account.failures or number < account.last_attempt:
            attempts = ledger.attempts(attempt.task.key)
        if number < account.last_attempt:
            stands = standing_success(attempts)
            closes = closes and stands is not None and stands.task.attempt == number
        account = account._replace(last_attempt=max(number, account.last_attempt))
        if closes:
            account = account._replace(
                phases=account.phases.then(Phase.COMPLETED, now), closed=SUCCEEDED
            )
        ledger.save_account(account)
        events: list[FailureEvent] = []
        failures = [each.details for each in attempts if each.details is not None]
        earlier = None
        if closes and not simulated:
            earlier = recovered_run(ledger, attempt, now, had_failed=bool(failures))
        if closes and failures:
            last = Failure(failures[-1])
            events.append(self._event(EventType.RECOVERED, attempt, account, last))
        elif earlier is not None and earlier[1].details is not None:
            first, last = earlier[0], Failure(earlier[1].details)
            account = account._replace(
                first_failure=first.first_failure, first_error=first.first_error
            )
            events.append(self._event(EventType.RECOVERED, attempt, account, last))
        if suspect is not None:
            events.append(self._event(EventType.SUSPECT_SUCCESS, attempt, account, suspect))
        return events

    def _event(
        self, kind: EventType, attempt: Attempt, account: Account, failure: Failure
    ) -> FailureEvent:
        """Make the event of what is told after an attempt's own failure, if it had one."""
        amends = kind is EventType.AMENDED
        return build_event(
            type=kind,
            task=attempt.task,
            details=failure.details,
            error=failure.error,
            decision=attempt.decision if amends else None,
            previous=attempt.details if amends else None,
            first_failure=account.first_failure,
            first_error=account.first_error,
            phases=account.phases,
            started_at=attempt.opened_at,
            ended_at=attempt.closed_at,
            observed_at=self.clock.now(),
            observer=self.observer,
            revision=attempt.revision + 1 if amends else 0,
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
        held = next(filter(is_held, reversed(ledger.attempts(key))), None)
        if account is None or account.closed != HELD or held is None or held.details is None:
            msg = f"nothing of {key} is on hold or lost"
            if account is None:
                msg = f"{msg}: this store knows no such task"
            raise NothingToResolveError(msg)
        spent = Counters(account.user, account.infra, account.system)
        again = decide(held.details, self.policies.of(held.task), spent, attempt=held.task.attempt)
        if resolution == "retry":
            decision = again if again.retry else by_hand(again, Action.RETRY, actor, "retried")
            ledger.save_account(
                account._replace(
                    user=decision.after.user,
                    infra=decision.after.infra,
                    system=decision.after.system,
                    closed="",
                )
            )
            return decision, ()
        decision = by_hand(again, Action.FAIL, actor, f"closed as {resolution}")
        if resolution == "succeeded":
            return decision, self._done(ledger, held, account)
        ledger.save_account(account._replace(closed=FAILED))
        return decision, ()

    def said_done(
        self, ledger: Ledger, left: Attempt, loss: Failure, actor: str
    ) -> tuple[Decision, Sequence[FailureEvent]]:
        """Close an attempt that was left open as succeeded, as somebody says."""
        account = ledger.account(left.task.key) or _new_account(left.task)
        spent = Counters(account.user, account.infra, account.system)
        policy = self.policies.of(left.task)
        decision = decide(loss.details, policy, spent, attempt=left.task.attempt)
        events = self.succeeded(ledger, left.task, None)
        return by_hand(decision, Action.FAIL, actor, "closed as succeeded"), events


_NOBODY: Final = Account(key="", job_key="")
"""What a task has used before its first attempt."""


def _kept(task: Task, redacted: Task) -> Task:
    """Return the task as the ledger keeps it: redacted as in the event, with all of its policy."""
    return redacted if redacted.policy is task.policy else replace(redacted, policy=task.policy)


def _new_account(task: Task) -> Account:
    return Account(key=task.key, job_key=task.job_key)


def _closed_by(decision: Decision) -> str:
    if decision.retry:
        return ""
    return HELD if decision.action is _HOLD else FAILED
