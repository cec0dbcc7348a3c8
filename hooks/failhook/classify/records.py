"""Foreign records read without trust: a field may be missing, null, of another style or type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from failhook.classify.facts import window

MAX_FIELDS: Final = 400
MAX_ITEMS: Final = 200
"""Fields of one record and members of one list that are looked at."""

_WHOLE: Final = re.compile(r"[+-]?\d{1,10}(?:\.0{1,3})?")
_UNFOLDED: Final = re.compile(r"[^a-z0-9]")


class Record:
    """One object of a foreign document; the style of a field's name does not matter.

    ``stoppedReason``, ``StoppedReason``, ``stopped_reason`` and ``stopped-reason`` are one field. A
    field that is null counts as missing.
    """

    __slots__ = ("_fields",)

    def __init__(self, source: object = None) -> None:
        self._fields: dict[str, object] = {}
        if not isinstance(source, Mapping):
            return
        for number, (name, value) in enumerate(cast("Mapping[object, object]", source).items()):
            if number >= MAX_FIELDS:
                break
            if isinstance(name, str) and value is not None:
                self._fields.setdefault(fold(name[:100]), value)

    def __bool__(self) -> bool:
        return bool(self._fields)

    def __contains__(self, name: str) -> bool:
        return fold(name) in self._fields

    def names(self) -> tuple[str, ...]:
        """Return the fields' names, without what styles of naming differ in."""
        return tuple(self._fields)

    def get(self, *names: str) -> object:
        """Return the first of these fields that is there, as it is."""
        for name in names:
            value = self._fields.get(fold(name))
            if value is not None:
                return value
        return None

    def text(self, *names: str) -> str | None:
        """Return the first of these fields that is a text with something in it."""
        for name in names:
            value = text(self._fields.get(fold(name)))
            if value is not None:
                return value
        return None

    def whole(self, *names: str) -> int | None:
        """Return the first of these fields that is a whole number, or a text of one."""
        for name in names:
            value = whole(self._fields.get(fold(name)))
            if value is not None:
                return value
        return None

    def flag(self, *names: str) -> bool:
        """Return whether one of these fields is true, or a text that says so."""
        for name in names:
            value = self._fields.get(fold(name))
            if value is True or (isinstance(value, str) and value.strip().lower() == "true"):
                return True
        return False

    def record(self, *names: str) -> Record:
        """Return the first of these fields that is an object; an empty record without one."""
        for name in names:
            value = self._fields.get(fold(name))
            if isinstance(value, Mapping):
                return Record(cast("Mapping[object, object]", value))
        return Record()

    def holder(self, *names: str) -> Record:
        """Return the record that has one of these fields: itself, or one that it wraps."""
        wanted = [fold(name) for name in names]
        if any(name in self._fields for name in wanted):
            return self
        for value in self._fields.values():
            for inner in records(value)[:1]:
                if any(name in inner for name in wanted):
                    return inner
        return self

    def beginning(self, *prefixes: str) -> tuple[object, ...]:
        """Return the values of the fields whose names begin like this: ``bjobs``, ``bjobs_l``."""
        return tuple(value for name, value in self._fields.items() if name.startswith(prefixes))

    def records(self, *names: str) -> tuple[Record, ...]:
        """Return the objects of the first of these fields that is a list, or its one object."""
        for name in names:
            found = records(self._fields.get(fold(name)))
            if found:
                return found
        return ()

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return the texts in all these fields, lists included."""
        return tuple(
            found for name in names for found in texts(self._fields.get(fold(name))) if found
        )


def fold(name: str) -> str:
    """Return a field's name without what styles of naming differ in."""
    return _UNFOLDED.sub("", name.lower())


def text(value: object) -> str | None:
    """Return a text that is not empty, with its head and tail only where it is long."""
    if isinstance(value, str):
        return window(value).strip() or None
    return None


def whole(value: object) -> int | None:
    """Return a whole number, also when it came as a text or as a float."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 1 << 40 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1 << 40 else None
    if isinstance(value, str) and len(value) <= 20:
        found = _WHOLE.fullmatch(value.strip())
        return int(float(found[0])) if found else None
    return None


def records(value: object) -> tuple[Record, ...]:
    """Return the objects of a list, or the one object that is there."""
    if isinstance(value, Mapping):
        return (Record(cast("Mapping[object, object]", value)),)
    return tuple(
        Record(cast("Mapping[object, object]", member))
        for member in _members(value)
        if isinstance(member, Mapping)
    )


def texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or the one text that is there."""
    if isinstance(value, str):
        value = (value,)
    return tuple(found for member in _members(value) if (found := text(member)) is not None)


def joined(*values: object) -> str:
    """Return all texts in these values as one, a line each."""
    return window("\n".join(found for value in values for found in texts(value)))


def _members(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        yield from cast("Sequence[object]", value)[:MAX_ITEMS]
