"""What a host passes by mistake: refused, with the way to pass it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from failhook.errors import ConfigError
from failhook.evidence import Evidence
from failhook.task import Task

_EVIDENCE: Final = "Evidence, such as Evidence.exception(error) or Evidence.returncode(code)"


def check_task(call: str, task: object) -> None:
    """Refuse what is no task.

    Raises:
        ConfigError: it is something else.
    """
    if not isinstance(task, Task):
        msg = f"{call}() takes a Task, not {type(task).__name__}"
        raise ConfigError(msg)


def check_evidence(call: str, evidence: object) -> None:
    """Refuse what is no evidence.

    Raises:
        ConfigError: it is something else.
    """
    if not isinstance(evidence, Evidence):
        msg = f"{call}() takes {_EVIDENCE}, not {type(evidence).__name__}"
        raise ConfigError(msg)


def check_choice(call: str, given: object, allowed: tuple[str, ...]) -> None:
    """Refuse what is not one of a few words.

    Raises:
        ConfigError: it is another word.
    """
    if given not in allowed:
        msg = f"{call} takes one of {', '.join(allowed)}, not {given!r}"
        raise ConfigError(msg)


def check_parts(parts: Mapping[str, tuple[object, type]]) -> None:
    """Refuse parts of a pipeline of the wrong class; None stands for the default.

    Raises:
        ConfigError: a part is something else.
    """
    for name, (given, kind) in parts.items():
        if given is not None and not isinstance(given, kind):
            msg = f"Pipeline({name}=...) takes {kind.__name__}, not {type(given).__name__}"
            raise ConfigError(msg)


def check_store(store: object) -> None:
    """Refuse the name of a store where an open one is meant.

    Raises:
        ConfigError: it is no store.
    """
    if store is not None and not hasattr(store, "transaction"):
        msg = f"Pipeline(store={store!r}): open it first: failhook.stores.open_store({store!r})"
        raise ConfigError(msg)
