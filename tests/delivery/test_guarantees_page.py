"""The page of guarantees names tests that exist, and every test of this folder is named."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text("utf-8")


def defined_in(path: Path) -> set[str]:
    """Return the tests that a file defines."""
    tree = ast.parse(path.read_text("utf-8"))
    return {
        f"{path.relative_to(ROOT)}::{node.name}"
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_each_proof_on_the_page_is_a_test() -> None:
    """A reader who looks for the proof of a promise finds it under the name that is given."""
    named = set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", PAGE))
    there = set().union(*(defined_in(ROOT / name.partition("::")[0]) for name in named))

    assert named
    assert set() == named - there
