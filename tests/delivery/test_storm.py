"""Failures without end while every plugin is dead: bounded, in order, and nothing lost unsaid."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.delivery.scale import times
from tests.delivery.storm import ATTEMPTS, Heard, Storm

ROOT = Path(__file__).parents[2]
MOST_GROWTH = 64
"""MiB."""

FAILURES = times(2_000, 100_000)
FINAL = FAILURES // ATTEMPTS
LEASED = 100
"""Rows of a batch, which are not dropped while a drainer has them."""


def raging(where: str, *more: int) -> Storm:
    """Let a storm rage in a process of its own."""
    program = [sys.executable, "-W", "error", "-m", "tests.delivery.storm"]
    ended = subprocess.run(
        [*program, where, str(FAILURES), *map(str, more)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=times(110, 1_500),
    )
    assert (0, "") == (ended.returncode, ended.stderr)
    seen = Storm(**json.loads(ended.stdout))
    heard = {name: Heard(**values) for name, values in seen.heard.items()}
    return Storm(**{**json.loads(ended.stdout), "heard": heard})


@pytest.mark.parametrize(
    ("store", "bound"),
    [("memory", times(150, 8_000)), ("sqlite", times(700, 30_000))],
    ids=["memory", "sqlite"],
)
def test_a_storm_with_every_plugin_dead(store: str, bound: int, tmp_path: Path) -> None:
    """Memory and threads stay, decisions are as without plugins, and what fits arrives in order.

    What does not fit is counted and told, and nothing final is among it while anything else is. In
    memory not even all that is final fits.
    """
    seen = raging("memory" if store == "memory" else str(tmp_path / "failhook.db"), bound)

    assert raging("none").decisions == seen.decisions
    assert seen.growth <= MOST_GROWTH
    assert seen.growth_after <= MOST_GROWTH
    assert 1 == len(set(seen.threads))
    assert (0, 0) == (seen.waiting, seen.dead)
    assert {"raising", "hanging", "refusing"} == set(seen.heard)
    for heard in seen.heard.values():
        assert FAILURES == heard.delivered + heard.dropped
        assert (0, 0) == (heard.disorder, heard.repeated)
        assert FINAL == heard.final + heard.dropped_final
        assert FINAL <= bound or heard.delivered - heard.final <= LEASED
        assert bound < FINAL or heard.dropped_final == 0
        assert heard.dropped == sum(heard.dropped_by_kind.values())
        assert {"application", "infra", "timeout"} == set(heard.dropped_by_kind)
        assert bound * 0.9 <= heard.delivered <= bound * 1.1 + LEASED
