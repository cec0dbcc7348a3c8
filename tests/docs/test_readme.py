"""What the README shows as output is what the command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_what_the_demo_prints():
    """The picture in the README is real output, word for word."""
    shown = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    demo = subprocess.run(
        [sys.executable, "-m", "failhook", "demo"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert shown is not None
    assert demo.stdout.strip() == shown[1].strip()
    assert max(map(len, demo.stdout.splitlines())) <= 80
