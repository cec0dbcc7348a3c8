"""Class names as rules write them: the package's root and the class, whatever lies between."""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import Final

_MOVED: Final = {"exceptiongroup": "", "builtins": "", "__builtin__": "", "exceptions": ""}
"""Roots that say nothing: the builtins, their Python 2 names, and their backport."""


@lru_cache(maxsize=2_048)
def short_name(qualified: str) -> str:
    """Return ``root.Class`` for a class, and just ``Class`` for a builtin or a bare name.

    ``airflow.sdk.exceptions.AirflowException`` is ``airflow.AirflowException``: modules move
    between releases, the package and the name do not. A name that Ray generated, such as
    ``RayTaskError(ValueError)``, loses its brackets.
    """
    path = qualified.split("(", 1)[0]
    root, dot, rest = path.partition(".")
    if not dot:
        return path
    name = rest.rpartition(".")[2]
    root = _MOVED.get(root, root.lstrip("_"))
    return f"{root}.{name}" if root else name


@lru_cache(maxsize=2_048)
def short_names(kind: str, mro: tuple[str, ...]) -> tuple[str, ...]:
    """Return the short names of a class and of its bases, outermost first.

    Where no bases were recorded, those of a builtin exception are known anyway.
    """
    own = short_name(kind)
    if mro:
        bases = [short_name(base) for base in mro]
    else:
        known = getattr(builtins, own, None)
        bases = (
            [base.__name__ for base in known.__mro__[:-1]]
            if isinstance(known, type) and issubclass(known, BaseException)
            else []
        )
    return tuple(dict.fromkeys((own, *bases)))
