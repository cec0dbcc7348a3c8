"""Check what callers give: one error says what is wrong, where, and what it must be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from failhook.errors import FailhookError

_Closed = TypeVar("_Closed", bound=StrEnum)


class Given(NamedTuple):
    """The checks of one class: what it is called, and what it raises.

    Attributes:
        owner: stands before the name of each field.
        error: is raised with one sentence.
    """

    owner: str
    error: type[FailhookError]

    def wrong(self, name: str, value: object, allowed: str) -> FailhookError:
        """Return the error on one value."""
        return self.error(f"{self.owner}.{name} is {value!r}; it must be {allowed}")

    def of_type(self, name: str, value: object, kind: type, allowed: str) -> None:
        """Take an instance of a class."""
        if not isinstance(value, kind):
            raise self.wrong(name, value, allowed)

    def text(self, name: str, value: object) -> None:
        """Take a string."""
        self.of_type(name, value, str, "a string")

    def optional_text(self, name: str, value: object) -> None:
        """Take a string or None."""
        if value is not None:
            self.of_type(name, value, str, "a string or None")

    def flag(self, name: str, value: object) -> None:
        """Take a truth value; no other value is read as one."""
        self.of_type(name, value, bool, "True or False")

    def whole(self, name: str, value: object) -> int:
        """Take a whole number, which a truth value is not; return it as a plain one."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong(name, value, "a whole number")
        return int(value)

    def seconds(self, name: str, value: object) -> None:
        """Take a finite number."""
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not -math.inf < value < math.inf
        ):
            raise self.wrong(name, value, "a number of seconds")

    def optional_seconds(self, name: str, value: object) -> None:
        """Take a finite number or None."""
        if value is not None:
            self.seconds(name, value)

    def among(self, name: str, value: object, allowed: Sequence[str]) -> None:
        """Take one of some strings."""
        if value not in allowed:
            raise self.wrong(name, value, f"one of {', '.join(allowed)}")

    def member(self, name: str, value: object, closed: type[_Closed]) -> _Closed:
        """Take a member of a closed set, or the string that stands for it."""
        try:
            return closed(str(value))
        except ValueError:
            raise self.wrong(name, value, f"one of {', '.join(closed)}") from None
