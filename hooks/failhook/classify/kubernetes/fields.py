"""How objects of the API are read: mappings of either spelling, lists of any length, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, cast

Object = Mapping[str, Any]
"""An object of the API, as JSON writes it or as the Python client's ``to_dict()`` gives it."""

NOTHING: Final[Object] = MappingProxyType({})
_MOST: Final = 64
"""Members of a list that are read: a pod has fewer containers, and old events say little."""


def mapping(value: object) -> Object:
    """Return an object of the API as a mapping; an empty one where there is none."""
    if type(value) is dict:
        return cast("Object", value)
    if value is None or isinstance(value, str | int | list):
        return NOTHING
    if isinstance(value, Mapping):
        return cast("Object", value)
    convert = getattr(value, "to_dict", None)
    document = convert() if callable(convert) else None
    return cast("Object", document) if isinstance(document, Mapping) else NOTHING


def pick(source: Object, camel: str, snake: str) -> Any:
    """Return a field by its name in the API, or by the name that the Python client gives it."""
    value = source.get(camel)
    return source.get(snake) if value is None else value


def members(value: object) -> Sequence[Any]:
    """Return a list, or the items of a List; of a very long one its beginning and its end."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        value = mapping(value).get("items")
        if not isinstance(value, list | tuple):
            return ()
    every = cast("Sequence[Any]", value)
    return every if len(every) <= _MOST else (*every[: _MOST // 4], *every[-_MOST * 3 // 4 :])


def text(value: object) -> str | None:
    """Return a text that says something, else None."""
    return value if type(value) is str and value else None


def whole(value: object) -> int | None:
    """Return a number without a fraction; engines also write exit codes as text."""
    if type(value) is int:
        return value
    if type(value) is str and len(value) < 12:
        try:
            return int(value)
        except ValueError:
            return None
    return None


def moment(value: object) -> float | None:
    """Return a time in seconds since 1970, None where none was recorded.

    The kubelet writes the year 1 or the year 1970 for what never happened.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value[:40])
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return value.timestamp() if value.year > 1970 else None
