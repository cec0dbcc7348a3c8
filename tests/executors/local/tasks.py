"""Tasks that end in every way a task can end. A child process imports them by name."""

# ruff: noqa: D103 - each is named after how it ends
from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from failhook.errors import TaskError
from failhook.executors.local import TaskCancelled, TaskDeadline, TaskStopped


def double(number):
    return number * 2


async def double_later(number):
    await asyncio.sleep(0)
    return number * 2


def environment(name):
    return os.environ[name], Path.cwd().as_posix()


def raise_value_error():
    raise ValueError("not like this")


def raise_marked():
    try:
        raise_value_error()
    except ValueError:
        raise RuntimeError("wrapped") from TaskError("quota", code="Quota", kind="infra")


def corrupt():
    raise TaskError("unreadable", code="CorruptedPluginState")


def exit_with(code):
    sys.exit(code)


def exit_at_once(code):
    os._exit(code)


def signal_self(number):
    os.kill(os.getpid(), number)
    signal.pause()


def say(path, text=""):
    """Tell the test how far the task has come."""
    Path(path).write_text(text or str(os.getpid()), encoding="utf-8")


def say_and_wait(path):
    say(path)
    signal.pause()


def say_and_swallow(path):
    """Survive SIGTERM, and return."""
    came = []
    signal.signal(signal.SIGTERM, lambda *_: came.append(True))
    say(path)
    while not came:
        time.sleep(0.01)
    return "as if nothing had been"


def ignore_sigterm():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def wait_for_deadline():
    try:
        signal.pause()
    except TaskDeadline:
        return "in time"


def survive_every_exception(path):
    say(path)
    while True:
        try:
            time.sleep(60)
        except Exception:  # noqa: BLE001, S112 - tasks like this one exist
            continue


def clean_up_when_cancelled(path):
    try:
        say(path)
        signal.pause()
    except TaskCancelled:
        return "cleaned up"


def stop_cleanly(path):
    try:
        say(path)
        signal.pause()
    except TaskStopped:
        return "saved"


def allocate(size):
    return len(bytearray(size))


def eat_together(count, size):
    """Have children use memory: each within its own limit, all of them beyond the group's."""
    code = f"import time; x = b'x' * {size}; print(flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]
    for child in children:
        child.stdout.read(1)
    for child in children:
        child.kill()
        child.wait()
        child.stdout.close()
    return "lost a child or two"


def stop_self(path=None):
    if path:
        say(path)
    os.kill(os.getpid(), signal.SIGSTOP)


def fork_pool():
    """Use processes that are forked and ended with SIGTERM, as multiprocessing does."""
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        return pool.map(double, [1, 2, 3])


def close_everything(path, seconds):
    """Close all that this function did not open, and use the numbers for something else."""
    os.closerange(3, 256)
    files = [os.open(Path(path, str(n)), os.O_CREAT | os.O_WRONLY) for n in range(5)]
    time.sleep(seconds)
    return len(files)


def write_junk(junk):
    """Write to whatever is open."""
    for fd in range(3, 32):
        with contextlib.suppress(OSError):
            os.write(fd, junk)
    return "done"


def raise_group(count, size):
    raise ExceptionGroup("many", [ValueError("word " * size) for _ in range(count)])


def return_lock():
    return threading.Lock()


class Unloadable:
    """Can be pickled, but not unpickled."""

    def __reduce__(self):
        return refuse, ()


def refuse():
    raise RuntimeError("not in this process")


def return_unloadable():
    return Unloadable()


def return_then_die():
    """Report a result; die while the interpreter ends."""
    import atexit

    atexit.register(os.kill, os.getpid(), signal.SIGKILL)
    return "done"


def linger():
    """Report a result; leave a thread behind that never ends."""
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return "done"


def leave_a_child(path):
    child = subprocess.Popen(["sleep", "3600"])
    say(path, str(child.pid))
    return child.pid


def leave_a_child_and_wait(path):
    leave_a_child(path)
    signal.pause()


def count_then(path, *endings):
    """End as the n-th ending says on the n-th attempt."""
    file = Path(path)
    attempt = len(file.read_text(encoding="utf-8")) if file.exists() else 0
    with file.open("a", encoding="utf-8") as log:
        log.write("x")
    ending = endings[min(attempt, len(endings) - 1)]
    if ending == "kill":
        signal_self(signal.SIGKILL)
    if ending == "raise":
        raise_value_error()
    return ending


def together(path, number, parties):
    """Return once as many tasks run at the same time."""
    Path(path, str(number)).touch()
    while len(list(Path(path).iterdir())) < parties:
        time.sleep(0.01)
    return number


def big(data):
    return pickle.dumps(data)
