"""What is to be run: a command or a callable, checked and packed so that it can cross over."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from failhook.errors import ConfigError
from failhook.executors.local import launch
from failhook.executors.local.errors import UnguardedMainError

MIN_MEMORY: Final = 16 << 20
"""Bytes; with less, the dynamic linker cannot even load a program."""

Argument = str | os.PathLike[str]
Argv = Sequence[Argument]


class UnsendableError(Exception):
    """A callable or its arguments cannot be sent to another process; the message says what can."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and its arguments."""

    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A callable with its arguments, pickled.

    Attributes:
        pickled: function, arguments and keyword arguments.
        main: how to load the main module that they refer to, None where they do not.
    """

    pickled: bytes = field(repr=False)
    main: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one attempt runs under; None is no limit.

    Attributes:
        timeout: seconds that it may run.
        grace: seconds between the request to stop (SIGTERM) and the end (SIGKILL).
        memory: bytes, of each process (RLIMIT_AS) and, where a memory cgroup can be made, of all
            together.
        heartbeat: seconds without a heartbeat after which it counts as lost.
        cwd: its working directory.
        env: variables that are added to this process's own.
        tail: bytes of its last output that are kept.
        stdin: the standard input of a command, as `subprocess.Popen` takes it.
    """

    timeout: float | None = None
    grace: float = 5.0
    memory: int | None = None
    heartbeat: float | None = None
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    tail: int = 0
    stdin: int | None = subprocess.DEVNULL

    def __post_init__(self) -> None:
        _number("timeout", self.timeout, 0.001)
        _number("grace", self.grace, 0)
        _number("heartbeat_timeout", self.heartbeat, 0.05)
        _number("memory_limit", self.memory, MIN_MEMORY, whole=True)
        _number("capture_tail", self.tail, 0, whole=True)
        if self.cwd is not None:
            _crosses("cwd", self.cwd)
        _readable(self.stdin)


def _crosses(what: str, text: object) -> None:
    """Check that the operating system takes a text as an argument, a variable or a path."""
    if not isinstance(text, str):
        raise ConfigError(f"{what} is {text!r}; it must be a string")
    if "\0" in text:
        raise ConfigError(f"{what} is {text!r}; it must be a string without NUL")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        coding = sys.getfilesystemencoding()
        raise ConfigError(f"{what} is {text!r}, which cannot be written in {coding}") from None


def _readable(stdin: object) -> None:
    if stdin is None or (type(stdin) is int and stdin == subprocess.DEVNULL):
        return
    if type(stdin) is int and stdin >= 0:
        try:
            os.fstat(stdin)
        except OSError:
            raise ConfigError(f"stdin is {stdin}, and no such descriptor is open") from None
        return
    allowed = "None, subprocess.DEVNULL, or the number of an open descriptor"
    raise ConfigError(f"stdin is {stdin!r}; it must be {allowed}")


def _number(name: str, value: float | None, least: float, *, whole: bool = False) -> None:
    allowed = (int,) if whole else (int, float)
    if value is not None and not (type(value) in allowed and least <= value <= sys.maxsize):
        kind = "a whole number" if whole else "a number"
        raise ConfigError(f"{name} is {value!r}; it must be {kind}, {least} or more")


def command(argv: Argv) -> Command:
    """Check a command.

    Raises:
        ConfigError: it is one string, empty, or holds what is no argument.
    """
    if isinstance(argv, str | bytes):
        msg = f"the command {argv!r} must be a list of words; for a shell: ['sh', '-c', {argv!r}]"
        raise ConfigError(msg)
    try:
        words = tuple(map(_word, argv))
    except TypeError:
        msg = f"the work is {argv!r}; it must be a callable, or a command as a list of words"
        raise ConfigError(msg) from None
    if not words or not words[0]:
        raise ConfigError("the command is empty; it must begin with a program")
    return Command(words)


def folder(path: object) -> str | None:
    """Check a working directory.

    Raises:
        ConfigError: it is no path.
    """
    if path is None:
        return None
    try:
        return os.fsdecode(path)  # type: ignore[arg-type] # a caller without types may give anything
    except TypeError:
        raise ConfigError(f"cwd is {path!r}; it must be a path") from None


def variables(env: object) -> dict[str, str]:
    """Check environment variables, and return them as they are now.

    Raises:
        ConfigError: they are no mapping of names to strings that can be set.
    """
    if env is None:
        return {}
    if not isinstance(env, Mapping):
        raise ConfigError(f"env is {env!r}; it must map names to strings")
    given: dict[str, str] = dict(cast("Mapping[str, str]", env))
    for name, text in given.items():
        _crosses("the name of an environment variable", name)
        if not name or "=" in name:
            raise ConfigError(f"the environment variable {name!r} cannot be set to {text!r}")
        _crosses(f"the environment variable {name!r}", text)
    return given


def _word(argument: object) -> str:
    if isinstance(argument, os.PathLike):
        argument = cast("os.PathLike[str]", argument).__fspath__()
    _crosses("an argument of the command", argument)
    return str(argument)


def call(function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
    """Pack a callable: one that can be imported, or any if cloudpickle is installed.

    Raises:
        UnsendableError: it cannot be sent, or one of its arguments cannot.
    """
    try:
        pickled = pickle.dumps((function, args, dict(kwargs)), pickle.HIGHEST_PROTOCOL)
        return Call(pickled, _main_of(pickled))
    except Exception as error:  # noqa: BLE001 - pickling runs the objects' own code
        why = f"{type(error).__name__}: {error}"
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        msg = (
            f"{_name(function)} cannot be sent to another process ({why}); "
            "use a function of a module with arguments that can be pickled, or install cloudpickle"
        )
        raise UnsendableError(msg) from None
    try:
        return Call(cloudpickle.dumps((function, args, dict(kwargs))))
    except Exception as error:  # noqa: BLE001 - as above
        msg = f"{_name(function)} cannot be sent to another process ({why}; cloudpickle: {error})"
        raise UnsendableError(msg) from None


def refuse_while_main_is_loaded() -> None:
    """Refuse to submit tasks from a main module that a task's process is only just loading.

    Raises:
        UnguardedMainError: it is so, here or in a process of multiprocessing.
    """
    loaded = sys.modules.get(launch.CHILD_MAIN)
    if loaded is not None and loaded is not sys.modules["__main__"]:
        msg = (
            "a task's process loads the program's main module to find the task's function there, "
            "and that module submits tasks itself; "
            "protect what the program does with: if __name__ == '__main__':"
        )
        raise UnguardedMainError(msg)


def _main_of(pickled: bytes) -> Mapping[str, str] | None:
    """Say how a child finds the main module, if what was pickled names it.

    Raises:
        LookupError: it has no file: an interactive session, or ``python -c``.
    """
    if b"__main__" not in pickled and launch.CHILD_MAIN.encode() not in pickled:
        return None
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return {"module": spec.name}
    path = getattr(main, "__file__", None)
    if path is None or not Path(path).is_file():
        raise LookupError("the main module of this session is not a file")
    return {"path": str(Path(path).absolute())}


def _name(function: object) -> str:
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    return f"{module}.{name}" if module and name else type(function).__qualname__
