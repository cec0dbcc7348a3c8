"""The ledger port: what the gate remembers of each task and attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

from failhook.decision import Charge, Decision
from failhook.details import FailureDetails
from failhook.phases import PhaseHistory
from failhook.task import Task


class AttemptState(StrEnum):
    """Where an attempt stands."""

    OPEN = "open"
    FAILED = "failed"
    SUCCEEDED = "succeeded"


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that supervises an open attempt, told apart from any later one.

    Attributes:
        host: host name.
        pid: process id.
        started: when that process began, in the kernel's own unit; 0 where it cannot be read.
        boot_id: the boot of the machine; empty where it cannot be read.
        child: process id of the task itself, 0 until known.
        child_started: like `started`, of the child.
        pid_namespace: the namespace that these numbers belong to, as pid_namespaces(7) has it: the
            containers of one host may share its name; 0 where it cannot be read.
    """

    host: str
    pid: int
    started: int = 0
    boot_id: str = ""
    child: int = 0
    child_started: int = 0
    pid_namespace: int = 0

    def is_process(self, other: Owner) -> bool:
        """Return whether both are one process, whatever child it has."""
        return replace(self, child=other.child, child_started=other.child_started) == other

    def to_dict(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "pid": self.pid,
            "started": self.started,
            "boot_id": self.boot_id,
            "child": self.child,
            "child_started": self.child_started,
            "pid_namespace": self.pid_namespace,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Owner:
        return cls(**document)


class Attempt(NamedTuple):
    """One attempt, its verdict and its decision.

    A named tuple, as `Account` is: every report makes one of each, at a third of the time that a
    frozen dataclass takes.

    Attributes:
        task: with the ledger's attempt number.
        state: open, failed or succeeded.
        owner: who supervises it; None when it was reported without `started()`.
        opened_at: UTC; None when it was reported without `started()`.
        closed_at: UTC.
        oom_host: the host's OOM-kill counter when it was opened; None when it cannot be read.
        details: the verdict as it stands now.
        decision: what was decided; it never changes.
        revision: how often it was amended: once by better evidence, once by a success after all.
        error_line: the root line of the error.
        suspect: evidence of a kill beside a reported success.
        moved_to: the budget that pays since the charge moved with an amendment; None where it has
            not moved.
    """

    task: Task
    state: AttemptState
    owner: Owner | None = None
    opened_at: datetime | None = None
    closed_at: datetime | None = None
    oom_host: int | None = None
    details: FailureDetails | None = None
    decision: Decision | None = None
    revision: int = 0
    error_line: str = ""
    suspect: bool = False
    moved_to: Charge | None = None

    @property
    def charge(self) -> Charge | None:
        """Return the budget that pays for it as it stands now; None before a decision."""
        if self.moved_to is None and self.decision is not None:
            return self.decision.charge
        return self.moved_to


class Account(NamedTuple):
    """What one task (one key) has used of its three budgets.

    Attributes:
        key: the task's key: one run, all attempts of one generation.
        job_key: the task across runs.
        user: charges to the user's budget.
        infra: refunds granted.
        system: charges to the system budget.
        last_attempt: the highest attempt number given out.
        failures: failed attempts so far.
        first_started_at: when the first attempt began or was first reported, UTC.
        first_failure: the verdict on the first failed attempt.
        first_error: the root line of its error.
        phases: what the task went through.
        closed: why nothing follows by itself any more: ``succeeded``, ``failed``, ``held``, or "".
    """

    key: str
    job_key: str
    user: int = 0
    infra: int = 0
    system: int = 0
    last_attempt: int = 0
    failures: int = 0
    first_started_at: datetime | None = None
    first_failure: FailureDetails | None = None
    first_error: str = ""
    phases: PhaseHistory = PhaseHistory()
    closed: str = ""


MOST_LAST_FAILURES: Final = 50
"""Failed runs of one job that are known, the newest ones."""


class LastFailure(NamedTuple):
    """That a run of a job failed, and none that began later has succeeded yet.

    Attributes:
        job: the job's key, with the map index of the task where it has one.
        key: the task that failed: one run.
        failed_at: when it did the last time, UTC.
    """

    job: str
    key: str
    failed_at: datetime


class Ledger(Protocol):
    """What a transaction on a store can read and write of the ledger.

    All calls happen inside one transaction that holds out every other writer of the same key,
    so that reading an account, deciding, and writing it back is one step.
    """

    def account(self, key: str) -> Account | None:
        """Return the account of a task, or None before its first attempt."""
        ...

    def attempt(self, attempt_key: str) -> Attempt | None:
        """Return one attempt, or None when nothing is known of it."""
        ...

    def attempts(self, key: str) -> Sequence[Attempt]:
        """Return all attempts of a task, first to last."""
        ...

    def open_attempts(self, host: str | None = None) -> Sequence[Attempt]:
        """Return the attempts that nobody has closed, of one host or of all, oldest first."""
        ...

    def held_accounts(self) -> Sequence[Account]:
        """Return the accounts of the tasks that are on hold, by key."""
        ...

    def between_attempts(self) -> Sequence[Account]:
        """Return the accounts that are granted another attempt which has not begun, by key."""
        ...

    def save_account(self, account: Account) -> None:
        """Write an account, new or changed."""
        ...

    def save_attempt(self, attempt: Attempt) -> None:
        """Write an attempt, new or changed."""
        ...

    def last_failures(self, job: str) -> Sequence[LastFailure]:
        """Return what a job has not recovered from, one for each run that failed, newest first."""
        ...

    def save_last_failure(self, failure: LastFailure) -> None:
        """Write it, unless a newer one of the run is known; forget the oldest of too many."""
        ...

    def forget_last_failure(self, failure: LastFailure) -> bool:
        """Forget it; return whether it was still known, so that one caller alone is told so."""
        ...
