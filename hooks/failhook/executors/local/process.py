"""One child process with all that it starts: born waiting for orders, gone with its whole group."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import failhook
from failhook.executors.local import launch
from failhook.executors.local.tail import Tail
from failhook.executors.local.work import Call, Command, Terms

_ROOT: Final = str(Path(failhook.__file__).parent.parent)
_BOOTSTRAP: Final = (
    f"import sys; sys.path.insert(0, {_ROOT!r}); "
    "from failhook.executors.local.child import main; main()"
)
_NO_SIGPIPE: Final[int] = getattr(socket, "MSG_NOSIGNAL", 0)


class SpawnError(Exception):
    """No process could be started, and nothing of the task ran."""


@dataclass(slots=True)
class Child:
    """A process that leads a session of its own, so that its group can be told and ended.

    Attributes:
        pid: its process id; not free for others before `reap`.
        channel: the executor's end of the socket; it does not block.
        exited: a descriptor that becomes readable when the process ends; None where the system
            has none.
        peak: the most bytes of memory that it, or one of its children, had in use at a time; 0
            before its end.
    """

    pid: int
    channel: socket.socket
    exited: int | None
    _process: subprocess.Popen[bytes]
    peak: int = 0
    _unsent: memoryview = field(default_factory=lambda: memoryview(b""))
    _code: int | None = None
    _reaped: bool = False

    def hand_output_to(self, tail: Tail) -> None:
        """Have all that it writes passed on, and the end of it kept."""
        tail.follow(self._process.stdout, 1)
        tail.follow(self._process.stderr, 2)

    def order(self, orders: Mapping[str, Any], work: bytes | None) -> None:
        """Say what to run; it goes out as far as the child takes it, the rest with `flush`."""
        frames = [json.dumps(orders).encode()] + ([] if work is None else [work])
        self._unsent = memoryview(
            b"".join(launch.header(b"O", len(frame)) + frame for frame in frames)
        )
        self.flush()

    def flush(self) -> bool:
        """Send what is left of the orders; return whether all is out."""
        while self._unsent:
            try:
                sent = self.channel.send(self._unsent, _NO_SIGPIPE)
            except BlockingIOError:
                return False
            except OSError:  # it is dead, and that is told by its exit status
                sent = len(self._unsent)
            self._unsent = self._unsent[sent:]
        return True

    def receive(self) -> bytes | None:
        """Return what the child has written: None is nothing now, b"" nothing any more."""
        try:
            return self.channel.recv(1 << 16)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def ask_to_stop(self, why: bytes) -> None:
        """Send SIGTERM to the whole group; a callable is told why."""
        if not self._unsent:
            with contextlib.suppress(OSError):
                self.channel.send(why, _NO_SIGPIPE)
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the whole group."""
        self._signal(signal.SIGKILL)

    def ended(self) -> bool:
        """Return whether the process has ended, where `exited` does not tell."""
        if not self._reaped:
            try:
                pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            except ChildProcessError:
                self._end(None)
            else:
                if pid:
                    self._end(os.waitstatus_to_exitcode(status), usage)
        return self._reaped

    def reap(self) -> int | None:
        """Wait for the end, and return the status as `subprocess` gives it.

        None is no status: somebody else in this program waited for the process.
        """
        if not self._reaped:
            try:
                _, status, usage = os.wait4(self.pid, 0)
                self._end(os.waitstatus_to_exitcode(status), usage)
            except ChildProcessError:
                self._end(None)
        return self._code

    def close(self) -> None:
        """Kill what is left, and give back every descriptor."""
        if not self._reaped:
            self.kill()
            self.reap()
        self.channel.close()
        if self.exited is not None:
            os.close(self.exited)
            self.exited = None

    def _end(self, code: int | None, usage: resource.struct_rusage | None = None) -> None:
        self._reaped = True
        if usage is not None:
            self.peak = launch.peak(usage)
        self._code = code
        self._process.returncode = -1 if code is None else code

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def spawn(work: Command | Call, terms: Terms) -> Child:
    """Start a process that waits for its orders; nothing of the task runs before them.

    Raises:
        SpawnError: no process could be started.
    """
    try:
        return _spawn(work, terms)
    except OSError as error:
        raise SpawnError(f"no process could be started: {error}") from error


def _spawn(work: Command | Call, terms: Terms) -> Child:
    ours, theirs = socket.socketpair()
    with theirs, ExitStack() as undo:
        undo.callback(ours.close)
        fd = theirs.fileno()
        command = [sys.executable, "-IS", launch.__file__, str(fd)]
        if isinstance(work, Call):
            command = [sys.executable, "-c", _BOOTSTRAP, str(fd)]
        output = subprocess.PIPE if terms.tail else None
        process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=terms.stdin if isinstance(work, Command) else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(fd,),
            start_new_session=True,
            env={**os.environ, **terms.env} if isinstance(work, Call) else None,
        )
        undo.pop_all()
    ours.setblocking(False)  # noqa: FBT003 - the socket's own signature
    return Child(process.pid, ours, _pidfd(process.pid), process)


def orders(work: Command | Call, terms: Terms, *, beat: float | None) -> dict[str, Any]:
    """Return what the child is told.

    Args:
        work: the task.
        terms: what it runs under.
        beat: seconds between the heartbeats of a callable; None is none.
    """
    common = {"parent": os.getpid(), "cwd": terms.cwd, "memory": terms.memory}
    if isinstance(work, Command):
        return {**common, "argv": list(work.argv), "env": dict(terms.env)}
    main = None if work.main is None else dict(work.main)
    return {
        **common,
        "beat": beat,
        "main": main,
        "path": [*map(str, sys.path)],
        "argv": [*map(str, sys.argv)],
    }


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
