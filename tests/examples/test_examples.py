"""What the examples show, they do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

USE_THE_PLUGIN = """
from failhook import Evidence, Pipeline, Task

with Pipeline.from_config("failhook.toml", dispatch="inline") as pipeline:
    assert "tickets" in pipeline.manager.names()
    task = pipeline.started(Task("nightly", "load", run_id="r1", idempotent=False))
    pipeline.failed(task, Evidence.returncode(-9))
    print(open("nightly-load-r1.txt").read())
    pipeline.resolve(task, "succeeded", actor="ann")
    print(open("nightly-load-r1.txt").read())
"""


def test_the_embedded_executor_spends_the_retry_on_the_bug_alone(tmp_path: Path) -> None:
    """Two kills are refunded, the bug pays with the one retry, and the second bug is final."""
    run = subprocess.run(
        [sys.executable, ROOT / "examples" / "embedded_executor.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
    )

    assert (1, "") == (run.returncode, run.stderr)
    assert ["infra", "infra", "application", "application"] == [
        line.split()[2] for line in run.stdout.splitlines() if line.startswith("attempt")
    ]
    assert "user 1/1, infra 2/3, system 0/3" in run.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the plugin installed from its own pyproject."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--target", folder, ROOT / "examples" / "ticket_plugin"),
        ],
        check=True,
        timeout=300,
    )
    return folder


def test_a_plugin_from_elsewhere_is_found_by_its_entry_point(
    installed: Path, tmp_path: Path
) -> None:
    """It gets its settings and its state, opens a ticket for what is final, and closes it."""
    (tmp_path / "failhook.toml").write_text(
        f'store = "failhook.db"\n[plugins.tickets]\nfolder = "{tmp_path}"\n'
    )
    run = subprocess.run(
        [sys.executable, "-c", USE_THE_PLUGIN],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )

    assert 0 == run.returncode, run.stderr
    assert "OPEN nightly/load: infra KilledBySignal" in run.stdout
    assert "CLOSED nightly/load: infra KilledBySignal" in run.stdout


def test_wrong_settings_of_a_plugin_are_named_at_the_start(installed: Path, tmp_path: Path) -> None:
    """The message says which setting is wrong and what it must be."""
    (tmp_path / "failhook.toml").write_text("[plugins.tickets]\nfolder = 3\n")
    run = subprocess.run(
        [sys.executable, "-c", USE_THE_PLUGIN],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )

    assert "plugins.tickets.folder is 3; it must be a folder's path" in run.stderr
