"""Runs in the new process: takes its orders, puts on the limits, and becomes the command.

For a command this file is started by path (``python -IS launch.py FD``) and imports nothing of
failhook, so that it is quick. Orders and reports go over one socket, in frames: a mark that junk
does not have, a letter, a length, and the bytes.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import struct
import sys
from typing import Any, Final

MARK: Final = b"\xffFH\xfe"
HEADER: Final = struct.Struct(">4scQ")

LOADING: Final = b"L"
STARTED: Final = b"S"
NOT_STARTED: Final = b"N"
BEAT: Final = b"B"
TERMINATED: Final = b"T"
UNSENDABLE: Final = b"U"
ERROR: Final = b"E"
RESULT: Final = b"R"
"""What the child reports: it loads the task's code, it runs it, it cannot run it, it is alive, how
many SIGTERM it got, its result cannot be sent, what it raised, what it returned."""

LONGEST_TEXT: Final = 1 << 20
"""Bytes that a child may report in words."""

CHILD_MAIN: Final = "__mp_main__"
"""What a child calls the executor's main module, as multiprocessing does: its guard holds."""

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


def header(kind: bytes, length: int) -> bytes:
    """Return what goes before the bytes of a frame."""
    return HEADER.pack(MARK, kind, length)


def send(fd: int, kind: bytes, payload: bytes = b"") -> None:
    """Write one frame, all of it.

    Raises:
        OSError: nobody reads any more.
    """
    for part in (header(kind, len(payload)), payload):
        view = memoryview(part)
        while view:
            view = view[os.write(fd, view) :]


def receive(fd: int) -> bytes:
    """Read one frame and return its bytes.

    Raises:
        EOFError: the executor is gone.
    """
    _, _, length = HEADER.unpack(_exactly(fd, HEADER.size))
    return _exactly(fd, length)


def _exactly(fd: int, length: int) -> bytes:
    parts: list[bytes] = []
    while length:
        part = os.read(fd, min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def peak(usage: resource.struct_rusage) -> int:
    """Return the most bytes of memory that a process had in use at a time (getrusage(2))."""
    return usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024


def peak_so_far() -> bytes:
    """Return the peak of this process, for the report: Linux counts in what forked it."""
    return str(peak(resource.getrusage(resource.RUSAGE_SELF))).encode()


def enter(orders: dict[str, Any]) -> None:
    """Make this process die with the executor, and hold it to its limits.

    Raises:
        OSError: the working directory cannot be entered.
    """
    if sys.platform == "linux":
        # The signal comes when the thread dies that started this process; it lives as long as we.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != orders["parent"]:
            os._exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if orders["cwd"] is not None:
        os.chdir(orders["cwd"])
    limit = orders["memory"]
    if limit is not None:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def refuse(fd: int, error: OSError, what: str) -> None:
    """Report that the task cannot be run, and because of what, as `subprocess` would raise it."""
    send(fd, NOT_STARTED, json.dumps([error.errno, error.strerror, what]).encode())


def main() -> None:
    """Become the command that the orders name."""
    fd = int(sys.argv[1])
    os.set_inheritable(fd, False)  # noqa: FBT003 - the signature of os
    try:
        orders = json.loads(receive(fd))
    except EOFError:
        os._exit(127)
    argv, what = orders["argv"], orders["cwd"]
    try:
        enter(orders)
        # Python ignores these two, and exec would hand that on.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        what = argv[0]
        words = [os.fsencode(word) for word in argv]
        given = {os.fsencode(name): os.fsencode(text) for name, text in orders["env"].items()}
        environment = {**os.environb, **given}
        send(fd, STARTED, peak_so_far())
        os.execvpe(words[0], words, environment)  # noqa: S606 - no shell is wanted
    except OSError as error:
        refuse(fd, error, what)
    except MemoryError:
        refuse(fd, OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), what)
    os._exit(127)


if __name__ == "__main__":
    main()
