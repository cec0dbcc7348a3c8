"""`failhook deliver`: what a store holds goes out beside the processes that report."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from failhook import Evidence, Pipeline, Task
from failhook.manager import Manager
from failhook.stores import open_store

PLUGIN = """
import time
from pathlib import Path
from failhook.plugin import Undelivered, hookimpl

@hookimpl
def on_task_failed(event):
    if event.task.name == "too-large":
        raise Undelivered("429 from the receiver", retry_after=3600)
    if event.task.name == "slow":
        Path("begun.txt").touch()
        while not Path("go-on.txt").exists():
            time.sleep(0.01)
    with Path("got.txt").open("a") as file:
        file.write(f"{event.task.name}\\n")
"""


@pytest.fixture
def plugin(package, place, monkeypatch, tmp_path):
    """Install a plugin that writes down what it gets, for this process and those it starts."""
    package(PLUGIN, "[failhook]\nacme = acme\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"), prepend=os.pathsep)


def report(path, *names: str) -> None:
    """Report failures from a process that delivers nothing itself."""
    manager = Manager()
    manager.load_entry_points(only=["acme"])
    with Pipeline(open_store(path), manager=manager, dispatch="none") as pipeline:
        for name in names:
            pipeline.failed(Task("nightly", name, run_id="r1"), Evidence.returncode(1))


def until(happens) -> None:
    """Wait for something that another process does."""
    while not happens():
        time.sleep(0.01)


def signal_is_default(pid: int, number: int) -> bool:
    """Return whether a process neither catches nor ignores a signal (proc(5))."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    masks = [line.split()[1] for line in lines if line.startswith(("SigCgt", "SigIgn"))]
    return not any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


@pytest.mark.usefixtures("plugin")
def test_once_delivers_all_that_is_due_and_ends(call, place):
    """With --once it hands over everything that another process left, and exits 0."""
    report(place / "here.db", "load", "sum")

    answer = call("deliver", "--once", "--store", "here.db")

    assert (0, "") == (answer.code, answer.out)
    assert ["load", "sum"] == sorted((place / "got.txt").read_text().split())
    assert "failhook: 2 events delivered" in answer.err.splitlines()
    assert 0 == open_store(place / "here.db").pending()


@pytest.mark.usefixtures("plugin")
def test_once_says_what_stays_and_why(call, place):
    """What a receiver does not take stays, is named with its cause, and the exit code is 1."""
    report(place / "here.db", "load", "too-large")

    answer = call("deliver", "--once", "--store", "here.db")

    assert 1 == answer.code
    assert (
        "failhook: 1 event was not delivered to plugin acme yet (429 from the receiver); "
        "it waits in here.db for the next process, or for failhook deliver"
        in answer.err.splitlines()
    )
    assert ["load"] == (place / "got.txt").read_text().split()


@pytest.mark.usefixtures("plugin")
def test_json_tells_beginning_and_end(call, place):
    """Each line of --json is one object, and the last one counts what became of events."""
    report(place / "here.db", "load")

    answer = call("deliver", "--once", "--json", "--store", "here.db")

    began, *_, ended = map(json.loads, answer.out.splitlines())
    assert ("began", "here.db", {}) == (began["event"], began["store"], began["not_held"])
    assert {"acme", "log"} == set(began["plugins"])
    assert ("ended", 1, []) == (ended["event"], ended["delivered"], ended["waiting"])


def test_events_of_plugins_that_are_not_here_are_named(call, place, package, monkeypatch):
    """Nobody would deliver them: it says for which plugins something waits, and how much."""
    with monkeypatch.context():
        package(PLUGIN, "[failhook]\nacme = acme\n")
        report(place / "here.db", "load")
        (place.parent / "site/acme-1.0.dist-info/entry_points.txt").unlink()

        answer = call("deliver", "--once", "--store", "here.db")

    assert 0 == answer.code
    assert (
        "failhook: events wait for plugins that are not here: acme 1; "
        "whoever holds these plugins delivers them" in answer.err.splitlines()
    )
    assert 1 == open_store(place / "here.db").pending()


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_well(number, process, place):
    """Told to end by whichever signal, it exits with 0 and says what it did."""
    report(place / "here.db", "load")
    child = process("deliver", "--store", "here.db", "--json")
    until((place / "got.txt").exists)

    child.send_signal(number)
    out, err = child.communicate(timeout=60)

    ended = json.loads(out.splitlines()[-1])
    assert (0, b"", "ended", 1) == (child.returncode, err, ended["event"], ended["delivered"])


