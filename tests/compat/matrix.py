"""The compatibility matrix, run by the interpreter of an environment that has pluggy and no more.

Every way to write ``on_task_failed`` meets every kind of caller. Prints one JSON document:
``pluggy`` (its version), ``installed`` (all distributions), ``plain`` (what pluggy alone hands to
an argument with a default) and ``cells``: implementation -> caller -> what the implementation
heard, or ``refused`` -> the message.
"""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import distributions, version
from typing import Any

import pluggy

from failhook.details import FailureDetails, Kind
from failhook.errors import RegistrationError
from failhook.event import EventType, FailureEvent
from failhook.manager import Manager
from failhook.plugin import hookimpl
from failhook.task import Task

DETAILS = FailureDetails(kind=Kind.INFRA, reason="Evicted")
TASK = Task("nightly", "load", run_id="1")
EVENT = FailureEvent(
    type=EventType.FAILED,
    event_id="1",
    revision=0,
    task=TASK,
    failure_details=DETAILS,
    observed_at=datetime(2026, 1, 1, tzinfo=UTC),
)

heard: list[Any] = []


def hear(*values: Any) -> None:
    """Write down what an implementation was called with, in a shape that JSON has."""
    names = {id(DETAILS): "details", id(TASK): "task", id(EVENT): "event"}
    heard.append(
        [value if value is None else names.get(id(value), repr(value)) for value in values]
    )


def method(function: Callable[..., Any], hook: str = "on_task_failed") -> type:
    """Return a plugin class with this implementation."""
    return type("Plugin", (), {hook: hookimpl(function)})


