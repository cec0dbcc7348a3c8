"""Plugins are called in a child process, so that none can end the one that minds a command."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from typing import IO, Final, Unpack

from failhook.cli.stderr import tell
from failhook.config import Config
from failhook.outbox.means import Courier
from failhook.pipeline import Pipeline
from failhook.pipeline.configured import Parts
from failhook.pipeline.process import Process

HERE: Final = "log"
"""The plugin that is called in the command's own process: it writes lines and waits for nobody."""

_MOST: Final = 3
"""Children that are begun for one event, where plugins end them."""


class SharedPipeline(Pipeline):
    """A pipeline that has some plugins called elsewhere.

    Args:
        courier: takes these; None where all are called here.
        parts: of the pipeline.
    """

    def __init__(self, courier: Courier | None, **parts: Unpack[Parts]) -> None:
        self._courier = courier
        super().__init__(**parts)

    def _begin(self, courier: Courier | None = None) -> Process:
        return super()._begin(courier or self._courier)


class ChildCourier:
    """Begins the child when there is something to deliver, and again where a plugin ends it.

    Args:
        arguments: of the command.
        config: its settings.
    """

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        self._words = [sys.executable, "-m", "failhook.cli.carry"]
        if arguments.config is not None:
            self._words += ["--config", str(arguments.config)]
        # Not a word of the command line, which everybody may read: it may hold a password.
        self._environ = {**os.environ, "FAILHOOK_STORE": config.store or ""}
        self._lock = threading.Lock()
        self._pipe: IO[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._begun = 0
        self._ending = False

    def takes(self, plugin: str) -> bool:
        """Return whether the child calls this plugin."""
        return plugin != HERE

    def wake(self) -> None:
        """Have the child deliver what is due."""
        with self._lock:
            if self._ending:
                return
            self._begun = 0
            if self._pipe is not None:
                _write(self._pipe)
            elif self._thread is None or not self._thread.is_alive():
                self._begin()

    def end(self) -> None:
        """Let the child deliver what is due once more, and end."""
        with self._lock:
            self._ending = True
            if self._pipe is not None:
                self._pipe.close()

    def wait(self, timeout: float) -> None:
        """Wait for the end of the child for so many seconds."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _begin(self) -> None:
        thread = threading.Thread(target=self._mind, name="failhook-courier", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            tell(f"events wait for the next process, since no thread can begin: {error}")
        else:
            self._thread = thread

    def _mind(self) -> None:
        """Begin the child, and again where it did not end by itself."""
        while True:
            with self._lock:
                if self._begun >= _MOST:
                    self._thread = None
                    return
                self._begun += 1
                try:
                    child = subprocess.Popen(
                        self._words,
                        env=self._environ,
                        stdin=subprocess.PIPE,
                        start_new_session=True,  # what a terminal sends is for the command
                    )
                except OSError as error:
                    tell(f"events wait for the next process, since none can begin: {error}")
                    self._thread = None
                    return
                self._pipe = child.stdin
                if self._ending and child.stdin is not None:
                    child.stdin.close()
            code = child.wait()
            with self._lock:
                if self._pipe is not None:
                    _close(self._pipe)
                self._pipe = None
                if code == 0:
                    return
            tell(f"the process that calls plugins ended with {_how(code)}; its events wait")


def _write(pipe: IO[bytes]) -> None:
    try:
        pipe.write(b".")
        pipe.flush()
    except OSError:
        return  # it has just ended, and whoever minds it sees that


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        return  # what was not written is not needed any more


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
