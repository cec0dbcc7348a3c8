"""How the command reads its arguments: one line per mistake, and the units that people write."""

from __future__ import annotations

import argparse
import re
from typing import Any, Final, Never

from failhook.errors import FailhookError

_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_BYTES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_MOST_SECONDS: Final = 10 * 365 * 86_400


NOT_STARTED: Final = 125
"""What `run` exits with where the command was not started, as ``timeout`` does."""


class UsageError(FailhookError, ValueError):
    """The command line asks for what cannot be done; the message is one line."""


class NotStarted(FailhookError, RuntimeError):  # noqa: N818 - what became of the command
    """The command that was to be run has not been started; the message is one line."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are raised and not printed with a page of usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **options,
        )

    def error(self, message: str) -> Never:
        """Raise the mistake.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message}; see {self.prog} --help")


def given(text: str) -> str:
    """Read a value that must not be empty: an unset variable of a script is a mistake."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; give a value, or leave the option out")
    return text


def run_of(key: str) -> str:
    """Return the key of a task, also where that of an attempt of it is given."""
    task, _, attempt = key.rpartition("/")
    return task if task.count("/") == 4 and attempt.isdecimal() else key


def label(text: str) -> tuple[str, str]:
    """Read ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} must be NAME=VALUE")
    return name, value


def whole_number(text: str) -> int:
    """Read a whole number, 0 or more."""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, 0 or more")
    return int(text)


def seconds(text: str) -> float:
    """Read a time above 0, in seconds or with a unit: ``90``, ``1.5``, ``90s``, ``5m``, ``2h``."""
    value = _with_unit(text, _SECONDS, "")
    if not value or value > _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} must be seconds above 0, such as 90, 5m or 2h")
    return value


def size(text: str) -> int:
    """Read a size above 0, in bytes or with a binary unit: ``1000000``, ``512M``, ``2GiB``."""
    value = _with_unit(text, _BYTES, "i?b?")
    if not value or value >= 1 << 63:
        raise argparse.ArgumentTypeError(f"{text!r} must be bytes above 0, such as 512M or 2G")
    return int(value)


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=f"{what} as JSON")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add ``--config``."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=given,
        help="the settings; else FAILHOOK_CONFIG, else ./failhook.toml where there is one",
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add ``--store``."""
    parser.add_argument(
        "--store",
        metavar="FILE|URL",
        type=given,
        help="where ledger and outbox are; else FAILHOOK_STORE, else what the settings say, "
        "else ~/.local/state/failhook/failhook.db",
    )


def _with_unit(text: str, units: dict[str, int], tail: str) -> float | None:
    found = re.fullmatch(
        rf"([0-9]{{1,15}}(?:\.[0-9]{{1,9}})?)([{''.join(units)}]?){tail}", text, re.IGNORECASE
    )
    return float(found[1]) * units[found[2].lower()] if found else None
