"""Exceptions that the standard library really raises, live and as they are recorded."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import json
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from failhook.classify import Classifier
from failhook.details import Kind
from failhook.evidence import Evidence

CLASSIFIER = Classifier()
CODE = ("application", "CodeLoadError", True)
SERIAL = ("application", "SerializationError", True)
REMOTE = ("application", "RemoteTransient", False)
SLOW = ("application", "ClientTimeout", False)


def die(code: int = 9) -> None:
    """End this process by a signal."""
    os.kill(os.getpid(), code)


class Finicky(Exception):  # noqa: N818 - a name as users give them
    """An exception that cannot be rebuilt from its arguments."""

    def __init__(self, one, *, two):
        super().__init__(one)
        self.two = two


def raise_finicky() -> None:
    """Raise what a process pool cannot bring back."""
    raise Finicky("one", two="two")


def refused() -> None:
    """Connect to a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    socket.create_connection(("127.0.0.1", port), timeout=5)


def too_slow() -> None:
    """Wait for an answer that never comes."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with socket.create_connection(server.getsockname(), timeout=0.01) as client:
            client.recv(1)


def pool_with(function, *arguments) -> None:
    """Run a function in a pool of one process."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        pool.submit(function, *arguments).result()


def run(script: str, **more) -> None:
    """Run a script in a shell, and raise what subprocess raises."""
    subprocess.run(["sh", "-c", script], check=True, **more)


def group() -> None:
    """Raise the group that a task group makes of its members' errors."""

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(asyncio.sleep(0))
            tasks.create_task(fail())

    async def fail() -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("raising", "expected"),
    [
        (lambda: importlib.import_module("no_such_module"), CODE),
        (lambda: compile("a b", "x.py", "exec"), CODE),
        (lambda: pickle.dumps(threading.Lock()), SERIAL),
        (lambda: pickle.dumps(lambda: 0), SERIAL),
        (lambda: json.dumps({1, 2}), SERIAL),
        (lambda: die(one=1), ("application", "UserException", True)),
        (lambda: sys.exit(4), ("application", "UserExit", None)),
        (lambda: 1 / 0, ("application", "UserException", None)),
        (lambda: open("/nonexistent"), ("application", "UserException", None)),  # noqa: SIM115, PTH123 - the error is wanted
        (refused, REMOTE),
        (too_slow, SLOW),
        (lambda: asyncio.run(asyncio.wait_for(asyncio.sleep(9), 0)), SLOW),
        (group, REMOTE),
        (lambda: run("exit 3"), ("application", "ChildProcessFailed", None)),
        (lambda: run("exit 127"), ("application", "SpecError", True)),
        (lambda: run("kill -9 $$"), ("infra", "KilledBySignal", None)),
        (lambda: run("sleep 9", timeout=0.01), ("application", "ClientTimeout", None)),
        (lambda: pool_with(die), ("infra", "WorkerLost", None)),
        (lambda: pool_with(raise_finicky), SERIAL),
    ],
)
def test_what_the_standard_library_raises(raising, expected):
    """The live exception and its record have the same, right verdict."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - of any kind
        raising()

    evidence = Evidence.exception(caught.value)
    live = CLASSIFIER.classify(None, evidence)
    recorded = CLASSIFIER.classify(
        None, Evidence.from_dict(json.loads(json.dumps(evidence.to_dict())))
    )

    assert expected == (live.kind, live.reason, live.deterministic)
    assert live == recorded


@pytest.mark.parametrize(
    ("status", "reason", "deterministic"),
    [
        (401, "PermissionDenied", True),
        (404, "NotFound", None),
        (429, "RemoteThrottled", False),
        (422, "InvalidInput", True),
        (503, "RemoteTransient", False),
    ],
)
def test_an_answer_of_a_real_server(status, reason, deterministic):
    """The status of a real HTTP answer decides, and Retry-After is kept."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Retry-After", "17")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/")
        thread.join()
    details = CLASSIFIER.classify(None, Evidence.exception(caught.value))
    caught.value.close()

    assert (Kind.APPLICATION, reason, deterministic) == (
        details.kind,
        details.reason,
        details.deterministic,
    )


def test_a_signal_that_python_names_is_read():
    """A child's end by a real signal is read from the exception, not from its words."""
    with pytest.raises(subprocess.CalledProcessError) as caught:
        subprocess.run(["sh", "-c", f"kill -{int(signal.SIGABRT)} $$"], check=True)

    assert "child.crash" == CLASSIFIER.classify(None, Evidence.exception(caught.value)).rule
