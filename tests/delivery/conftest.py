"""The stores that events must survive in, by the name that any process can open them under."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import PROBES
from tests.delivery.disks import PRIVATE
from tests.stores.conftest import POSTGRES


def _can_mount() -> bool:
    """Return whether this user may mount where nobody else sees it."""
    probe = [*PRIVATE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


PROBES["mounts"] = _can_mount


@pytest.fixture(params=["sqlite", POSTGRES])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the name of an empty store, for `open_store` in any process."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return str(tmp_path / "failhook.db")
