"""The command goes on when its store breaks down under it, and says so once."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from failhook.gate.ledger import AttemptState
from failhook.stores import open_store


@pytest.mark.parametrize("code", [0, 3])
def test_a_command_whose_store_is_replaced_ends_with_its_own_exit_code(
    tmp_path: Path, code: int
) -> None:
    """What the command says of itself counts, and is written down where it can be again."""
    folder = tmp_path / "state"
    folder.mkdir()
    command = f"rm -r {folder}; mkdir {folder}; echo done; exit {code}"

    run = [sys.executable, "-W", "error", "-m", "failhook", "run", "--retries", "0"]
    ended = subprocess.run(
        [*run, "--store", str(folder / "failhook.db"), "--", "sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=60,
    )

    assert (code, "done\n") == (ended.returncode, ended.stdout)
    assert 1 == ended.stderr.count("was deleted or replaced while it was in use")
    with closing(open_store(folder / "failhook.db")) as store:
        (attempt,) = store.history("run/sh", limit=9)
    assert (code == 0) == (attempt.state is AttemptState.SUCCEEDED)
