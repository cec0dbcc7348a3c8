"""Every store behaves as every other, whatever is done to it in whatever order."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from failhook.decision import Action
from failhook.groups import Group, Handled
from failhook.outbox.port import Bounds
from failhook.stores.memory import MemoryStore
from tests.stores.rows import put
from tests.stores.samples import DECISION, NOW, a_task, an_event

STEPS = 100
PLUGINS = ("log", "alerts")


class Night:
    """A random night, done to two stores at once; what they answer must be the same."""

    def __init__(self, seed, *stores):
        self.random = random.Random(seed)
        self.stores = stores
        self.now = NOW
        self.rows = []
        self.groups = []
        self.number = 0

    def ask(self, name, *values, **named):
        """Do the same to each store, and compare what comes back."""
        first, *others = [getattr(store, name)(*values, **named) for store in self.stores]
        first = list(first) if isinstance(first, list | tuple) else first
        for other in others:
            assert first == (list(other) if isinstance(first, list) else other), name
        return first

    def soon(self, most=120):
        """A time not far from now, before or after."""
        return self.now + timedelta(seconds=self.random.randint(-30, most))

    def lease(self):
        """What a claim takes."""
        return {
            "now": self.now,
            "lease": self.random.choice((0, 60)),
            "limit": self.random.randint(1, 4),
            "owner": self.random.choice("ab"),
        }

    def step(self):
        """Do one thing, and look at all that shows."""
        self.now += timedelta(seconds=self.random.randint(0, 40))
        getattr(self, self.random.choice(STEP_NAMES))()
        self.ask("next_due", PLUGINS, self.now)
        for name in ("pending", "waiting", "given_up", "dead_letters", "drops"):
            self.ask(name)
        for plugin in PLUGINS:
            self.ask("holders", plugin)
            self.ask("deaths", plugin)

    def add(self):
        self.number += 1
        action = self.random.choice((Action.RETRY, Action.FAIL))
        event = an_event(
            a_task(self.random.choice("xyz"), attempt=self.number),
            decision=replace(DECISION, action=action),
            observed_at=self.now,
        )
        due = self.soon(0)
        for store in self.stores:
            put(store, event, plugins=PLUGINS, now=due)

    def claim(self):
        self.rows += self.ask("claim", self.random.choice(PLUGINS), **self.lease())

    def some_rows(self):
        """Rows that were claimed once, by whomever."""
        return [row.id for row in self.random.sample(self.rows, min(2, len(self.rows)))]

    def done(self):
        self.ask("done", self.some_rows())

    def retry(self):
        owner, refused = self.random.choice("ab"), self.random.random() < 0.5
        how = {"not_before": self.soon(), "error": "e", "refused": refused}
        self.ask("retry", self.some_rows(), **how, owner=owner)

    def bury(self):
        owner = self.random.choice("ab")
        self.ask("bury", self.some_rows(), error="dead", now=self.now, owner=owner)

    def revive(self):
        self.ask("revive", self.some_rows(), self.now)

    def drop(self):
        self.ask("drop", self.some_rows())

    def lose(self):
        plugin = self.random.choice(PLUGINS)
        self.ask("lose", self.random.choice("ab"), plugin, not_before=self.soon())

    def release(self):
        self.ask("release", self.random.choice("ab"), self.random.choice((None, *PLUGINS)))

    def renew(self):
        self.ask("renew", self.random.choice(PLUGINS), owner="a", until=self.soon())

    def tell(self):
        for dropped in self.ask("drops"):
            self.ask("told", dropped)

    def group(self):
        for row in self.some_rows():
            names = self.random.sample("gh", self.random.randint(1, 2))
            groups = [Group(name, self.soon()) for name in names]
            self.ask("group", row, groups, owner=self.random.choice("ab"))

    def claim_group(self):
        found = self.ask("claim_group", self.random.choice(PLUGINS), **self.lease())
        self.groups += [] if found is None else [found]

    def settle(self):
        for group in self.groups[-1:]:
            again_at = self.random.choice((None, self.soon()))
            handled = Handled(str(self.number), again_at, sent=self.random.random() < 0.5)
            self.ask("settle", group, handled, now=self.now)

    def retry_group(self):
        for group in self.groups[-1:]:
            refused = self.random.random() < 0.5
            how = {"not_before": self.soon(), "error": "e", "refused": refused}
            self.ask("retry_group", group, **how, owner=group.owner)

    def bury_group(self):
        for group in self.groups[-1:]:
            self.ask("bury_group", group, error="dead", now=self.now, owner=group.owner)


STEP_NAMES = (
    *("add", "add", "add", "claim", "claim", "done", "retry", "bury", "revive", "drop"),
    *("release", "lose", "lose", "renew", "tell", "group", "group", "claim_group", "claim_group"),
    *("settle", "retry_group", "bury_group"),
)


@pytest.mark.parametrize("seed", range(4))
def test_a_database_answers_as_memory_does(sql_store_within, seed):
    """After each of many random steps both show the same, to the row and the microsecond."""
    bounds = Bounds(events=12)
    night = Night(seed, MemoryStore(bounds), sql_store_within(bounds))

    for _ in range(STEPS):
        night.step()
