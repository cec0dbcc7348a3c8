"""kill -9 at any moment loses nothing that `failed()` returned for."""

from __future__ import annotations

import random
from pathlib import Path

from failhook.gate.ledger import AttemptState
from failhook.plugin import Task
from failhook.stores import open_store
from tests.delivery.plugins import lines, taken, words_of
from tests.delivery.processes import (
    KILLED,
    PLUGINS,
    deliver,
    evidence_of,
    fill,
    killed_after,
    report,
    run,
)
from tests.delivery.scale import times


def attempts_in(path: Path) -> list[tuple[str, int]]:
    """Return the attempts that a file of reports names, in order."""
    return [(name, int(attempt)) for name, attempt, *_ in words_of(path, 2)]


def one_id_each(folder: Path) -> bool:
    """Return whether all deliveries of one attempt, to whomever, have one event id."""
    ids: dict[tuple[str, int], set[str]] = {}
    for plugin in PLUGINS:
        for line in lines(folder / plugin):
            ids.setdefault((line.task, line.attempt), set()).add(line.event_id)
    every = [event_id for found in ids.values() for event_id in found]
    return all(len(found) == 1 for found in ids.values()) and len(set(every)) == len(every)


def test_reporters_that_are_killed_lose_nothing_and_count_once(where: str, tmp_path: Path) -> None:
    """Each process is killed at a random moment, and the next one goes on where it stopped.

    Every attempt reaches every plugin, under one id; the ledger has counted each exactly once.
    """
    chance = random.Random(4)
    again = None
    for number in range(times(12, 200)):
        moment = chance.random() ** 2 * 0.08
        assert killed_after(moment, report, where, tmp_path, number, again)
        again = attempts_in(tmp_path / "trying")[-1]
    run(deliver, where, tmp_path, 0)

    tried = set(attempts_in(tmp_path / "trying")) - {again}
    reported = set(attempts_in(tmp_path / "reported"))
    assert tried == reported - {again}
    for plugin in PLUGINS:
        heard = set(taken(tmp_path / plugin))
        assert set() == reported - heard, "an event was lost"
        assert heard <= reported | {again}
    assert one_id_each(tmp_path)
    _counted_once(where, reported, again)


def _counted_once(where: str, reported: set[tuple[str, int]], last: tuple[str, int]) -> None:
    """Check every counter of the ledger against what was reported; `last` may have been."""
    store = open_store(where)
    with store.transaction() as ledger:
        for name in {name for name, _ in reported | {last}}:
            key = Task("kills", name, run_id="r").key
            numbers = sorted(attempt for other, attempt in reported if other == name)
            attempts = ledger.attempts(key)
            if last[0] == name and last not in reported and len(attempts) > len(numbers):
                numbers.append(last[1])
            if not numbers:
                continue
            refunds = sum(evidence_of(name, number) is KILLED for number in numbers)
            account = ledger.account(key)
            assert account is not None
            assert numbers == [attempt.task.attempt for attempt in attempts]
            assert {AttemptState.FAILED} == {attempt.state for attempt in attempts}
            assert (refunds, len(numbers) - refunds, 0) == (
                account.infra,
                account.user,
                account.system,
            )
            assert (len(numbers), numbers[-1]) == (account.failures, account.last_attempt)
    assert (0, []) == (store.pending(), list(store.dead_letters()))
    store.close()


def test_drainers_that_are_killed_lose_nothing(where: str, tmp_path: Path) -> None:
    """Sidecars are killed at random moments of claiming, calling and marking; nothing is lost."""
    kills, attempts = times(12, 200), 3
    tasks = 15 * kills
    run(fill, where, PLUGINS, tasks, attempts)
    chance = random.Random(5)
    killed = sum(
        killed_after(chance.random() * 0.08, deliver, where, tmp_path, seed, PLUGINS)
        for seed in range(kills)
    )
    run(deliver, where, tmp_path, 0)

    every = {(f"task-{number}", attempt) for number in range(tasks) for attempt in (1, 2, 3)}
    assert kills == killed
    for plugin in PLUGINS:
        assert every == set(taken(tmp_path / plugin))
    assert one_id_each(tmp_path)
