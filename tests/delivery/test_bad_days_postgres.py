"""A PostgreSQL server that goes away and comes back loses nothing, and takes nobody with it."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Iterator

import pytest

from tests.delivery.nights import Night
from tests.delivery.plugins import until
from tests.delivery.scale import times
from tests.postgres import PASSWORD, Server, running

pytestmark = pytest.mark.requires_service("postgres")

STOPS = [signal.SIGINT, signal.SIGQUIT]
"""PostgreSQL's fast shutdown, and the immediate one, which is a crash to all who are connected."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Run a server that the tests of this module may stop."""
    with running() as server:
        yield server


@pytest.mark.parametrize("how", STOPS, ids=["fast", "immediate"])
def test_a_server_that_is_stopped_and_started_in_the_middle(
    server: Server, how: signal.Signals
) -> None:
    """Reports are refused while it is away, in one line without the password; then all goes on."""
    names = [f"{how.name}-{when}" for when in ("before", "during", "after")]
    before, during, after = names
    with Night(server.tcp()) as night:
        assert night.report(before)
        assert night.delivered()
        server.stop(how)
        assert not night.report(during)
        assert not night.report(during)
        assert not until(lambda: night.said.repeated, 0.5)
        server.start()

        assert night.report(during)
        assert night.report(after)
        assert night.delivered()
        assert [1, 1, 1] == [night.user_charges(name) for name in names]
        assert until(lambda: night.pipeline.store.pending() == 0)

    assert dict.fromkeys(names, 1) == night.plugin.heard
    assert not any(PASSWORD in line for line in (*night.refusals, *night.said.lines))
    assert 1 == len(set(night.refusals))


def test_a_server_that_crashes_again_and_again_while_tasks_fail(server: Server) -> None:
    """Who was refused reports again: each attempt counts once, and each is heard under one id."""
    crashes, threads = times(3, 30), 4
    over = threading.Event()

    def keep_reporting(thread: int) -> None:
        number = 0
        while not over.is_set():
            if night.report(f"task-{thread}-{number}"):
                number += 1

    with Night(server.url) as night:
        reporting = [
            threading.Thread(target=keep_reporting, args=(thread,)) for thread in range(threads)
        ]
        for thread in reporting:
            thread.start()
        chance = random.Random(6)
        for _ in range(crashes):
            counted = len(night.counted)
            assert until(lambda counted=counted: len(night.counted) > counted + 10)
            assert not until(lambda: False, chance.random() * 0.2)
            server.stop(signal.SIGQUIT)
            server.start()
        over.set()
        for thread in reporting:
            thread.join()
        assert night.delivered()
        assert until(lambda: night.pipeline.store.pending() == 0)
        assert {1} == {night.user_charges(name) for name in night.counted}

    assert len(night.counted) == len(set(night.counted))
    ids = {(event.task.name, event.event_id) for event in night.plugin.events}
    assert set(night.counted) == {name for name, _ in ids}
    assert len(night.counted) == len(ids)
