"""A test that needs a service never passes by not running where it must run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SETTINGS = HERE.with_name("pyproject.toml")
NEEDY_TESTS = """
import pytest

@pytest.mark.requires_service("sh")
def test_here():
    pass

@pytest.mark.requires_service("no-such-service")
def test_missing():
    pass
"""


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", "1 passed, 1 error"), ("", "1 passed, 1 skipped")]
)
def test_a_missing_service_is_a_skip_for_people_and_a_failure_in_ci(tmp_path, ci, outcome):
    """The same missing service skips with a reason on a desk and fails in CI."""
    (tmp_path / "conftest.py").write_text((HERE / "conftest.py").read_text())
    (tmp_path / "test_needy.py").write_text(NEEDY_TESTS)

    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", SETTINGS, "-p", "no:cacheprovider", tmp_path],
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )

    assert outcome in result.stdout
    assert "no-such-service is not here" in result.stdout
