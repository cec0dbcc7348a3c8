"""Which of the offered arguments a callable wants, and how it must be handed them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from failhook.errors import RegistrationError

_SIMILAR: Final = 0.7
_SAME_WORD: Final = 0.85
"""How alike two names must be for one to be offered, and to be taken, as the other misspelt."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a callable takes of what is offered.

    Attributes:
        positional: names that can only be passed by position, in order; a name that is not
            offered comes with its default.
        keywords: names that are passed by name.
        everything: it takes ``**kwargs``, and so gets all that is offered.
    """

    positional: tuple[tuple[str, object], ...]
    keywords: tuple[str, ...]
    everything: bool

    @property
    def named(self) -> tuple[str, ...]:
        """Return every name that it spells out."""
        return (*(name for name, _ in self.positional), *self.keywords)

    def bind(self, given: Mapping[str, Any]) -> tuple[list[object], dict[str, Any]]:
        """Return what to call it with; what nobody gave is None."""
        positional = [given.get(name, default) for name, default in self.positional]
        keywords = {name: given.get(name) for name in self.keywords}
        if self.everything:
            taken = {name for name, _ in self.positional}
            keywords |= {name: value for name, value in given.items() if name not in taken}
        return positional, keywords


def read_arguments(
    function: Callable[..., object], offered: Sequence[str], where: str
) -> Arguments:
    """Return what `function` wants of the names `offered`.

    Args:
        function: any callable, bound.
        offered: the names that it may take.
        where: plugin and hook, for messages.

    Raises:
        RegistrationError: it wants something that is not offered, or in no way that works.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise RegistrationError(
            f"{where} has a signature that cannot be read ({error}). "
            f"Write it as a def with the arguments that it wants: {', '.join(offered)}"
        ) from None
    positional: list[tuple[str, object]] = []
    keywords: list[str] = []
    everything = False
    variadic = ""
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            everything = True
        elif parameter.kind is parameter.VAR_POSITIONAL:
            variadic = name
        else:
            known = name in offered
            if not known:
                _check_unknown(parameter, parameters, offered, where)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append((name, None if known else parameter.default))
            elif known:
                keywords.append(name)
    if variadic and not everything:
        raise RegistrationError(
            f"{where} takes *{variadic}, which would stay empty: arguments are passed by name. "
            f"Name what it wants ({', '.join(offered)}) or take **kwargs"
        )
    return Arguments(tuple(positional), tuple(keywords), everything)


def _check_unknown(
    parameter: inspect.Parameter,
    parameters: Mapping[str, inspect.Parameter],
    offered: Sequence[str],
    where: str,
) -> None:
    """Refuse a name that is not offered, unless it has a default and is no slip of the pen."""
    name = parameter.name
    optional = parameter.default is not parameter.empty
    free = [offer for offer in offered if offer not in parameters]
    alike = get_close_matches(name, free, n=1, cutoff=_SAME_WORD if optional else _SIMILAR)
    hint = f"Did you mean {alike[0]!r}? " if alike else ""
    if optional and not alike:
        return
    raise RegistrationError(
        f"{where} names {name!r}, which this version of failhook does not have. {hint}"
        f"It has {', '.join(offered)}; "
        + (
            f"remove {name!r}, or name {alike[0]!r} as well"
            if optional
            else f"to take what only a later version has, give it a default: {name}=None"
        )
    )
