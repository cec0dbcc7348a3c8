from __future__ import annotations

import functools
import threading

import pytest

from failhook.error_info import ErrorInfo
from failhook.errors import Undelivered
from failhook.event import EventType
from failhook.manager import Outcome, Status
from failhook.plugin import hookimpl


class Recorder:
    """Remembers what it was called with."""

    def __init__(self):
        self.heard = []

    @hookimpl
    def on_task_failed(self, **kwargs):
        self.heard.append(("on_task_failed", kwargs))

    @hookimpl
    def on_failure_amended(self, **kwargs):
        self.heard.append(("on_failure_amended", kwargs))

    @hookimpl
    def on_task_recovered(self, **kwargs):
        self.heard.append(("on_task_recovered", kwargs))

    @hookimpl
    def on_suspect_success(self, **kwargs):
        self.heard.append(("on_suspect_success", kwargs))

    @hookimpl
    def on_delivery_failed(self, **kwargs):
        self.heard.append(("on_delivery_failed", kwargs))


def raising(error, name="Raising"):
    """Return a plugin whose hook raises this."""

    @hookimpl
    def on_task_failed(self):
        raise error

    return type(name, (), {"on_task_failed": on_task_failed})


@pytest.mark.parametrize(
    ("event_type", "hook", "names"),
    [
        (EventType.FAILED, "on_task_failed", "task error failure_details decision event"),
        (EventType.AMENDED, "on_failure_amended", "task failure_details previous event"),
        (EventType.RECOVERED, "on_task_recovered", "task event"),
        (EventType.SUSPECT_SUCCESS, "on_suspect_success", "task failure_details event"),
    ],
)
def test_event_goes_to_its_hook_with_what_the_specification_names(
    make_manager, make_event, event_type, hook, names
):
    """Each type of event has one hook, whose arguments are the event's own values."""
    event = make_event(event_type)
    recorder = Recorder()

    outcome = make_manager(recorder).call("Recorder", event)

    expected = {name: getattr(event, name, event) for name in names.split()}
    assert Outcome(status=Status.DELIVERED) == outcome
    assert [(hook, expected)] == recorder.heard


def test_hook_that_is_not_implemented_is_delivered(make_manager, make_event):
    """A plugin has nothing to do with an event whose hook it lacks: nothing is left to retry."""

    class Recoveries:
        @hookimpl
        def on_task_recovered(self):
            raise AssertionError

    assert make_manager(Recoveries).call("Recoveries", make_event()).delivered


def test_plugin_that_is_gone_leaves_its_events_for_others(make_manager, event):
    """A name that is not registered here is undelivered and may be tried again."""
    outcome = make_manager().call("gone", event)

    assert Status.UNDELIVERED is outcome.status
    assert outcome.retryable
    assert "plugin 'gone' is not registered here" == outcome.error


def test_live_exception_is_lent_as_error_alone(make_manager, make_event):
    """On a first delivery ``error.exception`` is live; from ``event`` nothing live is reached."""
    exception = ValueError("bad row")
    event = make_event(error=ErrorInfo(type="builtins.ValueError", exception=exception))
    recorder = Recorder()

    make_manager(recorder).call("Recorder", event)

    ((_, heard),) = recorder.heard
    assert exception is heard["error"].exception
    assert heard["event"].error.exception is None


def test_each_call_runs_in_the_calling_thread(make_manager, event):
    """A sync implementation runs in the thread that calls: its lane, and no other."""
    seen = []

    class Plugin:
        @hookimpl
        def on_task_failed(self):
            seen.append(threading.current_thread())

    make_manager(Plugin).call("Plugin", event)

    assert [threading.current_thread()] == seen


# -- what a plugin may say


def test_undelivered_is_honoured(make_manager, event):
    """Undelivered is passed on as the plugin said it: the reason, whether and when to try again."""
    error = Undelivered("429 from the other side", retry_after=30)

    outcome = make_manager(raising(error)).call("Raising", event)

    expected = Outcome(
        status=Status.UNDELIVERED, error="429 from the other side", retryable=True, retry_after=30.0
    )
    assert expected == outcome


def test_permanent_refusal_is_honoured(make_manager, event):
    """Undelivered(retryable=False) says that no further try can help."""
    outcome = make_manager(raising(Undelivered("gone", retryable=False))).call("Raising", event)

    assert (Status.UNDELIVERED, False) == (outcome.status, outcome.retryable)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (0, 0.0),
        (2.5, 2.5),
        (10**400, 86_400.0),
        (float("inf"), 86_400.0),
        (float("nan"), None),
        (-1, None),
        ("30", None),
        (True, None),
        (NotImplemented, None),
    ],
    ids=repr,
)
def test_retry_after_is_a_number_of_seconds_within_a_day(make_manager, event, said, heard):
    """Whatever a plugin puts into retry_after, what the drainer reads can be added to a time."""
    plugin = raising(Undelivered("later", retry_after=said))

    assert heard == make_manager(plugin).call("Raising", event).retry_after


