"""What the README shows as output is what `make demo` prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
VARYING = (r"run [0-9a-f]{32}", r"Where: [^,]+")
"""What differs from run to run and from host to host."""


def printed(*words):
    """Return what a program of the demo prints."""
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def folded(text):
    """Return a text without what differs."""
    for pattern in VARYING:
        text = re.sub(pattern, "*", text)
    return text.strip()


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What `make demo` prints, in its two parts."""
    events = tmp_path_factory.mktemp("demo") / "events.jsonl"
    table = printed("-m", "failhook", "demo", "--events", events)
    return table, printed(ROOT / "examples" / "three_views.py", events)


def test_the_readme_shows_what_the_demo_prints(demo):
    """The table is real output, word for word."""
    table, _ = demo

    assert PICTURES[0] in table
    assert max(map(len, table.splitlines())) <= 80


def test_the_readme_shows_the_message_that_the_demo_sends(demo):
    """As it arrived at the other side of Slack's own client."""
    _, views = demo

    assert folded(PICTURES[1]) in folded(views)


def test_the_demo_shows_the_same_failures_in_three_ways(demo):
    """A lineage event, a tree of spans with its links, and a message, all within 80 columns."""
    _, views = demo

    assert '"eventType": "FAIL"' in views
    assert '"reason": "UserException"' in views
    tree = re.sub(r" +\d+ m?s", "", views)
    assert "demo.evicted  attempt 2, error, infra KilledBySignal, after 1\n" in tree
    assert "demo.evicted  attempt 3, success, after 1 and 2\n" in tree
    paths = [line for line in views.splitlines() if 'File "' in line]
    assert max(len(line) for line in views.splitlines() if line not in paths) <= 80
