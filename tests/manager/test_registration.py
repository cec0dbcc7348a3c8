from __future__ import annotations

import functools
import sys
import types

import pluggy
import pytest

from failhook.errors import ConfigError, RegistrationError
from failhook.event import EventType
from failhook.manager import Provisions
from failhook.plugin import hookimpl


class Good:
    @hookimpl
    def on_task_failed(self, task):
        pass


def listener(method, name="on_task_failed"):
    """Return a plugin with one marked method."""
    return type("Listener", (), {name: hookimpl(method)})


def refusal(make_manager, plugin, name=None):
    """Return what registering this plugin is answered with."""
    manager = make_manager()
    with pytest.raises(RegistrationError) as refused:
        manager.register(plugin, name)
    assert () == manager.names()
    return str(refused.value)


# -- the wrong object


def test_function_is_refused_with_the_class_to_write(make_manager):
    """A bare function is refused, and the message shows the class to put it into."""

    def on_fail(task):
        pass

    message = refusal(make_manager, on_fail)

    assert "plugin 'on_fail' is a function" in message
    assert "@hookimpl" in message
    assert "def on_task_failed(self, task, error, failure_details, decision, event)" in message


@pytest.mark.parametrize(
    "thing",
    ["my.module", None, 3, ["x"], functools.partial(print)],
    ids=lambda thing: repr(thing)[:9],
)
def test_what_cannot_be_a_plugin_is_refused(make_manager, thing):
    """A string, None, a number, a list or a partial is refused as no plugin."""
    assert "a plugin is a class, a module or an object" in refusal(make_manager, thing, "p")


def test_object_without_a_hook_is_refused_with_the_hooks(make_manager):
    """An object with no implementation is refused, and the message lists what to implement."""

    class Empty:
        def notify(self, task):
            pass

    message = refusal(make_manager, Empty)

    assert "plugin 'Empty'" in message
    assert "on_task_failed" in message
    assert "from failhook.plugin import hookimpl" in message


# -- the wrong hook


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("on_task_fail", "on_task_failed"),
        ("on_task_recoverd", "on_task_recovered"),
        ("on_failed_amended", "on_failure_amended"),
        ("clasify_failure", "classify_failure"),
    ],
)
def test_misspelt_hook_is_refused_with_the_right_name(make_manager, written, meant):
    """A marked method whose name is close to a hook's is refused with that hook's name."""
    message = refusal(make_manager, listener(lambda self: None, written))

    assert f"plugin 'Listener': {written}" in message
    assert f"did you mean {meant}?" in message


def test_unknown_hook_is_refused_with_all_names(make_manager):
    """A marked method that resembles no hook is refused with the list of hooks."""
    message = refusal(make_manager, listener(lambda self: None, "before_launch"))

    assert "there are on_task_failed, on_task_recovered" in message


def test_hook_of_a_later_version_may_be_optional(make_manager, event):
    """optionalhook=True lets one plugin serve a later version: the unknown hook is left alone."""

    class Modern:
        heard = 0

        @hookimpl(optionalhook=True)
        def on_task_paused(self, task):
            raise AssertionError

        @hookimpl
        def on_task_failed(self):
            Modern.heard += 1

    assert make_manager(Modern).call("Modern", event).delivered
    assert 1 == Modern.heard


@pytest.mark.parametrize(
    ("written", "fix"),
    [("on_task_failed", "Mark it with @hookimpl"), ("on_task_fail", "Name it on_task_failed and")],
)
def test_unmarked_hook_is_refused(make_manager, written, fix):
    """A method named like a hook but not marked would never be called: refused."""

    class Forgot:
        @hookimpl
        def on_task_recovered(self, task):
            pass

    setattr(Forgot, written, lambda self, task: None)

    message = refusal(make_manager, Forgot)

    assert f"plugin 'Forgot': {written} looks like the hook on_task_failed" in message
    assert fix in message


@pytest.mark.parametrize(
    "marker", [pluggy.HookimplMarker("airflow"), pluggy.HookspecMarker("failhook")]
)
def test_foreign_marker_is_named(make_manager, marker):
    """A hook marked for another project, or as a specification, is refused with what was found."""

    class Foreign:
        @marker
        def on_task_failed(self, task):
            pass

    message = refusal(make_manager, Foreign)

    assert f"only as {marker.project_name}_" in message
    assert "Mark it with @hookimpl" in message


def test_private_and_unlike_names_are_left_alone(make_manager):
    """Methods of the plugin's own are no hooks, whatever they do, and properties are not run."""

    class Plugin(Good):
        def _on_task_failed(self):
            pass

        def failed(self):
            pass

        @property
        def client(self):
            raise RuntimeError("not connected yet")

    assert ("Plugin",) == make_manager(Plugin).names()


