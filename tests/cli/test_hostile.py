"""What tasks, plugins and many of them could do to who looks: nothing."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress

import pytest

from failhook import Evidence, Pipeline, Policy, Task
from failhook.cli.terminal import width_of
from failhook.manager import Manager
from failhook.plugin import Undelivered, hookimpl
from failhook.stores import open_store
from tests.cli.stores import dead_letters, multiplied

HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202egnp\u202c\u2066x\x9b2J\r\n\ttab\u200b"
NAMES = {
    "escapes": HOSTILE,
    "right-to-left": "דוח-יומי",
    "wide": "报告" * 60,
    "long": "n" * 1_000,
    "combining": "e\u0301\u0301" * 40,
}
LOOKS = {
    "dead-letters": ["dead-letters", "list"],
    "show": ["dead-letters", "show", "--all"],
    "replay": ["dead-letters", "replay", "--all"],
    "status": ["status"],
    "doctor": ["doctor"],
    "stats": ["stats", "--by", "node"],
    "history": ["history", "default/{}/{}/r1/1"],
    "lately": ["history", "--since", "1h"],
    "unknown": ["history", "default/{}/x{}/r1/1"],
}
UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")


class Hostile:
    """A plugin whose errors are hostile too."""

    @hookimpl
    def on_task_failed(self, event):
        raise Undelivered(f"413 {HOSTILE}", retryable=False)


def a_store_of(path, name: str) -> Task:
    """Leave one task on hold whose every text is hostile, and what was given up of it."""
    manager = Manager()
    manager.register(Hostile(), "hostile")
    task = Task(
        f"wf-{name}"[:1000], name, run_id="r1", owner=name, policy=Policy(), idempotent=False
    )
    with Pipeline(open_store(path), manager=manager) as pipeline:
        task = pipeline.started(task)
        verdict = Evidence.verdict("infra", "NodeLost", message=name, started="yes", node=name)
        pipeline.failed(task, verdict)
        pipeline.flush(10)
    return task


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_a_task_wrote_reaches_the_terminal_as_it_is(name, call, place):
    """Escape sequences, direction marks and line ends in names, nodes and errors are shown."""
    task = a_store_of(place / "here.db", NAMES[name])
    parts = task.job_key.split("/")[1:]

    for words in LOOKS.values():
        told = call(*(word.format(*parts) for word in words), "--store", "here.db")

        assert told.out + told.err
        assert None is UNPRINTABLE.search(told.out + told.err), words


def test_evidence_is_harmless_too(call):
    """A message in a pod reaches classify's and explain's reader as text."""
    document = {"evidence": {"exit_code": 3, "log_tail": HOSTILE, "exception": HOSTILE}}

    for command in ("classify", "explain"):
        told = call(command, stdin=json.dumps(document).encode())

        assert 0 == told.code
        assert None is UNPRINTABLE.search(told.out)


def test_tables_fit_a_terminal_of_80_columns(place):
    """On a real terminal no line of a table is wider, and what is cut is said."""
    for name in NAMES.values():
        a_store_of(place / "here.db", name)

    for words in (LOOKS["dead-letters"], LOOKS["stats"], LOOKS["lately"]):
        shown = at_terminal(*words, "--store", "here.db", columns=80)

        assert all(width_of(line) <= 80 for line in shown.splitlines())
        assert "(cut to 80 columns; a pipe gets everything, and so does --json)" in shown


def test_the_head_of_a_history_fits_a_terminal(place):
    """Key, count and budgets of a task of an ordinary name go on in a second line."""
    task = Task("nightly-billing", "load-customers-and-orders", run_id="scheduled__2026-03-29")
    with Pipeline(open_store(place / "here.db")) as pipeline:
        pipeline.failed(task, Evidence.returncode(3))

    shown = at_terminal("history", task.key, "--store", "here.db", columns=80)

    assert task.key in shown
    assert "infra 0/0" in shown
    assert all(width_of(line) <= 80 for line in shown.splitlines())


def test_a_hundred_thousand_dead_letters_are_shown_page_by_page(call, place):
    """The first hundred come at once, the way to the others is told, and each is shown once."""
    dead_letters(place / "here.db", 1)
    multiplied(place / "here.db", 100_000)

    first = call("dead-letters", "list", "--store", "here.db").out
    last = call("dead-letters", "list", "--after", "99999", "--store", "here.db").out

    assert "100,000 dead letters in here.db: refusing 100,000\n" in first
    assert "100 shown; --after 100 goes on, --limit 0 shows all\n" in first
    assert [str(number) for number in range(1, 101)] == re.findall(r"(?m)^ *(\d+)  refusing", first)
    assert ["100000"] == re.findall(r"(?m)^ *(\d+)  refusing", last)
    for command in ("status", "doctor"):
        assert "100,000 events" in call(command, "--store", "here.db").out


def test_pages_add_up(call, place):
    """What is listed, replayed and dropped over several pages is each letter once."""
    dead_letters(place / "here.db", 1)
    multiplied(place / "here.db", 1_203)

    listed = call("dead-letters", "list", "--json", "--store", "here.db").out.splitlines()
    replayed = call("dead-letters", "replay", "--all", "--json", "--store", "here.db").out

    assert list(range(1, 1_204)) == [json.loads(line)["id"] for line in listed]
    assert 1_203 == json.loads(replayed)["done"]
    assert 1_203 == open_store(place / "here.db").pending()


def test_a_reader_that_goes_away_ends_it_quietly(process, place):
    """`failhook dead-letters list --json | head -1` prints its line and nothing else."""
    dead_letters(place / "here.db", 1)
    multiplied(place / "here.db", 20_000)
    child = process("dead-letters", "list", "--json", "--store", "here.db")

    child.stdout.readline()
    child.stdout.close()

    assert b"" == child.stderr.read()
    assert 141 == child.wait()


def at_terminal(*words: str, columns: int) -> str:
    """Return what the command shows on a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    shown = b""
    with subprocess.Popen([sys.executable, "-m", "failhook", *words], stdout=theirs) as child:
        os.close(theirs)
        with suppress(OSError):  # how Linux says that the other side is closed
            while part := os.read(ours, 65_536):
                shown += part
        os.close(ours)
    assert 0 == child.returncode
    return shown.decode().replace("\r\n", "\n")
