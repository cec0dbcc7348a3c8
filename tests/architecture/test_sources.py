"""House rules that no linter has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("hooks", "sinks", "tests", "examples", "docs")
    for path in (ROOT / folder).rglob("*.py")
)
SHIPPED = [path for path in SOURCES if path.relative_to(ROOT).parts[0] in {"hooks", "sinks"}]

SUPPRESSION = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore|pragma:\s*no)\b(?P<rest>.*)")
REASON = re.compile(r"\s[-#]\s+\w+")
MAX_LINES = 450


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_suppressed_check_says_why(path):
    """Whoever silences a checker leaves the reason on the same line."""
    without = [
        f"{path.name}:{number}: {line.strip()}"
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (found := SUPPRESSION.search(line)) and not REASON.search(found["rest"])
    ]

    assert [] == without


def test_no_module_is_too_long_to_be_about_one_thing():
    """A shipped module ends before line 450."""
    lengths = {path.name: len(path.read_text().splitlines()) for path in SHIPPED}

    assert {} == {name: lines for name, lines in lengths.items() if lines > MAX_LINES}
