"""The command goes on when its store breaks down under it, and says so once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("code", [0, 3])
def test_a_command_whose_store_is_removed_ends_with_its_own_exit_code(
    tmp_path: Path, code: int
) -> None:
    """What the command says of itself counts; what could not be written is told once."""
    folder = tmp_path / "state"
    folder.mkdir()
    command = f"rm -r {folder}; echo done; exit {code}"

    run = [sys.executable, "-W", "error", "-m", "failhook", "run", "--retries", "2"]
    ended = subprocess.run(
        [*run, "--store", str(folder / "failhook.db"), "--", "sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=60,
    )

    assert (code, "done\n") == (ended.returncode, ended.stdout)
    lines = ended.stderr.splitlines()
    assert 1 <= len(lines) == len(set(lines))
    assert all(f"store {folder / 'failhook.db'}: " in line for line in lines)