def passed_on(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate as people do."""

    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


def module(**functions: Callable[..., Any]) -> types.ModuleType:
    """Return a module with these functions."""
    made = types.ModuleType("plugin_module")
    vars(made).update(functions)
    return made


async def asynchronous(self: Any, task: Any, *, failure_details: Any = None) -> None:
    """Hear, on a loop."""
    hear(task, failure_details)


class Static:
    """The marker below and above ``@staticmethod`` is the same to us."""

    @staticmethod
    @hookimpl
    def on_task_failed(failure_details: Any = None) -> None:
        """Hear."""
        hear(failure_details)


class StaticAbove:
    """As above, the other way round."""

    @hookimpl
    @staticmethod
    def on_task_failed(failure_details: Any = None) -> None:
        """Hear."""
        hear(failure_details)


class ClassMethod:
    """A class method, marked below."""

    @classmethod
    @hookimpl
    def on_task_failed(cls, *, failure_details: Any) -> None:
        """Hear."""
        hear(failure_details)


class ClassMethodAbove:
    """A class method, marked above."""

    @hookimpl
    @classmethod
    def on_task_failed(cls, *, failure_details: Any) -> None:
        """Hear."""
        hear(failure_details)


def hear_details(failure_details: Any) -> None:
    """Hear."""
    hear(failure_details)


class Callables:
    """An implementation that is an object of its own."""

    def __init__(self) -> None:
        self.on_task_failed = hookimpl(functools.partial(hear_details))


class Unmarked:
    """The marker was forgotten."""

    def on_task_failed(self, failure_details: Any) -> None:
        """Hear."""
        hear(failure_details)


@hookimpl
def on_task_failed(failure_details: Any) -> None:
    """Be registered by mistake."""
    hear(failure_details)


def wrapping(self: Any) -> Any:
    """Wrap what cannot be wrapped."""
    yield


IMPLEMENTATIONS: dict[str, Any] = {
    "no new argument": method(lambda self, task, error: hear(task)),
    "no argument": method(lambda self: hear()),
    "named": method(lambda self, task, failure_details: hear(task, failure_details)),
    "named with default": method(
        lambda self, task, failure_details=None: hear(task, failure_details)
    ),
    "all with defaults": method(
        lambda self, event=None, failure_details=None: hear(failure_details)
    ),
    "keyword-only": method(lambda self, *, failure_details: hear(failure_details)),
    "keyword-only with default": method(
        lambda self, *, failure_details=None: hear(failure_details)
    ),
    "kwargs": method(lambda self, **kwargs: hear(kwargs["task"], kwargs["failure_details"])),
    "named and kwargs": method(lambda self, task, **more: hear(task, more["failure_details"])),
    "args and kwargs": method(
        lambda self, *args, **more: hear(more["task"], more["failure_details"])
    ),
    "positional-only": method(lambda self, task, failure_details, /: hear(task, failure_details)),
    "positional-only, other order": method(
        lambda self, failure_details, task, /: hear(task, failure_details)
    ),
    "future argument with default": method(
        lambda self, failure_details, severity="low": hear(failure_details, severity)
    ),
    "future argument, keyword-only": method(
        lambda self, failure_details=None, *, severity="low": hear(failure_details, severity)
    ),
    "future argument, positional-only": method(
        lambda self, severity="low", failure_details=None, /: hear(failure_details, severity)
    ),
    "decorated": method(passed_on(lambda self, failure_details=None: hear(failure_details))),
    "static method": Static,
    "static method, marked above": StaticAbove,
    "class method": ClassMethod,
    "class method, marked above": ClassMethodAbove,
    "instance": method(lambda self, failure_details=None: hear(failure_details))(),
    "module": module(on_task_failed=hookimpl(lambda failure_details=None: hear(failure_details))),
    "callable": Callables,
    "async": method(asynchronous),
    "tryfirst": type(
        "Plugin",
        (),
        {
            "on_task_failed": hookimpl(
                lambda self, failure_details=None: hear(failure_details), tryfirst=True
            )
        },
    ),
    "specname": type(
        "Plugin",
        (),
        {
            "told": hookimpl(
                lambda self, failure_details=None: hear(failure_details), specname="on_task_failed"
            )
        },
    ),
    # what is refused
    "function by mistake": on_task_failed,
    "nothing": type("Plugin", (), {}),
    "unmarked": Unmarked,
    "misspelt hook": method(lambda self, failure_details: None, "on_task_fail"),
    "misspelt argument": method(lambda self, failure_detail: None),
    "misspelt argument with default": method(lambda self, failure_detail=None: None),
    "future argument without default": method(lambda self, severity: None),
    "argument list": method(lambda self, *args: None),
    "wrapper": type("Plugin", (), {"on_task_failed": hookimpl(wrapping, wrapper=True)}),
    "old wrapper": type("Plugin", (), {"on_task_failed": hookimpl(wrapping, hookwrapper=True)}),
}

CALLERS: dict[str, Callable[[Manager], Any]] = {
    "drainer": lambda manager: manager.call("plugin", EVENT),
    "passes details": lambda manager: manager.call_hook(
        "on_task_failed", task=TASK, error=None, failure_details=DETAILS, decision=None, event=EVENT
    )["plugin"],
    "passes None": lambda manager: manager.call_hook(
        "on_task_failed", task=TASK, error=None, failure_details=None, event=EVENT
    )["plugin"],
    "does not know of them": lambda manager: manager.call_hook(
        "on_task_failed", task=TASK, error=None, event=EVENT
    )["plugin"],
    "knows task and error alone": lambda manager: manager.call_hook(
        "on_task_failed", task=TASK, error=None
    )["plugin"],
}


def cell(implementation: Any, caller: Callable[[Manager], Any]) -> dict[str, Any]:
    """Register one implementation, call it in one way, and return what came of it."""
    heard.clear()
    manager = Manager()
    try:
        manager.register(implementation, "plugin")
    except RegistrationError as error:
        return {"refused": str(error)}
    try:
        outcome = caller(manager)
    finally:
        manager.close(10)
    return {"status": outcome.status, "error": outcome.error, "heard": list(heard)}


def plain() -> Any:
    """Return what pluggy without failhook hands to an argument that has a default."""
    spec, impl = pluggy.HookspecMarker("plain"), pluggy.HookimplMarker("plain")

    class Spec:
        @spec
        def on_task_failed(self, failure_details: Any) -> None: ...

    class Plugin:
        @impl
        def on_task_failed(self, failure_details: Any = None) -> Any:
            return failure_details or "None"

    manager = pluggy.PluginManager("plain")
    manager.add_hookspecs(Spec)
    manager.register(Plugin())
    (answer,) = manager.hook.on_task_failed(failure_details="details")
    return answer


if __name__ == "__main__":
    print(
        json.dumps(
            {
                "pluggy": version("pluggy"),
                "installed": sorted(found.name for found in distributions()),
                "plain": plain(),
                "cells": {
                    name: {who: cell(implementation, call) for who, call in CALLERS.items()}
                    for name, implementation in IMPLEMENTATIONS.items()
                },
            }
        )
    )
