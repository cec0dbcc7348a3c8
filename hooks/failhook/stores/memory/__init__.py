"""A store that lives and dies with its process; it keeps the frozen objects as they are."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from failhook.errors import StoreError
from failhook.event import FailureEvent
from failhook.gate.ledger import (
    MOST_LAST_FAILURES,
    Account,
    Attempt,
    AttemptState,
    LastFailure,
)
from failhook.outbox.port import Bounds
from failhook.outbox.reading import Side, StoreReport, Tally
from failhook.stores.memory.groups import MemoryGroups
from failhook.stores.memory.reading import began, failures_of, history_of, jobs_of, tally_of
from failhook.stores.session import Session
from failhook.stores.tallies import clock_problems

BOUNDS: Final = Bounds(events=8_000, bytes=16 * 1024 * 1024)
"""How much may wait for one plugin where nothing else is said: memory is dearer than a disk."""

_ENDED: Final = ("succeeded", "failed")


class MemoryStore(MemoryGroups):
    """Ledger, outbox and plugin state in the memory of one process.

    Any thread may use it. A process that forks leaves its child the ledger but no rows to deliver:
    those stay the parent's.

    Args:
        bounds: how much may wait for one plugin; `BOUNDS` unless given. The size of an event is
            estimated from its texts.
        keep: attempts of tasks that ended, well or for good, which are remembered; the task that
            ended longest ago is forgotten first, and the last one never. What is open, waits for a
            retry or is on hold is not forgotten either.
    """

    def __init__(self, bounds: Bounds | None = None, *, keep: int = 10_000) -> None:
        super().__init__(bounds or BOUNDS)
        self._keep = keep
        self._ended: dict[str, int] = {}
        self._ended_attempts = 0
        self.accounts: dict[str, Account] = {}
        self.attempts: dict[str, dict[str, Attempt]] = {}
        self.open: dict[str, Attempt] = {}
        self.last_failures: dict[str, dict[str, LastFailure]] = {}
        self._state: dict[tuple[str, str], str] = {}
        self._changing = False

    def keep_account(self, account: Account) -> None:
        """Write an account, and forget tasks that ended long ago; the caller has the lock."""
        key, ended = account.key, self._ended
        self.accounts[key] = account
        self._ended_attempts -= ended.pop(key, 0)
        if account.closed not in _ENDED:
            return
        ended[key] = len(self.attempts.get(key, ()))
        self._ended_attempts += ended[key]
        while self._ended_attempts > self._keep and len(ended) > 1:
            self._forget_task(next(iter(ended)))

    def _forget_task(self, key: str) -> None:
        self.accounts.pop(key, None)  # it may be cut off here and done again
        for attempt_key in self.attempts.pop(key, {}):
            self.open.pop(attempt_key, None)
        self._ended_attempts -= self._ended.pop(key)

    def keep_last_failures(self, job: str, failures: dict[str, LastFailure]) -> None:
        """Write the last failures of a job, and forget the oldest; the caller has the lock."""
        known = self.last_failures
        known.pop(job, None)
        if failures:
            known[job] = failures
        if len(known) > self._keep:
            del known[next(iter(known))]

    def transaction(self) -> Session[MemoryTransaction]:
        return Session(self._steps())

    def _steps(self) -> Generator[MemoryTransaction]:
        with self.lock:
            if self._changing:
                msg = "store memory: this thread is in a transaction already"
                raise StoreError(msg)
            self._changing = True
            try:
                transaction = MemoryTransaction(self)
                yield transaction
                try:
                    transaction.commit()
                except BaseException:  # what a signal's handler raised: either all of it or nothing
                    self.mend()
                    transaction.commit()
                    raise
            finally:
                self._changing = False

    def after_fork_in_child(self) -> None:
        super().after_fork_in_child()
        self._changing = False

    def mend(self) -> None:
        """Derive anew what follows from the rest, where a change was cut off in the middle."""
        super().mend()
        self._ended_attempts = sum(self._ended.values())

    def get_state(self, plugin: str, key: str) -> str | None:
        with self.lock:
            return self._state.get((plugin, key))

    def put_state(self, plugin: str, key: str, value: str | None) -> None:
        with self.lock:
            if value is None:
                self._state.pop((plugin, key), None)
            else:
                self._state[plugin, key] = value

    def state_items(self, plugin: str, prefix: str) -> Mapping[str, str]:
        with self.lock:
            found = {key: value for (whose, key), value in self._state.items() if whose == plugin}
        return {key: found[key] for key in sorted(found) if key.startswith(prefix)}

    def history(self, task: str, *, limit: int) -> Sequence[Attempt]:
        with self.lock:
            return history_of(self._all(), task, limit)

    def failures(self, since: datetime, *, limit: int) -> Sequence[Attempt]:
        with self.lock:
            return failures_of(self._all(), since, limit)

    def jobs(self, *, limit: int) -> Sequence[str]:
        with self.lock:
            return jobs_of(self._all(), limit)

    def tally(self, by: Side, since: datetime) -> Sequence[Tally]:
        with self.lock:
            return tally_of(self._all(), by, since)

    def forget(self, before: datetime) -> int:
        with self.lock:
            self.forget_log(before)
            for job, failures in [*self.last_failures.items()]:
                kept = {key: each for key, each in failures.items() if each.failed_at >= before}
                if kept:
                    self.last_failures[job] = kept
                else:
                    del self.last_failures[job]
            waiting = {row.event.task.key for row in self._rows.values()}
            old = [
                key
                for key in self._ended
                if key not in waiting and _ended_before(self.attempts.get(key, {}).values(), before)
            ]
            for key in old:
                self._forget_task(key)
        return len(old)

    def examine(self, now: datetime) -> StoreReport:
        with self.lock:
            newest = max(map(began, self._all()), default=None)
            tasks = len(self.accounts)
        problems = tuple(clock_problems(newest, now))
        return StoreReport("memory", schema=0, bytes=None, tasks=tasks, problems=problems)

    def _all(self) -> Iterator[Attempt]:
        return (attempt for some in self.attempts.values() for attempt in some.values())

    def close(self) -> None:
        """Forget nothing: the memory goes with the object."""


class MemoryTransaction:
    """Keeps what is written until the block ends, and forgets it when the block raises."""

    __slots__ = ("_accounts", "_attempts", "_events", "_last_failures", "_store")

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._accounts: dict[str, Account] = {}
        self._attempts: dict[str, Attempt] = {}
        self._last_failures: dict[str, dict[str, LastFailure]] = {}
        self._events: list[tuple[FailureEvent, Sequence[str], datetime]] = []

    def commit(self) -> None:
        """Write it all; to do so again changes nothing."""
        store = self._store
        for attempt_key, attempt in self._attempts.items():
            store.attempts.setdefault(attempt.task.key, {})[attempt_key] = attempt
            if attempt.state is AttemptState.OPEN:
                store.open[attempt_key] = attempt
            else:
                store.open.pop(attempt_key, None)
        for account in self._accounts.values():
            store.keep_account(account)
        for job, failures in self._last_failures.items():
            store.keep_last_failures(job, failures)
        for event, plugins, now in self._events:
            store.add(event, plugins, now)

    def account(self, key: str) -> Account | None:
        return self._accounts.get(key) or self._store.accounts.get(key)

    def attempt(self, attempt_key: str) -> Attempt | None:
        changed = self._attempts.get(attempt_key)
        if changed is not None:
            return changed
        attempts = self._store.attempts.get(attempt_key.rpartition("/")[0])
        return None if attempts is None else attempts.get(attempt_key)

    def attempts(self, key: str) -> Sequence[Attempt]:
        changed = {name: one for name, one in self._attempts.items() if one.task.key == key}
        found = self._store.attempts.get(key, {}) | changed
        return sorted(found.values(), key=lambda attempt: attempt.task.attempt)

    def open_attempts(self, host: str | None = None) -> Sequence[Attempt]:
        found = [
            attempt
            for attempt in (self._store.open | self._attempts).values()
            if attempt.state is AttemptState.OPEN
            and (host is None or (attempt.owner is not None and attempt.owner.host == host))
        ]
        return sorted(found, key=began)

    def held_accounts(self) -> Sequence[Account]:
        accounts = (self._store.accounts | self._accounts).values()
        found = [account for account in accounts if account.closed == "held"]
        return sorted(found, key=lambda account: account.key)

    def between_attempts(self) -> Sequence[Account]:
        accounts = (self._store.accounts | self._accounts).values()
        found = [each for each in accounts if not each.closed and self._failed_last(each)]
        return sorted(found, key=lambda account: account.key)

    def _failed_last(self, account: Account) -> bool:
        last = self.attempt(f"{account.key}/{account.last_attempt}")
        return last is not None and last.state is AttemptState.FAILED

    def save_account(self, account: Account) -> None:
        self._accounts[account.key] = account

    def save_attempt(self, attempt: Attempt) -> None:
        self._attempts[attempt.task.attempt_key] = attempt

    def last_failures(self, job: str) -> Sequence[LastFailure]:
        return sorted(self._failures(job).values(), key=lambda each: each.failed_at, reverse=True)

    def save_last_failure(self, failure: LastFailure) -> None:
        failures = self._failures(failure.job)
        known = failures.get(failure.key)
        if known is None or failure.failed_at > known.failed_at:
            failures[failure.key] = failure
        if len(failures) > MOST_LAST_FAILURES:
            del failures[min(failures, key=lambda key: failures[key].failed_at)]
        self._last_failures[failure.job] = failures

    def forget_last_failure(self, failure: LastFailure) -> bool:
        failures = self._failures(failure.job)
        if failures.get(failure.key) != failure:
            return False
        del failures[failure.key]
        self._last_failures[failure.job] = failures
        return True

    def _failures(self, job: str) -> dict[str, LastFailure]:
        """Return what this transaction may change; the store has its own until it commits."""
        changed = self._last_failures.get(job)
        return dict(self._store.last_failures.get(job, {})) if changed is None else changed

    def enqueue(self, event: FailureEvent, plugins: Sequence[str], due: datetime) -> None:
        self._events.append((event, plugins, due))


def _ended_before(attempts: Iterable[Attempt], before: datetime) -> bool:
    return all(each.closed_at is not None and each.closed_at < before for each in attempts)