@pytest.mark.usefixtures("plugin")
def test_it_goes_on_and_says_how_far_it_is(process, place):
    """What is reported meanwhile goes out too, and a line tells of it, also without a terminal."""
    (place / "failhook.toml").write_text('[plugins]\nblock = ["log"]\n')
    child = process("deliver", "--store", "here.db", "--progress")
    began = child.stderr.readline()
    report(place / "here.db", "load")

    progress = child.stderr.readline()

    assert b"failhook: delivering from here.db to acme\n" == began
    assert b"failhook: 1 event delivered\n" == progress


@pytest.mark.usefixtures("plugin")
def test_the_call_under_way_ends_and_no_other_begins(process, place):
    """After the first signal what runs is finished and marked; what waits stays for others."""
    report(place / "here.db", "slow", *(f"load-{number}" for number in range(500)))
    child = process("deliver", "--store", "here.db")
    until((place / "begun.txt").exists)

    child.send_signal(signal.SIGTERM)
    child.stderr.readline()  # that it has begun to deliver; what follows is told at its end
    (place / "go-on.txt").touch()
    out, err = child.communicate(timeout=60)

    assert (0, b"") == (child.returncode, out)
    got = (place / "got.txt").read_text().split()
    left = open_store(place / "here.db")
    assert "slow" == got[0]
    assert 501 == len(got) + left.pending()
    assert [] == list(left.holders("acme"))
    assert (len(got) < 501) is (b"not delivered to plugin acme yet" in err)


@pytest.mark.usefixtures("plugin")
def test_a_second_signal_ends_it_at_once(process, place):
    """Whoever does not want to wait for a plugin that hangs need not, and what hung stays."""
    report(place / "here.db", "slow")
    child = process("deliver", "--store", "here.db")
    until((place / "begun.txt").exists)

    child.send_signal(signal.SIGTERM)
    until(lambda: child.poll() is not None or signal_is_default(child.pid, signal.SIGINT))
    child.send_signal(signal.SIGINT)

    assert -signal.SIGINT == child.wait(timeout=60)
    assert 1 == open_store(place / "here.db").pending()


STORES = ["here.db", pytest.param("", marks=pytest.mark.requires_service("postgres"))]


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("store", STORES, ids=["sqlite", "postgres"])
def test_several_deliver_at_once_and_nothing_twice(store, process, place, request):
    """Any number of them may share a store: each event goes to one of them."""
    where = store or request.getfixturevalue("postgres_url")
    names = [f"load-{number}" for number in range(300)]
    report(where, *names)

    children = [process("deliver", "--once", "--store", where) for _ in range(3)]

    assert {0} == {child.wait(timeout=60) for child in children}
    assert sorted(names) == sorted((place / "got.txt").read_text().split())


def test_a_store_in_memory_is_refused(call):
    """Nobody else can see it, so there is nothing to deliver."""
    assert (
        "failhook deliver: a store in memory belongs to its process: nobody else can deliver it"
        == call("deliver", "--once", "--store", "memory").error
    )


def test_keep_forgets_tasks_that_ended_long_ago(call, place):
    """With --keep, and only then, the store forgets what ended before that."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        pipeline.failed(Task("nightly", "load", run_id="r1"), Evidence.returncode(1))

    call("deliver", "--once", "--store", "here.db")
    assert 1 == len(open_store(place / "here.db").history("nightly/load", limit=9))

    answer = call("deliver", "--once", "--store", "here.db", "--keep", "0.001")

    assert "failhook: forgot 1 task that ended long ago" in answer.err.splitlines()
    assert () == tuple(open_store(place / "here.db").history("nightly/load", limit=9))
