"""Read a stranger's exception without trusting it.

Its class may lie about itself, and raise from anything that can be overridden. So what Python
itself keeps of an exception is read through the getters of `BaseException` and `type`, its type is
never asked of the object, and all else is read one attribute at a time, each in a try of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, TypeGuard, TypeVar

from failhook.details import JsonScalar
from failhook.text import clean, cut

MESSAGE_WINDOW: Final = 32_768
TRACEBACK_WINDOW: Final = 98_304
_VALUE_WINDOW: Final = 256
_NAME_WINDOW: Final = 512
"""Characters kept, coarsely: redaction and the exact cut come later, where the event is built."""

_BIGGEST: Final = 2**63

_T = TypeVar("_T")

_cause = vars(BaseException)["__cause__"].__get__
_context = vars(BaseException)["__context__"].__get__
_context_hidden = vars(BaseException)["__suppress_context__"].__get__
_arguments = vars(BaseException)["args"].__get__
_members = vars(BaseExceptionGroup)["exceptions"].__get__
_module = vars(type)["__module__"].__get__
_qualname = vars(type)["__qualname__"].__get__
frames_of = vars(BaseException)["__traceback__"].__get__
bases_of = vars(type)["__mro__"].__get__


def of_type(value: object, kind: type[_T]) -> TypeGuard[_T]:
    """Return whether the value's true type is `kind` or derives from it."""
    return issubclass(type(value), kind)


def links(exception: BaseException, *, hidden: bool = False) -> Iterator[tuple[str, BaseException]]:
    """Yield ``cause`` and ``context`` with what they lead to; `hidden`: a suppressed one too."""
    cause = _cause(exception)
    if cause is not None:
        yield "cause", cause
    context = _context(exception)
    if context is not None and (hidden or not _context_hidden(exception)):
        yield "context", context


def members(exception: BaseException) -> tuple[BaseException, ...]:
    """Return the members of an exception group; of any other exception none."""
    found: tuple[BaseException, ...] = ()
    if of_type(exception, BaseExceptionGroup):
        found = _members(exception)
    return found


def arguments(exception: BaseException) -> tuple[object, ...]:
    """Return what the exception was made with."""
    found: tuple[object, ...] = _arguments(exception)
    return found


def quietly(owner: object, name: str) -> Any:
    """Read an attribute; one that raises counts as absent."""
    try:
        return getattr(owner, name, None)
    except BaseException:  # noqa: BLE001 - a property may raise anything, and must not end the host
        return None


def text_of(value: object, limit: int) -> str:
    """Return what the value says of itself, coarsely cut.

    Where its ``__str__`` raises, the texts that it was made with speak for it.
    """
    try:
        text = str(value)
    except BaseException as failure:  # noqa: BLE001 - a stranger's __str__ may raise anything
        text = _made_with(value)
        if not text:
            return f"<{qualified(type(value))}: its text raises {qualified(type(failure))}>"
    return window(text, limit)


def _made_with(value: object) -> str:
    if not of_type(value, BaseException):
        return ""
    return ", ".join([argument for argument in arguments(value) if type(argument) is str])


def window(text: str, limit: int) -> str:
    """Return a plain, valid string, coarsely cut."""
    if type(text) is not str:
        text = str.__str__(text)
    return clean(text if len(text) <= limit else cut(text, limit))


def qualified(kind: type) -> str:
    """Return a class's module and qualified name."""
    try:
        module = _module(kind)
    except AttributeError:  # a class may be without
        module = "?"
    name = str.__str__(_qualname(kind))
    return window(f"{module}.{name}" if type(module) is str else f"?.{name}", _NAME_WINDOW)


def scalar(value: object) -> JsonScalar:
    """Return a string, a truth value or a number as JSON has it; None for all else."""
    if of_type(value, str):
        return window(value, _VALUE_WINDOW)
    if of_type(value, bool):
        return value
    if of_type(value, int):
        whole = int.__int__(value)
        return whole if -_BIGGEST <= whole < _BIGGEST else None
    if of_type(value, float):
        number = float.__float__(value)
        return number if math.isfinite(number) else None
    return None
