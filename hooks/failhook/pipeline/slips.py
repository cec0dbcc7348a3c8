"""What a host passes by mistake: refused, with the way to pass it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from failhook.classify import Rule
from failhook.config import Config
from failhook.details import is_list
from failhook.errors import ConfigError
from failhook.evidence import Evidence
from failhook.task import Task

_YEAR: Final = 366 * 86_400.0
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


def check_source(path: object, store: object) -> None:
    """Refuse what names no configuration, or no store to be opened.

    Raises:
        ConfigError: it is something else.
    """
    if path is not None and not isinstance(path, str | Path | Config):
        msg = f"from_config() takes the path of a file or a Config, not {_type(path)}"
        raise ConfigError(msg)
    if store is not None and not isinstance(store, str):
        msg = f"from_config(store=...) takes where the store is, as a string, not {_type(store)}"
        raise ConfigError(msg)


def check_clock(clock: object) -> None:
    """Refuse what does not tell the time as `failhook.clock.Clock` says; None is the default.

    Raises:
        ConfigError: it is something else.
    """
    if clock is None:
        return
    now, monotonic = getattr(clock, "now", None), getattr(clock, "monotonic", None)
    if not (callable(now) and callable(monotonic)) or isinstance(clock, type):
        msg = f"Pipeline(clock=...) takes an object with now() and monotonic(), not {_type(clock)}"
        raise ConfigError(msg)
    moment, seconds = now(), monotonic()
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        msg = f"Pipeline(clock=...): now() returned {moment!r}; it must be an aware datetime in UTC"
        raise ConfigError(msg)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        msg = f"Pipeline(clock=...): monotonic() returned {seconds!r}; it must be seconds"
        raise ConfigError(msg)


def check_rules(rules: object) -> None:
    """Refuse what is no sequence of rules.

    Raises:
        ConfigError: it is something else.
    """
    if is_list(rules):
        wrong = [rule for rule in rules if not isinstance(rule, Rule)]
        if not wrong:
            return
        rules = wrong[0]
    msg = (
        f"Pipeline(rules=...) takes a list of Rule, not {_type(rules)}; "
        "failhook.classify.read_user_rules() makes one of tables"
    )
    raise ConfigError(msg)


def check_callable(call: str, given: object) -> None:
    """Refuse what cannot be called.

    Raises:
        ConfigError: it is something else.
    """
    if not callable(given):
        msg = f"{call} takes a callable without arguments, not {_type(given)}"
        raise ConfigError(msg)


def check_text(call: str, given: object) -> None:
    """Refuse what is neither a string nor None.

    Raises:
        ConfigError: it is something else.
    """
    if given is not None and not isinstance(given, str):
        msg = f"{call} takes a string, not {_type(given)}"
        raise ConfigError(msg)


def check_seconds(call: str, given: object) -> None:
    """Refuse what is no time to wait: a number of seconds, from 0 to a year.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= _YEAR:
        msg = f"{call} takes a number of seconds, 0 or more and a year at most, not {given!r}"
        raise ConfigError(msg)


def check_pid(given: object) -> None:
    """Refuse what is no process id.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        msg = f"attach() takes the number of a process, 1 or more, not {given!r}"
        raise ConfigError(msg)


def _type(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
