from __future__ import annotations

import asyncio
import threading
from unittest.mock import Mock

import pytest

from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.event import EventType
from failhook.manager import Status
from failhook.plugin import hookimpl


class Surprise(BaseException):
    """Not even an Exception."""


class Hostile(Exception):  # noqa: N818 - an attack, not an error
    """Raises whatever is asked of it."""

    @property
    def __class__(self):
        raise SystemExit(9)

    def __str__(self):
        raise SystemExit(9)

    __repr__ = __str__


class Nonsense:
    """A return value that raises at every touch."""

    def _refuse(self, *args):
        raise SystemExit(9)

    __bool__ = __eq__ = __hash__ = __repr__ = __str__ = __iter__ = __await__ = _refuse
    __class__ = property(_refuse)


def endless(depth=0):
    """Call itself until Python says no."""
    return endless(depth + 1)


def raise_(error):
    """Raise, where only an expression is allowed."""
    raise error


async def asynchronously(function):
    """Call a function in a coroutine."""
    await asyncio.sleep(0)
    function()


RAISING = {
    "Exception": lambda: raise_(ValueError("boom")),
    "SystemExit": lambda: raise_(SystemExit(3)),
    "KeyboardInterrupt": lambda: raise_(KeyboardInterrupt()),
    "GeneratorExit": lambda: raise_(GeneratorExit()),
    "StopIteration": lambda: raise_(StopIteration()),
    "CancelledError": lambda: raise_(asyncio.CancelledError()),
    "RecursionError": endless,
    "MemoryError": lambda: bytearray(2**62),
    "BaseException": lambda: raise_(Surprise("boom")),
    "group": lambda: raise_(BaseExceptionGroup("both", [SystemExit(1), ValueError("boom")])),
    "hostile": lambda: raise_(Hostile("boom")),
    "async": lambda: asynchronously(lambda: raise_(ValueError("boom"))),
    "async SystemExit": lambda: asynchronously(lambda: raise_(SystemExit(3))),
    "async KeyboardInterrupt": lambda: asynchronously(lambda: raise_(KeyboardInterrupt())),
    "async CancelledError": lambda: asynchronously(lambda: raise_(asyncio.CancelledError())),
}
ANSWERING = {
    "object": Nonsense,
    "class": lambda: Nonsense,
    "exception": lambda: ValueError("returned, not raised"),
    "mock": Mock,
    "generator": lambda: (number for number in range(3)),
    "future": lambda: asyncio.Future(loop=Mock()),
    "verdict": lambda: FailureDetails(kind="infra", reason="Evicted"),
    "async": lambda: asynchronously(Nonsense),
}


def nine_good():
    """Return nine plugins and the list in which they write down what they heard."""
    heard = []

    def good(number):
        @hookimpl
        def on_task_failed(self, failure_details, event):
            heard.append((number, failure_details.reason, event.event_id))

        return type(f"good{number}", (), {"on_task_failed": on_task_failed})

    return [good(number) for number in range(9)], heard


def bad(behave):
    """Return a plugin whose hook calls this."""
    return type("bad", (), {"on_task_failed": hookimpl(lambda self, task: behave())})


@pytest.mark.parametrize("place", [0, 5, 9])
@pytest.mark.parametrize("name", RAISING)
def test_plugin_that_raises_keeps_the_nine_from_nothing(make_manager, event, name, place):
    """Whatever one plugin raises, the call returns, says so, and nine others hear the same."""
    plugins, heard = nine_good()
    plugins.insert(place, bad(RAISING[name]))
    manager = make_manager(*plugins)

    outcomes = {plugin: manager.call(plugin, event) for plugin in manager.names()}

    failed = outcomes.pop("bad")
    assert Status.FAILED is failed.status
    assert failed.error
    assert {Status.DELIVERED} == {outcome.status for outcome in outcomes.values()}
    assert [(number, "Evicted", event.event_id) for number in range(9)] == heard


@pytest.mark.parametrize("name", ANSWERING)
def test_what_a_plugin_returns_is_ignored(make_manager, event, name):
    """A hook may return anything at all: it counts as delivered, and nobody looks at it."""
    plugins, heard = nine_good()
    manager = make_manager(bad(ANSWERING[name]), *plugins)

    assert all(manager.call(plugin, event).delivered for plugin in manager.names())
    assert 9 == len(heard)


@pytest.mark.parametrize("name", RAISING)
def test_broadcast_reaches_the_nine_too(make_manager, event, name):
    """call_hook is isolated in the same way."""
    plugins, heard = nine_good()
    manager = make_manager(*plugins, bad(RAISING[name]))

    outcomes = manager.call_hook("on_task_failed", event=event)

    assert Status.FAILED is outcomes["bad"].status
    assert 9 == len(heard)


def test_plugin_that_hangs_holds_one_thread_and_nobody_else(make_manager, make_event, clock):
    """A hung plugin holds the thread that called it; nine hear a hundred events meanwhile."""
    release, entered = threading.Event(), threading.Event()

    def hang():
        entered.set()
        release.wait(60)

    plugins, heard = nine_good()
    manager = make_manager(*plugins, bad(hang), clock=clock)
    events = [make_event(event_id=str(number)) for number in range(100)]
    lane = threading.Thread(target=manager.call, args=("bad", events[0]))
    lane.start()
    try:
        assert entered.wait(60)
        before = threading.active_count()
        for event in events:
            for plugin in manager.listeners(EventType.FAILED)[:9]:
                assert manager.call(plugin, event).delivered
        assert () == manager.overdue()
        clock.seconds += 31
        assert ("bad",) == manager.overdue()
        assert ("bad",) == manager.overdue()
        assert before == threading.active_count()
        assert lane.is_alive()
    finally:
        release.set()
        lane.join(60)
    assert () == manager.overdue()
    assert 900 == len(heard)


def test_event_cannot_be_changed_by_a_plugin(make_manager, make_event):
    """What hooks get is frozen: who writes to it gets an error, and the next one the truth."""
    heard = []

    class Writer:
        @hookimpl
        def on_task_failed(self, event, task, failure_details, error):
            for thing, field in (
                (event, "observer"),
                (task, "name"),
                (failure_details, "kind"),
                (error, "message"),
            ):
                with pytest.raises(AttributeError):
                    setattr(thing, field, "mine")
            with pytest.raises(TypeError):
                task.labels["owner"] = "mine"

    class Reader:
        @hookimpl
        def on_task_failed(self, event):
            heard.append(event.to_json())

    event = make_event(error=ErrorInfo(type="builtins.ValueError"))
    before = event.to_json()
    manager = make_manager(Writer, Reader)

    assert [True, True] == [manager.call(name, event).delivered for name in manager.names()]
    assert [before] == heard
