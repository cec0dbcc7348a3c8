"""Class names as rules write them: the package's root and the class, whatever lies between."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_MOVED: Final = {"exceptiongroup": "", "builtins": "", "__builtin__": "", "exceptions": ""}
"""Roots that say nothing: the builtins, their Python 2 names, and their backport."""


_WORD: Final = re.compile(r"[A-Z]+[a-z0-9]*")
_TELLING: Final = (
    *("Airflow", "Dagster", "Ray", "Prefect", "Flyte", "AMQP", "Py4J", "KilledWorker"),
    *("TerminationSignal", "TimeoutExpired", "gaierror", "ChordError"),
)
_ANYBODYS: Final = ("OutOfMemoryError", "ClassValidationError", "BaseValidationError")
_SAME: Final = {"celery": "billiard", "joblib": "loky", "kubernetes_asyncio": "kubernetes"}


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


_BASES: Final = (
    ("botocore.errorfactory.", ("botocore.ClientError",)),
    ("psycopg2.errors.", ("psycopg2.DatabaseError",)),
    ("psycopg.errors.", ("psycopg.DatabaseError",)),
    ("asyncpg.exceptions.", ("asyncpg.Error",)),
    ("sqlalchemy.exc.", ("sqlalchemy.SQLAlchemyError",)),
    ("amqp.exceptions.", ("amqp.AMQPError",)),
    ("redis.exceptions.", ("redis.RedisError",)),
    ("luigi.parameter.", ("luigi.ParameterException",)),
    ("grpc.", ("grpc.RpcError",)),
    ("temporalio.exceptions.", ("temporalio.FailureError",)),
)
"""The base that all classes of a module share, where a host recorded no bases."""


@lru_cache(maxsize=2_048)
def short_names(kind: str, mro: tuple[str, ...]) -> tuple[str, ...]:
    """Return the short names of a class and of its bases, outermost first.

    Where no bases were recorded, those of a builtin exception are known anyway.
    """
    own = short_name(kind)
    bases = tuple(map(short_name, mro)) if mro else _guessed(kind, own)
    return tuple(dict.fromkeys((own, *bases)))


def _guessed(kind: str, own: str) -> tuple[str, ...]:
    inner = kind.partition("(")[2].removesuffix(")")
    if inner:
        return (*_guessed("", own), short_name(inner), *_guessed(inner, short_name(inner)))
    known = getattr(builtins, own, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return tuple(base.__name__ for base in known.__mro__[:-1])
    return next((bases for module, bases in _BASES if kind.startswith(module)), ())


def distinct_names(names: Iterable[str]) -> dict[str, str]:
    """Return the short names that are known by the class alone, where a host kept no module.

    Those are names of three words or more that only one package has, such as ``WorkerLostError``,
    and a few shorter ones. What could be anybody's stays nobody's.
    """
    owners: dict[str, list[str]] = {}
    for name in names:
        root, dot, own = name.partition(".")
        if dot and (len(_WORD.findall(own)) > 2 or own.startswith(_TELLING)):
            owners.setdefault(own, []).append(_SAME.get(root, root))
    return {
        own: f"{roots[0]}.{own}"
        for own, roots in owners.items()
        if len(set(roots)) == 1 and own not in _ANYBODYS
    }
