"""Eight processes report to one store at once: the gate grants what it may, and counts once."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import pytest

from failhook.clock import SystemClock
from failhook.event import FailureEvent
from failhook.gate.ledger import Account, Attempt, AttemptState
from failhook.outbox.port import Store
from failhook.stores import open_store
from failhook.task import Task
from tests.concurrency.reporter import ATTEMPTS, POLICY, queued, raced
from tests.concurrency.reporters import REPORTS, Answers

EXACT = {"bugs": (1, 0, 0), "kills": (1, 3, 0), "submissions": (0, 0, 2)}
"""What is spent of each budget where every reporter sees the same kind of failure."""


@pytest.fixture
def store(store_url: str, answers: list[Answers]) -> Iterator[Store]:
    """Return the store when everybody has reported."""
    opened = open_store(store_url)
    yield opened
    opened.close()


def ledger_of(store: Store, task: Task) -> tuple[Account, Sequence[Attempt]]:
    """Return what is counted of a task."""
    with store.transaction() as ledger:
        account = ledger.account(task.key)
        assert account is not None
        return account, ledger.attempts(task.key)


def spent(account: Account) -> tuple[int, int, int]:
    """Return what each budget has paid."""
    return account.user, account.infra, account.system


def test_no_cap_is_passed_and_each_attempt_counts_once(store: Store) -> None:
    """The sum of the charges is the number of retries that were granted; the caps are reached."""
    for seen, task in raced(REPORTS):
        account, attempts = ledger_of(store, task)
        assert list(range(1, ATTEMPTS + 1)) == [each.task.attempt for each in attempts]
        decided = [each.decision for each in attempts if each.decision is not None]
        assert len(decided) == account.failures
        assert sum(decision.retry for decision in decided) == sum(spent(account))
        assert account.user <= POLICY.retries
        assert account.infra <= POLICY.max_infra_refunds
        assert account.system <= POLICY.max_system_failures
        assert EXACT.get(seen, spent(account)) == spent(account)
        assert account.closed == "failed" or seen == "well"


def test_every_reporter_of_an_attempt_got_the_same_decision(
    store: Store, answers: list[Answers]
) -> None:
    """And it is the one that the ledger holds."""
    told: dict[str, set[str]] = defaultdict(set)
    for process in answers:
        for attempt_key, decision in process["decisions"]:
            told[attempt_key].add(decision)
    for _, task in raced(REPORTS):
        for each in ledger_of(store, task)[1]:
            if each.decision is not None:
                decision = json.dumps(each.decision.to_dict(), sort_keys=True)
                assert {decision} == told[each.task.attempt_key]


def test_each_thing_is_told_once(store: Store) -> None:
    """An event for each failed attempt and for each amendment; no id comes twice."""
    events: list[FailureEvent] = []
    now = SystemClock().now()
    while rows := store.claim("listener", now=now, lease=60.0, limit=1_000, owner="test"):
        events += [row.event for row in rows if row.event is not None]
        store.done([row.id for row in rows])
    assert len(events) == len({event.event_id for event in events})
    types = Counter(event.type.value for event in events)
    attempts = [
        attempt
        for task in (*(task for _, task in raced(REPORTS)), *queued())
        for attempt in ledger_of(store, task)[1]
    ]
    assert types["failed"] == sum(attempt.decision is not None for attempt in attempts)
    assert types["amended"] == sum(attempt.revision for attempt in attempts)
    after_all = [each for each in attempts if each.decision is not None]
    assert sum(event.succeeded for event in events) == sum(
        attempt.state is AttemptState.SUCCEEDED for attempt in after_all
    )


def test_each_attempt_is_begun_by_one_process(answers: list[Answers]) -> None:
    """All want to run the same tasks: each attempt has one supervisor, until the budgets end."""
    begun = Counter(attempt_key for process in answers for attempt_key in process["begun"])
    every = 1 + POLICY.retries + POLICY.max_infra_refunds
    assert begun == {
        task.at_attempt(number).attempt_key: 1
        for task in queued()
        for number in range(1, every + 1)
    }
