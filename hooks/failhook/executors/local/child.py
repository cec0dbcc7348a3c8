"""Runs in the new process of a callable: loads it, calls it, and says how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import resource
import select
import signal
import sys
import threading
from types import CoroutineType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from failhook.executors.local import launch
from failhook.executors.local.stops import RAISES

if TYPE_CHECKING:
    from failhook.error_info import ErrorInfo


class Channel:
    """The child's end of the socket.

    It is silent in a process that the task forked, and where the task has closed what it does not
    know: the number may be a file of the task's own by now.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._lock = threading.Lock()
        self._identity = _identity(fd)
        os.set_inheritable(fd, False)  # noqa: FBT003 - the signature of os

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Report; when the executor is gone there is nobody to tell."""
        if self.works():
            with self._lock, contextlib.suppress(OSError):
                launch.send(self.fd, kind, payload)

    def works(self) -> bool:
        """Return whether the descriptor is still the socket."""
        return self.fd >= 0 and _identity(self.fd) == self._identity

    def asked_to_stop(self) -> bytes:
        """Return why the executor sent SIGTERM; empty when it did not."""
        if not self.works():
            return b""
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return os.read(self.fd, 1) if poll.poll(0) else b""

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        os.close(fd)


def _identity(fd: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Terminations:
    """Hears every SIGTERM, also one that the task itself swallows.

    The interpreter writes the number of each signal that has a Python handler, whosever it is, to
    the wake-up descriptor.
    """

    def __init__(self, channel: Channel) -> None:
        self.running = False
        self._channel = channel
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_sigterm)
        os.register_at_fork(after_in_child=self._forget)

    def _on_sigterm(self, _signal: int, _frame: FrameType | None) -> None:
        why = self._channel.asked_to_stop()
        if not why:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        elif self.running:
            raise RAISES[why]

    def seen(self) -> int:
        """Return how many SIGTERM have come so far."""
        with contextlib.suppress(
            OSError
        ):  # none came, or the task has closed what it does not know
            return os.read(self._read, 1 << 16).count(signal.SIGTERM)
        return 0

    def _forget(self) -> None:
        """Make a process that the task forks as it would have been without us."""
        self._channel.close()
        if signal.getsignal(signal.SIGTERM) == self._on_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        theirs = signal.set_wakeup_fd(-1)
        if theirs != self._write:
            signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)


def watch(channel: Channel, interval: float | None) -> None:
    """Beat every `interval` seconds, and end the whole group when the executor is gone."""

    def run() -> None:
        poll = select.poll()
        poll.register(channel.fd, 0)
        while not poll.poll(None if interval is None else interval * 1000):
            channel.send(launch.BEAT)
        if channel.works():
            os.killpg(0, signal.SIGKILL)

    threading.Thread(target=run, name="failhook-heartbeat", daemon=True).start()


def load_main(main: dict[str, str] | None) -> None:
    """Make the parent's main module importable under its name, its guarded part left out."""
    if main is None:
        return
    import runpy

    module = ModuleType(launch.CHILD_MAIN)
    if "module" in main:
        content = runpy.run_module(main["module"], run_name=launch.CHILD_MAIN, alter_sys=True)
    else:
        content = runpy.run_path(main["path"], run_name=launch.CHILD_MAIN)
    module.__dict__.update(content)
    sys.modules["__main__"] = sys.modules[launch.CHILD_MAIN] = module


def load(main: dict[str, str] | None, work: bytes) -> tuple[Any, Any, Any]:
    """Return the function and its arguments, with all the code that they need.

    Raises:
        ImportError: the code ends the process instead of being loaded: nothing has run yet, so
            not even exit status 0 is a success.
    """
    try:
        load_main(main)
        function, args, kwargs = pickle.loads(work)  # noqa: S301 - it comes from the executor itself
    except SystemExit as error:
        msg = f"the task's code calls sys.exit({error.code!r}) while it is loaded"
        raise ImportError(msg) from error
    return function, args, kwargs


def describe(error: BaseException) -> bytes:
    """Return what was raised as JSON, whatever it does when it is looked at."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # room to report a MemoryError
    try:
        from failhook.capture import capture

        with contextlib.suppress(BaseException):
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next  # the bootstrap's own frame
        return _bounded(capture(error))
    except BaseException as failure:  # noqa: BLE001 - whatever fails here, the type is still told
        kind = type(error)
        note = f"what it says cannot be reported: {type(failure).__name__}"
        return json.dumps(
            {"type": f"{kind.__module__}.{kind.__qualname__}", "message": note}
        ).encode()


def _bounded(error: ErrorInfo) -> bytes:
    """Return an error as JSON, with less below it until it is short enough to be sent."""
    document = json.dumps(error.to_dict()).encode()
    for errors in (64, 16, 4, 1):
        if len(document) <= launch.LONGEST_TEXT:
            break
        from failhook.event_build.prune import Room, pruned_error

        room = Room(errors=errors, per_error=min(errors, 4), facts=0, labels=0, phases=0)
        document = json.dumps(pruned_error(error, room).to_dict()).encode()
    return document


def run(channel: Channel, orders: dict[str, Any], work: bytes) -> int:
    """Load and call the task, report how it ended, and return the exit status."""
    terminations = Terminations(channel)
    try:
        # Only where it is needed: a task may fork, which Python minds in a process with threads.
        if orders["beat"] is not None or sys.platform != "linux":
            watch(channel, orders["beat"])
        channel.send(launch.LOADING)
        terminations.running = True
        function, args, kwargs = load(orders["main"], work)
        channel.send(launch.STARTED, launch.peak_so_far())
        value: object = function(*args, **kwargs)
        if isinstance(value, CoroutineType):
            value = _awaited(value)
        terminations.running = False
    except SystemExit as error:
        terminations.running = False
        if error.code is None or error.code == 0:
            return _returned(channel, terminations, None)
        channel.send(launch.ERROR, describe(error))
        if isinstance(error.code, int):
            return error.code
        sys.stderr.write(f"{error.code}\n")
        return 1
    except BaseException as error:  # noqa: BLE001 - what ends a task is what this is here to report
        terminations.running = False
        channel.send(launch.ERROR, describe(error))
        return 1
    return _returned(channel, terminations, value)


def _awaited(coroutine: Any) -> object:
    import asyncio

    return asyncio.run(coroutine)


def _returned(channel: Channel, terminations: Terminations, value: object) -> int:
    try:
        result = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except MemoryError as error:
        channel.send(launch.ERROR, describe(error))
        return 1
    except BaseException as error:  # noqa: BLE001 - pickling runs the value's own code
        kind = type(value)
        document = {"type": f"{kind.__module__}.{kind.__qualname__}"}
        document["error"] = json.loads(describe(error))
        channel.send(launch.UNSENDABLE, json.dumps(document).encode())
        return 1
    seen = terminations.seen()
    if seen:
        channel.send(launch.TERMINATED, str(seen).encode())
    channel.send(launch.RESULT, result)
    return 0


def main() -> None:
    """Do what the executor orders over the socket whose number is the argument."""
    channel = Channel(int(sys.argv[1]))
    try:
        orders = json.loads(launch.receive(channel.fd))
        work = launch.receive(channel.fd)
    except EOFError:
        os._exit(1)
    sys.path[:] = orders["path"]
    sys.argv[:] = orders["argv"]
    try:
        launch.enter(orders)
    except OSError as error:
        launch.refuse(channel.fd, error, orders["cwd"])
        os._exit(127)
    sys.exit(run(channel, orders, work))
