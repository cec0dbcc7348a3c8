"""`failhook status`: what somebody may have to act on."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from failhook import Evidence, Pipeline, Policy, Task
from failhook.manager import Manager
from failhook.outbox.port import Bounds
from failhook.plugin import Undelivered, hookimpl
from failhook.stores import open_store
from tests.cli.stores import Refusing


class Busy:
    """A plugin whose receiver takes nothing at the moment."""

    @hookimpl
    def on_task_failed(self, event):
        raise Undelivered("429 from the receiver", retry_after=3600)


def a_store_with_something_of_everything(path: Path) -> None:
    """Leave one task on hold, one attempt open, one event waiting and one given up."""
    manager = Manager()
    manager.register(Busy(), "busy")
    manager.register(Refusing(), "refusing")
    with Pipeline(open_store(path), manager=manager) as pipeline:
        held = Task("billing", "charge", run_id="r1", idempotent=False, policy=Policy())
        pipeline.started(held)
        pipeline.failed(held, Evidence.returncode(-9, oom_host=0))
        pipeline.started(Task("nightly", "load", run_id="r1"))
        pipeline.flush(10)


def test_status_shows_what_waits_for_somebody(call, place):
    """A hold with the command that ends it, an open attempt, what waits and why, what died."""
    a_store_with_something_of_everything(place / "here.db")

    answer = call("status", "--store", "here.db")

    lines = answer.out.splitlines()
    assert (0, "", "store here.db") == (answer.code, answer.err, lines[0])
    held, resolve = lines[lines.index("On hold") + 1 :][:2]
    assert "  default/billing/charge/r1/1  attempt 1: infra KilledBySignal" == held
    running = lines[lines.index("Running, or lost with its supervisor") + 1]
    assert running.startswith("  default/nightly/load/r1/1  attempt 1, process ")
    (waiting,) = (line for line in lines if line.startswith("  plugin busy  1 waiting"))
    assert waiting.endswith("s ago, the next due in 1h: 429 from the receiver")
    assert "Given up: failhook dead-letters list --store here.db" in lines
    assert "  plugin refusing  1 event, the last: 413 too large" in lines
    command = shlex.split(resolve.replace("retry|fail|succeeded", "fail"))
    assert call(*command[1:]).code == 0
    assert "On hold" not in call("status", "--store", "here.db").out


def test_status_as_json_has_the_same(call, place):
    """A monitor reads the four lists."""
    a_store_with_something_of_everything(place / "here.db")

    document = json.loads(call("status", "--json", "--store", "here.db").out)

    assert ["default/billing/charge/r1/1"] == [each["task"] for each in document["held"]]
    assert ["default/nightly/load/r1/1"] == [each["task"] for each in document["open"]]
    assert [("busy", 1, "429 from the receiver")] == [
        (each["plugin"], each["count"], each["error"]) for each in document["undelivered"]
    ]
    assert [("refusing", "413 too large")] == [
        (each["plugin"], each["error"]) for each in document["dead_letters"]
    ]


def test_a_quiet_store_says_so(call, place):
    """Nothing to do is said in words."""
    open_store(place / "here.db").close()

    assert call("status", "--store", "here.db").out == (
        "store here.db\n\nNothing is on hold, open or undelivered.\n"
    )


def test_a_retry_that_has_not_begun_and_what_was_dropped_are_shown(call, place):
    """A task between two attempts, and what a plugin will never get."""
    manager = Manager()
    manager.register(Refusing(), "refusing")
    store = open_store(place / "here.db", Bounds(events=1))
    with Pipeline(store, manager=manager, dispatch="none") as pipeline:
        for name in ("load", "sum", "mail"):
            task = Task("nightly", name, run_id="r1", policy=Policy(retries=1))
            pipeline.failed(task, Evidence.returncode(1))

    text = call("status", "--store", "here.db").out
    document = json.loads(call("status", "--json", "--store", "here.db").out)

    assert "  default/nightly/load/r1/1  attempt 2, granted " in text
    assert "  plugin refusing  2 events\n" in text
    assert 3 == len(document["granted"])
    assert [("refusing", 2, 0)] == [
        (each["plugin"], each["events"], each["final"]) for each in document["dropped"]
    ]


def test_many_tasks_are_counted_beyond_the_first_twenty(call, place):
    """A terminal is not flooded; --json has them all."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        for number in range(23):
            pipeline.started(Task("nightly", f"load-{number}", run_id="r1"))

    text = call("status", "--store", "here.db").out
    document = json.loads(call("status", "--json", "--store", "here.db").out)

    assert 20 == text.count("  attempt 1, process ")
    assert "  and 3 more, which --json has\n" in text
    assert 23 == len(document["open"])
