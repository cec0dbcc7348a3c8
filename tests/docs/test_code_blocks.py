"""What the documentation shows as Python is Python that runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if page.parent.name != "reasons"  # those have no Python: test_reason_pages
)
SYBIL = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_python_block_of_a_page_runs(page, tmp_path, monkeypatch):
    """A reader can run a page's Python blocks from top to bottom in an empty folder."""
    monkeypatch.chdir(tmp_path)

    for block in SYBIL.parse(page):
        block.evaluate()
