"""A drainer by itself delivers what others report, until it is stopped or nothing is due."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from dataclasses import replace

from failhook.manager import Limits, Manager
from failhook.pipeline.counts import Progress
from failhook.pipeline.sidecar import Sidecar
from failhook.plugin import FailureEvent, Undelivered, hookimpl
from failhook.stores import open_store
from tests.outbox.world import QUICK, Gathering, Good, fail, pipeline_on, until


def sidecar_on(store, *plugins, clock=None, limits=QUICK, call=30.0):
    """Return a sidecar whose plugins are named by their class, in lower case."""
    manager = Manager(clock=clock, limits=Limits(call=call, failures=1000))
    for plugin in plugins:
        manager.register(plugin, type(plugin).__name__.lower())
    return Sidecar(store, manager, clock=clock, delivery=limits, random=lambda: 1.0)


def test_once_ends_when_nothing_is_due_and_says_what_became_of_it(store, clock):
    """What waits for a later time is left; a hung plugin is not waited for."""
    over = threading.Event()

    class Refusing:
        """Refuses for now, or for good."""

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            raise Undelivered("no", retryable=event.task.name == "a", retry_after=60.0)

    class Hanging:
        """Never comes back."""

        @hookimpl
        def on_task_failed(self) -> None:
            over.wait(60)

    good = Good()
    plugins = (good, Refusing(), Gathering(clock))
    with pipeline_on(store, *plugins, Hanging(), clock=clock, dispatch="none") as filling:
        fail(filling, "a", "b")
        with sidecar_on(store, *plugins, clock=clock) as sidecar:
            progress = sidecar.run(threading.Event(), once=True)
            stuck = sidecar_on(store, Hanging(), call=0.05)
            stuck.run(threading.Event(), once=True)
            over.set()

            assert Progress(delivered=2, refused=2, dead=1) == progress
            assert 2 == len(good.events)
            assert not sidecar.close()
            stuck.close()


def test_it_goes_on_until_it_is_stopped_and_reports_on_the_way(store):
    """Events that are reported while it runs are delivered, although nobody wakes it."""
    good, stop, seen = Good(), threading.Event(), []
    with pipeline_on(store, good, dispatch="none") as reporting:
        sidecar = sidecar_on(store, good)
        thread = threading.Thread(
            target=sidecar.run, args=(stop,), kwargs={"every": 0.02, "report": seen.append}
        )
        thread.start()
        fail(reporting, "a")
        assert until(lambda: len(good.events) == 1)
        fail(reporting, "b")
        assert until(lambda: bool(seen) and seen[-1].delivered == 2)
        stop.set()
        thread.join(20)

        assert not thread.is_alive()
        assert sidecar.close()


SIDECAR = """
import signal, sys, threading
from failhook import Manager, hookimpl
from failhook.outbox.limits import DeliveryLimits
from failhook.pipeline.sidecar import Sidecar
from failhook.stores import open_store

class Good:
    @hookimpl
    def on_task_failed(self, event):
        with open(sys.argv[2], "a") as file:
            file.write(event.event_id + "\\n")

stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
manager = Manager()
manager.register(Good(), "good")
with Sidecar(open_store(sys.argv[1]), manager, delivery=DeliveryLimits(poll=0.05)) as sidecar:
    sidecar.run(stop, every=0.05)
"""


def test_several_at_once_share_a_store_and_deliver_each_event_once(tmp_path):
    """Two processes and a pipeline of this one; SIGTERM ends a sidecar cleanly."""
    path, heard = tmp_path / "failhook.db", tmp_path / "heard"
    good = Good()
    pipeline = pipeline_on(open_store(path), good, limits=replace(QUICK, batch=5))
    command = [sys.executable, "-W", "error", "-c", SIDECAR, str(path), str(heard)]
    with pipeline_on(open_store(path), good, dispatch="none") as filling:
        fail(filling, *(f"early-{number}" for number in range(100)))
    sidecars = [subprocess.Popen(command) for _ in range(2)]
    try:
        assert until(heard.exists, 60)
        fail(pipeline, *(f"late-{number}" for number in range(100)))
        assert until(lambda: pipeline.store.pending() == 0, 60)
    finally:
        for sidecar in sidecars:
            sidecar.send_signal(signal.SIGTERM)
        codes = [sidecar.wait(60) for sidecar in sidecars]
    elsewhere = heard.read_text().split()

    assert 0 in codes  # the other may have had no time to set its handler
    assert set(codes) <= {0, -signal.SIGTERM}
    assert 200 == len(elsewhere) + len(good.events)
    assert 200 == len({*elsewhere, *(event.event_id for event in good.events)})
    assert pipeline.close()
