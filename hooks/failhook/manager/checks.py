"""What a plugin implements; whatever would never be called as meant is refused, with the fix."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MethodType
from typing import Any, Final, cast

from failhook.errors import RegistrationError
from failhook.manager.arguments import Arguments, read_arguments
from failhook.manager.hooks import DUE, GROUP

Hooks = Mapping[str, Sequence[str]]
"""The hooks that exist, with the names of their arguments."""

_MARK: Final = "failhook_impl"
_MARKED: Final = "mark it with @hookimpl (from failhook.plugin import hookimpl)"


@dataclass(frozen=True, slots=True)
class Implementation:
    """A function of a plugin, and what it must be called with."""

    hook: str
    function: Callable[..., object]
    arguments: Arguments
    tryfirst: bool = False
    trylast: bool = False


def implementations(plugin: object, name: str, hooks: Hooks) -> dict[str, Implementation]:
    """Return what `plugin`, registered as `name`, implements, by hook.

    Raises:
        RegistrationError: it is not a plugin, or an implementation would not work as written.
    """
    _check_object(plugin, name, hooks)
    found: dict[str, Implementation] = {}
    marked = False
    for attribute, options in _attributes(plugin):
        if options is None:
            _check_unmarked(plugin, attribute, name, hooks)
            continue
        marked = True
        hook = options.get("specname") or attribute
        where = f"plugin {name!r}: {attribute}" + (f" ({hook})" if hook != attribute else "")
        if hook not in hooks:
            if not options.get("optionalhook"):
                raise RegistrationError(f"{where} {_no_such_hook(hook, hooks)}")
            continue
        if hook in found:
            raise RegistrationError(
                f"{where} implements {hook} a second time; "
                "keep one implementation and let it call the other"
            )
        function = getattr(plugin, attribute)
        _check_function(function, options, where)
        _check_self(function, hooks[hook], where)
        found[hook] = Implementation(
            hook,
            function,
            read_arguments(function, hooks[hook], where),
            tryfirst=bool(options.get("tryfirst")),
            trylast=bool(options.get("trylast")),
        )
    if not marked:
        raise RegistrationError(
            f"plugin {name!r}: nothing in {_described(plugin)} is marked as a hook implementation. "
            f"Write a method named after a hook ({', '.join(hooks)}) and {_MARKED}"
        )
    _check_pair(found, name)
    return found


def _check_pair(found: Mapping[str, object], name: str) -> None:
    """Refuse one of the two hooks of gathering without the other: events would never come back."""
    if (GROUP in found) is (DUE in found):
        return
    here, missing = (GROUP, DUE) if GROUP in found else (DUE, GROUP)
    why = "what it gathers would never come back" if here == GROUP else "it would never be called"
    raise RegistrationError(
        f"plugin {name!r}: {here} is implemented without {missing}, so {why}. "
        f"Implement {missing} too, or remove {here}"
    )


def _check_object(plugin: object, name: str, hooks: Hooks) -> None:
    if _is_function(plugin):
        hook = next(iter(hooks))
        raise RegistrationError(
            f"plugin {name!r} is {_described(plugin)}; a plugin is a class, a module or an object. "
            f"Put the function into a class, name it after a hook and {_MARKED}:\n"
            f"    class Plugin:\n"
            f"        @hookimpl\n"
            f"        def {hook}(self, {', '.join(hooks[hook])}): ..."
        )
    if plugin is None or isinstance(plugin, str | bytes | int | float | dict | list | tuple | set):
        raise RegistrationError(
            f"plugin {name!r} is {plugin!r:.80}; a plugin is a class, a module or an object with "
            "methods marked @hookimpl: import it and pass the thing itself"
        )


def _attributes(plugin: object) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield the public names of a plugin with the marker's options; properties are not run."""
    for attribute in dir(plugin):
        if not attribute.startswith("__"):
            yield attribute, _options(inspect.getattr_static(plugin, attribute, None))


def _options(static: object) -> dict[str, Any] | None:
    """Read what the marker left on a function, below or above @staticmethod and @classmethod."""
    holders: list[object] = [static]
    if isinstance(static, staticmethod | classmethod | MethodType):
        holders.append(cast("Any", static).__func__)
    for holder in holders:
        options: Any = inspect.getattr_static(holder, _MARK, None)
        if isinstance(options, dict):
            return cast("dict[str, Any]", options)
    return None


def _check_unmarked(plugin: object, attribute: str, name: str, hooks: Hooks) -> None:
    """Refuse a method that was surely meant as a hook, but would never be called."""
    meant = get_close_matches(attribute, hooks, n=1, cutoff=0.9)
    static = inspect.getattr_static(plugin, attribute, None)
    if attribute.startswith("_") or not meant or static is None:
        return
    strange = sorted(
        mark for mark in getattr(static, "__dict__", {}) if mark.endswith(("_impl", "_spec"))
    )
    but = f", only as {strange[0]}, which failhook does not read" if strange else ""
    fix = _MARKED if attribute == meant[0] else f"name it {meant[0]} and {_MARKED}"
    raise RegistrationError(
        f"plugin {name!r}: {attribute} looks like the hook {meant[0]} but is not marked{but}; "
        f"it would never be called. {fix[0].upper()}{fix[1:]}, or give it another name"
    )


def _check_function(function: object, options: Mapping[str, Any], where: str) -> None:
    if options.get("wrapper") or options.get("hookwrapper"):
        raise RegistrationError(
            f"{where} is a wrapper; each plugin is called alone, so there is nothing to wrap. "
            "Write a plain implementation: @hookimpl without wrapper or hookwrapper"
        )
    if not callable(function):
        raise RegistrationError(
            f"{where} is marked but cannot be called; write it as a method, with def"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise RegistrationError(
            f"{where} is a generator, whose body would never run; take the yield out of it"
        )


def _check_self(function: object, offered: Sequence[str], where: str) -> None:
    """Refuse a method without self: the plugin itself would arrive as its first argument."""
    if not inspect.ismethod(function):
        return
    first = next(iter(inspect.signature(function.__func__).parameters), None)
    if first is None or first in offered:
        raise RegistrationError(
            f"{where} has no self: its first argument is {first or 'missing'}. "
            "Put self before it, or put @staticmethod above it"
        )


def _no_such_hook(hook: str, hooks: Hooks) -> str:
    alike = get_close_matches(hook, hooks, n=1, cutoff=0.6)
    hint = f"did you mean {alike[0]}?" if alike else f"there are {', '.join(hooks)}."
    return (
        f"is marked @hookimpl, but there is no such hook; {hint} "
        "For a hook of a later version write @hookimpl(optionalhook=True)"
    )


def _is_function(plugin: object) -> bool:
    return inspect.isroutine(plugin) or isinstance(plugin, functools.partial)


def _described(plugin: object) -> str:
    kind = "the module" if inspect.ismodule(plugin) else "an instance of"
    if _is_function(plugin):
        return f"a function ({getattr(plugin, '__name__', 'partial')})"
    return f"{kind} {getattr(plugin, '__name__', type(plugin).__name__)}"
