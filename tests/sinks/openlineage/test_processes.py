"""The client belongs to one process, comes when it is needed, and goes when it is closed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from failhook.clock import SystemClock
from failhook_sinks.openlineage import OpenLineageSink
from tests.sinks.openlineage.conftest import an_event, tell

FORKS = """
import os, sys
from failhook import Evidence, Pipeline, Task
from failhook.clock import SystemClock
from failhook.manager import Manager
from failhook_sinks.openlineage import OpenLineageSink

transport = {"type": sys.argv[1], "url": sys.argv[2]}
manager = Manager()
manager.register(OpenLineageSink({"transport": transport}, SystemClock()), "openlineage")
pipeline = Pipeline(manager=manager, dispatch="inline")
pipeline.failed(Task("nightly", "parent"), Evidence.returncode(1))
child = os.fork()
if not child:
    pipeline.failed(Task("nightly", "child"), Evidence.returncode(1))
    os._exit(0 if pipeline.close() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
pipeline.failed(Task("nightly", "after"), Evidence.returncode(1))
assert pipeline.close()
"""


@pytest.mark.parametrize("kind", ["http", "async_http"])
def test_a_forked_child_delivers_for_itself(backend, tmp_path, kind):
    """A worker that was forked after the first event shares no queue and no connection."""
    program = [sys.executable, "-W", "error", "-c", FORKS, kind, backend.url]

    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)
    names = [event["job"]["name"] for event in backend.events]
    assert ["nightly.parent"] * 2 + ["nightly.child"] * 2 + ["nightly.after"] * 2 == names
    assert set(backend.peers[2:4]).isdisjoint(backend.peers[:2] + backend.peers[4:])


def test_the_client_is_imported_when_the_first_event_comes():
    """It takes half a second, and most processes never see a failure."""
    program = (
        "import sys\n"
        "from failhook.clock import SystemClock\n"
        "from failhook_sinks.openlineage import OpenLineageSink\n"
        "OpenLineageSink({'transport': {'type': 'console'}}, SystemClock()).close(1.0)\n"
        "print(sorted({'openlineage.client', 'attr', 'requests', 'yaml'} & sys.modules.keys()))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert "[]" == done.stdout.strip()


def test_close_is_asked_twice_without_harm_and_says_what_the_client_says(make_sink, backend):
    """An event after it opens the client anew."""
    sink = make_sink()
    assert sink.close(1.0) is True

    tell(sink, an_event())
    assert sink.close(1.0) is True
    assert sink.close(1.0) is True
    tell(sink, an_event())

    assert ["START", "FAIL"] * 2 == backend.states


def test_a_client_that_could_not_finish_is_not_said_to_have(monkeypatch):
    """Its own answer is passed on."""
    from openlineage.client.transport import Transport, get_default_factory

    class Stuck(Transport):
        kind = "stuck"

        def __init__(self, config):
            """Need nothing."""

        def emit(self, event):
            """Take it."""

        def close(self, timeout=-1.0):
            return timeout > 5

    monkeypatch.setitem(get_default_factory().transports, "stuck", Stuck)
    sink = OpenLineageSink({"transport": {"type": "stuck"}}, SystemClock())
    tell(sink, an_event())

    assert sink.close(1.0) is False
