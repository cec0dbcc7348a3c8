"""The plugins, for those who call them: the drainer, the classifier, and hosts of old."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import EntryPoint
from typing import Any

from failhook.clock import Clock, SystemClock
from failhook.details import FailureDetails
from failhook.event import EventType, FailureEvent
from failhook.evidence import Evidence
from failhook.forks import COUNTS_AFTERWARDS, PATIENCE, watch_forks
from failhook.groups import DroppedEvents
from failhook.manager.answers import sound_groups, sound_handled
from failhook.manager.checks import Implementation
from failhook.manager.health import PluginHealth
from failhook.manager.hooks import CLASSIFY, DROPPED, DUE, EVENTS, GROUP, HOOK_OF, offered, part_of
from failhook.manager.limits import Limits
from failhook.manager.listener import Listener
from failhook.manager.outcome import DELIVERED, Call, Outcome, Status, failed
from failhook.manager.provisions import Provisions, VolatileState
from failhook.manager.registry import Registry
from failhook.redact import Redactor
from failhook.task import Task


class Manager:
    """Registers plugins and calls each alone: whatever one does, nobody else is touched by it.

    Args:
        provide: what the constructor of a plugin may name, by the plugin's name; by default no
            settings, a state that lives as long as the process, and `clock`.
        clock: the time.
        limits: how long a plugin may take, and how often it may fail.
        redact: takes secrets out of what is logged and reported of a plugin's errors; with the
            built-in shapes unless given.
    """

    def __init__(
        self,
        provide: Callable[[str], Provisions] | None = None,
        *,
        clock: Clock | None = None,
        limits: Limits | None = None,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        self._clock: Clock = clock or SystemClock()
        self._limits = limits or Limits()
        self._redact = redact or Redactor().redact
        self._on_call: Callable[[Call], None] | None = None
        self._registry = Registry(provide or self._provisions, self._listener, self._redact)
        self._wanting: dict[EventType, tuple[str, ...]] = {}
        self._classifiers: tuple[Listener, ...] = ()
        self._changed()
        watch_forks(self)

    # -- who is there

    def register(self, plugin: object, name: str | None = None) -> str | None:
        """Register a class, a module or an object; return its name, or None where that is blocked.

        A class is constructed with those of ``settings``, ``state``, ``clock`` and ``folder`` that
        its constructor names. Without `name` it is the name of the class or module.

        Raises:
            RegistrationError: it would not work as written; the message says what to write instead.
            ConfigError: the plugin refused its settings.
        """
        registered = self._registry.register(plugin, name)
        self._changed()
        return registered

    def load_entry_points(
        self,
        group: str = "failhook",
        *,
        blocked: Collection[str] = (),
        only: Collection[str] | None = None,
        wanted: Callable[[EntryPoint], bool] = lambda _: True,
    ) -> tuple[str, ...]:
        """Register what installed packages offer under `group`; return the registered names.

        Args:
            group: the entry-point group.
            blocked: names to block for good, see `block`.
            only: names to take; None takes all.
            wanted: asked of each that would be taken, before anything of it is imported.

        Raises:
            RegistrationError: one line for each plugin that could not be registered, or is named in
                `only` and not installed. All others are registered then.
        """
        try:
            return self._registry.load_entry_points(
                group, blocked=blocked, only=only, wanted=wanted
            )
        finally:
            self._changed()

    def block(self, name: str) -> None:
        """Never register a plugin under this name, and forget the one that has it."""
        self._registry.block(name)
        self._changed()

    def unregister(self, name: str) -> None:
        """Forget a plugin, without calling its ``close``; a name that nobody has is no error."""
        self._registry.unregister(name)
        self._changed()

    def names(self) -> tuple[str, ...]:
        """Return the names of all plugins, in the order in which they were registered."""
        return tuple(self._registry.listeners)

    def plugin(self, name: str) -> object:
        """Return a plugin itself; None where there is none of that name."""
        listener = self._registry.listeners.get(name)
        return None if listener is None else listener.plugin

    def hooks(self, name: str) -> tuple[str, ...]:
        """Return the hooks that a plugin implements; none where there is no such plugin."""
        listener = self._registry.listeners.get(name)
        return () if listener is None else tuple(listener.implementations)

    def wants(self, name: str, event_type: EventType) -> bool:
        """Return whether a plugin is to be handed such events."""
        return name in self._wanting[event_type]

    def listeners(self, event_type: EventType) -> tuple[str, ...]:
        """Return the plugins that such events are for: by their hook, or since they gather."""
        return self._wanting[event_type]

    def gathers(self, name: str) -> bool:
        """Return whether a plugin gathers events in groups."""
        return DUE in self.hooks(name)

    # -- calls

    def call(self, name: str, event: FailureEvent) -> Outcome:
        """Hand one event to one plugin, in this thread; it never raises, whatever the plugin does.

        A plugin that gathers is asked for the event's groups first; where it names some, the
        outcome has them, and the event is to wait there. A plugin without the hook of this event
        has nothing to do: delivered. A sync implementation
        that hangs holds this thread, see `overdue`; an async one is cancelled at the limit. Not for
        the main thread: a KeyboardInterrupt would count as the plugin's.

        Args:
            name: the plugin.
            event: what happened. A live exception in it goes into the hook's ``error``, and is gone
                from the ``event`` that the hook is given.
        """
        listener = self._registry.listeners.get(name)
        if listener is None:
            return Outcome(
                status=Status.UNDELIVERED, error=f"plugin {name!r} is not registered here"
            )
        if GROUP in listener.implementations:
            given = {"event": event.without_exception()}
            outcome = listener.deliver(GROUP, given, self._groups, punctual=True)
            if not outcome.delivered or outcome.groups:
                return outcome
        hook = HOOK_OF[event.type]
        if hook not in listener.implementations:
            return DELIVERED
        return listener.deliver(hook, self._only(hook, offered(event)))

    def call_group(
        self,
        name: str,
        *,
        key: str,
        events: Sequence[FailureEvent],
        remaining: int,
        note: str,
        sent_at: datetime | None,
    ) -> Outcome:
        """Hand a group whose time has come to its plugin, in this thread; it never raises.

        The arguments are those of `on_group_due`; the outcome has what the plugin says of it.
        """
        listener = self._registry.listeners.get(name)
        if listener is None or DUE not in listener.implementations:
            return Outcome(status=Status.UNDELIVERED, error=f"plugin {name!r} gathers nothing here")
        given = {
            "key": key,
            "events": tuple(events),
            "remaining": remaining,
            "note": note,
            "sent_at": sent_at,
        }
        return listener.deliver(DUE, given, self._handled)

    def call_dropped(self, name: str, dropped: DroppedEvents) -> Outcome:
        """Tell a plugin, in this thread, of events that it never gets; it never raises.

        A plugin without `on_events_dropped` has nothing to do: delivered.
        """
        listener = self._registry.listeners.get(name)
        if listener is None or DROPPED not in listener.implementations:
            return DELIVERED
        if listener.health[DROPPED].wait() > 0:
            return failed("passed over: in quarantine")
        return listener.deliver(DROPPED, {"dropped": dropped})

    def call_hook(self, hook: str, /, **arguments: Any) -> dict[str, Outcome]:
        """Call a hook on every plugin that implements it; return the outcomes by plugin, in order.

        Each is called alone in a thread of its own; all together have the limit of one call. An
        argument that the caller does not pass, or passes as None, is taken from `event` where that
        is given, and is None else. A plugin named as `plugin` does not hear of its own failure.

        Raises:
            TypeError: there is no such hook or argument, or it is classify_failure: see `ask`.
        """
        names = self._registry.hooks.get(hook)
        if names is None or hook == CLASSIFY:
            allowed = ", ".join(known for known in self._registry.hooks if known != CLASSIFY)
            raise TypeError(f"call_hook() calls {allowed}, not {hook!r}")
        unknown = sorted(arguments.keys() - set(names))
        if unknown:
            raise TypeError(f"{hook} has no argument {unknown[0]!r}; it has {', '.join(names)}")
        event = arguments.get("event")
        given = offered(event) if isinstance(event, FailureEvent) else {}
        given |= {name: value for name, value in arguments.items() if value is not None}
        given = self._only(hook, given)
        deadline = self._clock.monotonic() + self._limits.call
        begun = [
            (listener, listener.begin(hook, given, deadline))
            for listener in self._registry.implementing(hook)
            if listener.name != arguments.get("plugin")
        ]
        return {
            listener.name: listener.finish(hook, future, deadline) for listener, future in begun
        }

    def ask(self, task: Task, evidence: Evidence) -> FailureDetails | None:
        """Return the first verdict that a plugin's `classify_failure` gives, None where none does.

        It is called in line: each plugin has ``limits.ask`` seconds. One that raises, is late or
        answers nonsense is passed over, and one that hangs until it comes back.
        """
        if not self._classifiers:
            return None
        given = {"task": task, "evidence": evidence}
        for listener in self._classifiers:
            details = listener.ask(CLASSIFY, given)
            if details is not None:
                return details
        return None

    # -- how they fare

    def ready(self, name: str, now: datetime | None = None) -> datetime | None:
        """Return None where a plugin may be handed events now, else the time from which it may.

        Ask before every event: in quarantine one event is handed over as a probe, and where that
        fails the next probe is later.
        """
        listener = self._registry.listeners.get(name)
        health = None if listener is None else listener.health.get(EVENTS)
        seconds = 0.0 if health is None else health.wait()
        if not seconds:
            return None
        return (now or self._clock.now()) + timedelta(seconds=seconds)

    def overdue(self) -> tuple[str, ...]:
        """Return the plugins whose `call` runs past its limit in some thread at this moment.

        Call it from time to time: it is how a call that never comes back gets counted and logged.
        """
        return tuple(
            name for name, listener in list(self._registry.listeners.items()) if listener.overdue()
        )

    def health(self) -> tuple[PluginHealth, ...]:
        """Return the counters of every plugin, one for its events and one per other hook."""
        return tuple(
            health.state
            for listener in list(self._registry.listeners.values())
            for health in listener.health.values()
        )

    def count_calls(self, on_call: Callable[[Call], None]) -> None:
        """Have every call told to somebody who keeps count; it must neither block nor raise."""
        self._on_call = on_call
        for listener in self._registry.listeners.values():
            listener.on_call = on_call

    def before_fork(self) -> None:
        """End the threads of plugins that are idle; a plugin at work keeps its own."""
        deadline = self._clock.monotonic() + PATIENCE
        for listener in self._registry.listeners.values():
            listener.before_fork(deadline)

    def after_fork_in_parent(self) -> None:
        """Let background tasks of plugins go on, where Python lets a thread begin just now."""
        if not COUNTS_AFTERWARDS:
            for listener in self._registry.listeners.values():
                listener.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """Give each plugin threads of its own."""
        for listener in self._registry.listeners.values():
            listener.after_fork_in_child()

    def close(self, timeout: float) -> bool:
        """Call the ``close(timeout)`` of each plugin that has one, all within `timeout` seconds.

        Returns:
            Whether all of them closed in time and without an error.
        """
        deadline = self._clock.monotonic() + timeout
        listeners = list(self._registry.listeners.values())
        begun = [(listener, listener.begin_close(deadline)) for listener in listeners]
        closed = [listener.finish_close(future, deadline) for listener, future in begun]
        for listener in listeners:
            listener.stop(deadline)
        return all(closed)

    # -- made here

    def _only(self, hook: str, given: Mapping[str, Any]) -> dict[str, Any]:
        return {name: given.get(name) for name in self._registry.hooks[hook]}

    def _changed(self) -> None:
        listeners = self._registry.listeners.values()
        self._wanting = {
            event_type: tuple(
                each.name
                for each in listeners
                if hook in each.implementations or GROUP in each.implementations
            )
            for event_type, hook in HOOK_OF.items()
        }
        self._classifiers = self._registry.implementing(CLASSIFY)

    def _groups(self, value: object) -> Outcome:
        groups = sound_groups(value, self._clock.now())
        return Outcome(status=Status.DELIVERED, groups=groups)

    def _handled(self, value: object) -> Outcome:
        handled = sound_handled(value, self._clock.now())
        return Outcome(status=Status.DELIVERED, handled=handled)

    def _provisions(self, _name: str) -> Provisions:
        return Provisions({}, VolatileState(), self._clock)

    def _listener(
        self,
        name: str,
        plugin: object,
        found: Mapping[str, Implementation],
        close: Implementation | None,
    ) -> Listener:
        listener = Listener(
            name,
            plugin,
            found,
            close,
            parts={hook: part_of(hook) for hook in found},
            clock=self._clock,
            limits=self._limits,
            redact=self._redact,
        )
        if self._on_call is not None:
            listener.on_call = self._on_call
        return listener