def test_broken_undelivered_counts_as_a_failure(make_manager, event):
    """A subclass of Undelivered that lost its fields is a failure of the plugin."""

    class Broken(Undelivered):
        def __init__(self):
            pass

    outcome = make_manager(raising(Broken())).call("Raising", event)

    assert Status.FAILED is outcome.status
    assert "retryable" in outcome.error


def test_error_is_one_redacted_line(make_manager, event):
    """What is stored of an error is one bounded line, after redaction."""
    secret = "s3cret" * 10
    manager = make_manager(
        raising(ValueError("token=\n" + "x" * 360 + secret + "y" * 5000)),
        redact=lambda text: text.replace(secret, "***"),
    )

    error = manager.call("Raising", event).error

    assert error.startswith("ValueError: token= xxx")
    assert "***" in error
    assert "s3c" not in error
    assert 550 >= len(error)


# -- old callers


def test_hook_call_reaches_everybody_in_pluggy_order(make_manager, event):
    """call_hook calls the last registered first, tryfirst before and trylast after the others."""

    def named(name, **options):
        return type(name, (), {"on_task_failed": hookimpl(lambda self: None, **options)})

    plugins = [named("last", trylast=True), named("first", tryfirst=True), named("a"), named("b")]

    outcomes = make_manager(*plugins).call_hook("on_task_failed", event=event)

    assert ["first", "b", "a", "last"] == list(outcomes)
    assert all(outcome.delivered for outcome in outcomes.values())


def test_hook_call_fills_in_what_the_caller_leaves_out(make_manager, event):
    """What a caller leaves out, or passes as None, comes from the event; what it passes stays."""
    recorder = Recorder()
    manager = make_manager(recorder)

    manager.call_hook("on_task_failed", event=event, failure_details=None, decision="mine")

    ((_, heard),) = recorder.heard
    assert event.failure_details is heard["failure_details"]
    assert event.task is heard["task"]
    assert "mine" == heard["decision"]


def test_hook_call_without_an_event_gives_none(make_manager):
    """A caller of old that knows of neither event nor details makes no dead call."""
    recorder = Recorder()

    outcomes = make_manager(recorder).call_hook("on_task_failed", task="t", error="e")

    ((_, heard),) = recorder.heard
    assert outcomes["Recorder"].delivered
    expected = {"task": "t", "error": "e", "failure_details": None, "decision": None, "event": None}
    assert expected == heard


def test_hook_call_does_not_tell_a_plugin_of_its_own_failure(make_manager, event):
    """on_delivery_failed goes to every plugin but the one that failed."""
    failing, other = Recorder(), Recorder()
    manager = make_manager()
    manager.register(failing, "failing")
    manager.register(other, "other")

    manager.call_hook("on_delivery_failed", event=event, plugin="failing", error="HTTP 400")

    assert [] == failing.heard
    expected = {"event": event, "plugin": "failing", "error": "HTTP 400"}
    assert [("on_delivery_failed", expected)] == other.heard


@pytest.mark.parametrize(
    ("hook", "arguments", "message"),
    [
        ("on_task_fail", {}, "call_hook\\(\\) calls on_task_failed, .*, not 'on_task_fail'"),
        ("classify_failure", {}, "not 'classify_failure'"),
        ("on_task_failed", {"details": 1}, "on_task_failed has no argument 'details'; it has task"),
    ],
)
def test_hook_call_that_cannot_be_meant_is_a_type_error(make_manager, hook, arguments, message):
    """The host's own slips are told to the host, as Python tells a wrong keyword."""
    with pytest.raises(TypeError, match=message):
        make_manager(Recorder).call_hook(hook, **arguments)


# -- callables of every kind


def test_positional_only_arguments_come_by_their_names(make_manager, event):
    """Names that only a position can pass are passed in the implementation's own order."""
    heard = []

    class Plugin:
        @hookimpl
        def on_task_failed(self, failure_details, severity="low", task=None, /, **more):
            heard.append((failure_details, severity, task, sorted(more)))

    make_manager(Plugin).call("Plugin", event)

    expected = (event.failure_details, "low", event.task, ["decision", "error", "event"])
    assert [expected] == heard


def test_instance_attributes_and_decorated_methods_are_called(make_manager, event):
    """A partial kept on the object, and a method behind a decorator, get what they name."""
    heard = []

    def logged(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs)

        return inner

    def keep(where, failure_details):
        heard.append((where, failure_details.reason))

    class Plugin:
        def __init__(self):
            self.on_task_failed = hookimpl(functools.partial(keep, "partial"))

    class Decorated:
        @hookimpl
        @logged
        def on_task_failed(self, failure_details):
            keep("decorated", failure_details)

    manager = make_manager(Plugin, Decorated)

    assert manager.call("Plugin", event).delivered
    assert manager.call("Decorated", event).delivered
    assert [("partial", "Evicted"), ("decorated", "Evicted")] == heard