def test_inherited_hook_can_be_switched_off(make_manager):
    """A subclass that sets a hook to None does without it, as Python has it."""

    class Quiet(Good):
        on_task_failed = None

        @hookimpl
        def on_task_recovered(self, task):
            pass

    assert ("on_task_recovered",) == make_manager(Quiet).hooks("Quiet")


def test_second_implementation_of_a_hook_is_refused(make_manager):
    """Two methods for one hook are refused: a retry could not tell which of them failed."""

    class Twice(Good):
        @hookimpl(specname="on_task_failed")
        def also(self, task):
            pass

    assert "a second time" in refusal(make_manager, Twice)


@pytest.mark.parametrize("option", ["wrapper", "hookwrapper"])
def test_wrapper_is_refused(make_manager, option):
    """A wrapper is refused, because each plugin is called alone."""

    class Wrapping:
        @hookimpl(**{option: True})
        def on_task_failed(self):
            yield

    message = refusal(make_manager, Wrapping)

    assert "plugin 'Wrapping': on_task_failed is a wrapper" in message
    assert "without wrapper or hookwrapper" in message


def test_generator_is_refused(make_manager):
    """A generator's body would never run: refused, sync and async."""

    def sync(self, task):
        yield

    async def asynchronous(self, task):
        yield

    for method in (sync, asynchronous):
        assert "take the yield out" in refusal(make_manager, listener(method))


# -- the wrong arguments


@pytest.mark.parametrize(
    "method",
    [
        lambda self, failure_detail: None,
        lambda self, failure_detail=None: None,
        lambda self, *, failuredetails: None,
        lambda self, falure_details, /: None,
    ],
)
def test_misspelt_argument_is_refused_with_the_right_name(make_manager, method):
    """A misspelt argument is refused, also one with a default, which would be left out for ever."""
    message = refusal(make_manager, listener(method))

    assert "plugin 'Listener': on_task_failed names" in message
    assert "Did you mean 'failure_details'?" in message


@pytest.mark.parametrize(
    "method",
    [lambda self, severity: None, lambda self, *, severity: None, lambda self, severity, /: None],
)
def test_argument_of_the_future_without_default_is_refused_with_the_fix(make_manager, method):
    """An argument that this version lacks is refused without a default; the message says so."""
    message = refusal(make_manager, listener(method))

    assert "names 'severity', which this version of failhook does not have" in message
    assert "severity=None" in message


def test_argument_list_alone_is_refused(make_manager):
    """*args would stay empty, since names are the promise: refused with what to write instead."""
    message = refusal(make_manager, listener(lambda self, *args: None))

    assert "takes *args, which would stay empty" in message
    assert "**kwargs" in message


def test_method_without_self_is_refused(make_manager):
    """Without self the plugin would arrive as the task: refused."""

    class NoSelf:
        @hookimpl
        def on_task_failed(task, error):  # noqa: N805 - the mistake under test
            pass

    class Nothing:
        @hookimpl
        def on_task_failed():
            pass

    assert "has no self: its first argument is task" in refusal(make_manager, NoSelf)
    assert "has no self" in refusal(make_manager, Nothing)


def test_signature_that_cannot_be_read_is_refused(make_manager):
    """A callable without a readable signature, or none at all, is refused with what to write."""

    class Opaque:
        __signature__ = "nonsense"

        def __call__(self):
            pass

    class Data:
        pass

    for marked, message in (
        (Opaque(), "has a signature that cannot be read"),
        (Data(), "marked but cannot be called"),
    ):
        plugin = Good()
        plugin.on_task_failed = hookimpl(marked)
        assert message in refusal(make_manager, plugin)


# -- names and blocks


def test_names_are_those_of_class_module_or_caller(make_manager):
    """A plugin goes by the name that it is given, else by that of its class or module."""
    module = types.ModuleType("my_alerts")
    module.on_task_failed = hookimpl(lambda: None)
    manager = make_manager()

    assert "Good" == manager.register(Good)
    assert "other" == manager.register(Good(), "other")
    assert "my_alerts" == manager.register(module)
    assert ("Good", "other", "my_alerts") == manager.names()
    assert ("on_task_failed",) == manager.hooks("my_alerts")


def test_name_is_given_once(make_manager):
    """A second plugin under a name is refused, and the first stays."""
    manager = make_manager(Good)

    with pytest.raises(RegistrationError, match=r"'Good' is registered already, as .*Good; give"):
        manager.register(Good)

    assert ("Good",) == manager.names()


def test_object_is_registered_once(make_manager):
    """The same object under a second name would hear everything twice: refused."""
    plugin = Good()
    manager = make_manager(plugin)

    with pytest.raises(RegistrationError, match="would hear everything twice"):
        manager.register(plugin, "again")


