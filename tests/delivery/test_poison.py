"""An event at which a plugin ends the process is given up, and costs nobody else anything."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from failhook.stores import open_store
from tests.delivery.deadly import MOST, POISON, STATUS, drain
from tests.delivery.plugins import taken
from tests.delivery.processes import fill, start

TASKS = 8


@pytest.mark.parametrize("poisoned", ["deadly", "digest"])
def test_an_event_that_ends_the_process_is_a_dead_letter_in_the_end(
    where: str, tmp_path: Path, poisoned: str
) -> None:
    """Each process that it ends is counted against it alone; all other events are taken."""
    run_by = ("good", poisoned)
    (tmp_path / "held").write_text(" ".join(run_by))
    fill(where, run_by, TASKS, 1)

    codes: list[int | None] = []
    while not codes or codes[-1] == STATUS:
        process = start(drain, where, tmp_path)
        process.join(60)
        codes.append(process.exitcode)
        assert len(codes) <= 2 * MOST

    assert [*[STATUS] * MOST, 0] == codes
    with closing(open_store(where)) as store:
        (letter,) = store.dead_letters()
        assert 0 == store.pending()
    assert (poisoned, POISON, MOST) == (
        letter.plugin,
        letter.event and letter.event.task.name,
        letter.tries,
    )
    assert f"given up after {MOST} tries: the process ended during the call" == letter.error
    every = {(f"task-{number}", 1) for number in range(TASKS)}
    assert every == set(taken(tmp_path / "good"))
    assert every - {(POISON, 1)} == set(taken(tmp_path / poisoned))
