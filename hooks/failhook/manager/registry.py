"""Which plugins there are: registered, found through entry points, blocked, in pluggy's order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, metadata
from types import FunctionType, ModuleType

import pluggy

from failhook.errors import ConfigError, RegistrationError
from failhook.manager.arguments import read_arguments
from failhook.manager.checks import Implementation, implementations
from failhook.manager.hooks import hook_arguments
from failhook.manager.listener import Listener
from failhook.manager.outcome import error_line
from failhook.manager.provisions import Provisions, construct
from failhook.plugin import hookimpl
from failhook.spec import FailureListener

MakeListener = Callable[
    [str, object, Mapping[str, Implementation], Implementation | None], Listener
]


class _Place:
    """What pluggy sees of a plugin: a marked function for each hook, so that it keeps the order.

    The implementations themselves stay with us: pluggy before 1.7 would leave out arguments that
    have a default, and every version those that are keyword-only.
    """


class Registry:
    """The plugins by name.

    Args:
        provide: what the constructor of a plugin may name, by the plugin's name.
        listener: makes the listener of a plugin that passed the checks.
        redact: takes secrets out of what a plugin raised.
    """

    def __init__(
        self,
        provide: Callable[[str], Provisions],
        listener: MakeListener,
        redact: Callable[[str], str],
    ) -> None:
        self.hooks = hook_arguments()
        self.listeners: dict[str, Listener] = {}
        self._provide = provide
        self._listener = listener
        self._redact = redact
        self._pluggy = pluggy.PluginManager("failhook")
        self._pluggy.add_hookspecs(FailureListener)

    def register(self, plugin: object, name: str | None = None) -> str | None:
        """Register a plugin; return its name, or None where that name is blocked.

        Raises:
            RegistrationError: it would not work as written.
            ConfigError: the plugin refused its settings.
        """
        name = name or _named(plugin).__name__
        if self._pluggy.is_blocked(name):
            return None
        for listener in self.listeners.values():
            if listener.name == name:
                raise RegistrationError(
                    f"plugin {name!r} is registered already, as {_origin(listener.plugin)}; "
                    f"give {_origin(plugin)} another name: register(plugin, name=...)"
                )
            if listener.plugin is plugin:
                raise RegistrationError(
                    f"plugin {name!r} is the same object as plugin {listener.name!r} and would "
                    "hear everything twice; register it once"
                )
        if inspect.isclass(plugin):
            plugin = construct(plugin, name, self._provide(name), self._redact)
        try:
            found = implementations(plugin, name, self.hooks)
            close = _close(plugin, name)
        except RegistrationError:
            raise
        except Exception as error:
            raise RegistrationError(
                f"plugin {name!r} cannot be looked at: {error_line(error, self._redact)}"
            ) from error
        self.listeners[name] = self._listener(name, plugin, found, close)
        place = _Place()
        for hook, implementation in found.items():
            mark = hookimpl(
                tryfirst=implementation.tryfirst, trylast=implementation.trylast, specname=hook
            )
            setattr(place, hook, mark(lambda: None))
        self._pluggy.register(place, name)
        return name

    def load_entry_points(
        self,
        group: str,
        *,
        blocked: Collection[str],
        only: Collection[str] | None,
        wanted: Callable[[EntryPoint], bool],
    ) -> tuple[str, ...]:
        """Register what installed packages offer; return the names that were registered.

        Raises:
            RegistrationError: some could not be registered; the others were.
        """
        for name in blocked:
            self.block(name)
        found = sorted(entry_points(group=group), key=lambda point: point.name)
        problems = [
            _not_installed(name, found)
            for name in dict.fromkeys(only or ())
            if name not in {point.name for point in found} and not self._pluggy.is_blocked(name)
        ]
        loaded: list[str] = []
        for point in found:
            if self._pluggy.is_blocked(point.name) or (only is not None and point.name not in only):
                continue
            if not wanted(point):
                continue
            try:
                self.register(_load(point, self._redact), point.name)
            except RegistrationError as error:
                problems.append(f"{error}{_client_hint(point.name, error.__cause__)}")
            except ConfigError as error:
                named = "" if error.keys else f"plugin {point.name!r}: "
                more = f" (and {len(error.more)} more; see failhook check)" if error.more else ""
                problems.append(f"{named}{self._redact(str(error))}{more}")
            else:
                loaded.append(point.name)
        if problems:
            raise RegistrationError("\n".join(problems))
        return tuple(loaded)

    def block(self, name: str) -> None:
        """Refuse a name from now on, and forget a plugin that has it."""
        self.unregister(name)
        self._pluggy.set_blocked(name)

    def unregister(self, name: str) -> Listener | None:
        """Forget a plugin and return it; None where there is none of that name."""
        listener = self.listeners.pop(name, None)
        if listener is not None:
            self._pluggy.unregister(name=name)
            listener.stop(deadline=0.0)
        return listener

    def implementing(self, hook: str) -> tuple[Listener, ...]:
        """Return the plugins that implement a hook, in the order in which pluggy calls them."""
        caller: pluggy.HookCaller = getattr(self._pluggy.hook, hook)
        return tuple(
            self.listeners[found.plugin_name] for found in reversed(caller.get_hookimpls())
        )


def _close(plugin: object, name: str) -> Implementation | None:
    close = getattr(plugin, "close", None)
    if not callable(close):
        return None
    arguments = read_arguments(close, ("timeout",), f"plugin {name!r}: close")
    return Implementation("close", close, arguments)


def _load(point: EntryPoint, redact: Callable[[str], str]) -> object:
    try:
        return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RegistrationError(
            f"plugin {point.name!r} ({point.value}) cannot be loaded: {error_line(error, redact)}"
        ) from error


def _not_installed(name: str, found: Sequence[EntryPoint]) -> str:
    names = ", ".join(point.name for point in found) or "none"
    hint = _install_hint(name) or "; install the package that offers it"
    return f"plugin {name!r} is switched on but not installed (installed: {names}){hint}"


def _client_hint(name: str, error: BaseException | None) -> str:
    """Name the extra of a plugin that lacks its client, be it when loaded or when constructed."""
    return _install_hint(name) if isinstance(error, ImportError) else ""


def _install_hint(name: str) -> str:
    """Name the extra to install, where failhook has one of the plugin's name."""
    try:
        extras = metadata("failhook").get_all("Provides-Extra") or []
    except PackageNotFoundError:  # run from a checkout that was not installed
        return ""
    return f"; pip install 'failhook[{name}]'" if name in extras else ""


def _named(plugin: object) -> type | ModuleType | FunctionType:
    return plugin if isinstance(plugin, type | ModuleType | FunctionType) else type(plugin)


def _origin(plugin: object) -> str:
    named = _named(plugin)
    if isinstance(named, ModuleType):
        return named.__name__
    return f"{named.__module__}.{named.__qualname__}"