def test_blocked_name_is_never_registered(make_manager):
    """Blocking a name forgets its plugin and refuses it from then on, without an error."""
    manager = make_manager(Good)

    manager.block("Good")

    assert () == manager.names()
    assert manager.register(Good) is None
    assert () == manager.listeners(EventType.FAILED)


def test_unregistered_name_is_free_again(make_manager):
    """unregister() forgets a plugin, and its name can be given anew."""
    manager = make_manager(Good)

    manager.unregister("Good")
    manager.unregister("Good")

    assert () == manager.listeners(EventType.FAILED)
    assert "Good" == manager.register(Good)


def test_duplicate_module_is_named(make_manager):
    """Where two plugins want one name, the message tells what each of them is."""
    module = types.ModuleType("my_alerts")
    module.on_task_failed = hookimpl(lambda: None)
    manager = make_manager()
    manager.register(module, "alerts")

    with pytest.raises(RegistrationError, match=r"as my_alerts; give .*test_registration.*Good an"):
        manager.register(Good, "alerts")


def test_events_are_wanted_by_those_who_implement_the_hook(make_manager):
    """wants() and listeners() tell which events are worth keeping for whom."""

    class Recoveries:
        @hookimpl
        def on_task_recovered(self, task):
            pass

    manager = make_manager(Good, Recoveries)

    assert ("Good",) == manager.listeners(EventType.FAILED)
    assert ("Recoveries",) == manager.listeners(EventType.RECOVERED)
    assert () == manager.listeners(EventType.AMENDED)
    assert manager.wants("Good", EventType.FAILED)
    assert not manager.wants("Good", EventType.RECOVERED)
    assert not manager.wants("Nobody", EventType.FAILED)


# -- construction


def provide(name):
    """Return settings that tell the name, an empty state, and something for a clock."""
    return Provisions({"url": f"for {name}"}, {}, "clock")


def test_class_is_made_with_what_its_constructor_names(make_manager):
    """A class gets settings, state and clock by name, and only those that it names."""
    made = []

    class Full(Good):
        def __init__(self, clock, *, settings, state, mode="plain"):
            made.append((settings, state, clock, mode))

    class Bare(Good):
        def __init__(self, **options):
            made.append(options)

    make_manager(Full, Bare, Good, provide=provide)

    assert [({"url": "for Full"}, {}, "clock", "plain"), {}] == made


def test_without_a_provider_state_and_settings_still_work(make_manager):
    """A bare manager gives empty settings and a state that remembers while the process lives."""

    class Stateful(Good):
        def __init__(self, settings, state):
            assert {} == settings
            state.put("seen", "1")
            assert "1" == state.get("seen")
            state.put("seen", None)
            state.put("never", None)
            assert state.get("seen") is None

    assert ("Stateful",) == make_manager(Stateful).names()


@pytest.mark.parametrize(
    ("constructor", "message"),
    [
        (lambda self, url: None, r"'Listener': Listener\(\) names 'url', which this version"),
        (lambda self, setting: None, "Did you mean 'settings'"),
        (lambda self: 1 / 0, r"Listener\(\) raised ZeroDivisionError: division by zero"),
        (lambda self: sys.exit(2), r"Listener\(\) raised SystemExit: 2"),
    ],
)
def test_constructor_that_cannot_be_called_is_a_registration_error(
    make_manager, constructor, message
):
    """A constructor that wants something else or raises is one clear error, SystemExit included."""
    plugin = listener(lambda self: None)
    plugin.__init__ = constructor
    manager = make_manager()

    with pytest.raises(RegistrationError, match=message):
        manager.register(plugin)


def test_refused_settings_stay_a_config_error(make_manager):
    """A plugin that refuses its settings does so with its own ConfigError."""

    class Strict(Good):
        def __init__(self, settings):
            raise ConfigError("[plugins.Strict] url is missing")

    manager = make_manager()

    with pytest.raises(ConfigError, match=r"\[plugins.Strict\] url is missing"):
        manager.register(Strict)


def test_close_must_be_callable_with_a_timeout(make_manager):
    """close() takes the timeout or nothing; anything else is refused at registration."""

    class Wrong(Good):
        def close(self, flush):
            pass

    assert "plugin 'Wrong': close names 'flush'" in refusal(make_manager, Wrong)


def test_object_that_cannot_be_looked_at_is_a_registration_error(make_manager):
    """An object whose own code raises while it is looked at is refused, not passed on."""

    class Hostile(Good):
        def __dir__(self):
            raise RuntimeError("go away")

    message = refusal(make_manager, Hostile())

    assert "plugin 'Hostile' cannot be looked at: RuntimeError: go away" == message
