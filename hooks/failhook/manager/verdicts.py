"""A stranger's verdict, checked field by field before anything relies on it."""

from __future__ import annotations

import math
from dataclasses import fields
from enum import StrEnum
from types import NoneType
from typing import Any, Final

from failhook.details import Confidence, Fact, FailureDetails, Hint, Kind, Started
from failhook.manager.no_answer import Nonsense
from failhook.text import clean, cut

_MAX_TEXT: Final = 32_768
_TYPES: Final[dict[object, tuple[type, ...]]] = {
    "str": (str,),
    "str | None": (str, NoneType),
    "bool": (bool,),
    "bool | None": (bool, NoneType),
    "int | None": (int, NoneType),
    "float | None": (float, int, NoneType),
    "JsonScalar": (str, float, int, bool, NoneType),
}
_ENUMS: Final[dict[object, type[StrEnum]]] = {
    "Kind": Kind,
    "Confidence": Confidence,
    "Started": Started,
    "Hint | None": Hint,
}


def sound_verdict(value: object, *, rule: str) -> FailureDetails:
    """Return the verdict with every field of its own type, so that it can be stored and compared.

    Args:
        value: whatever `classify_failure` returned.
        rule: the rule id for a verdict that names none.

    Raises:
        Nonsense: it is none, or a field holds what it must not.
    """
    # The type is asked, not the object, which may lie about its class as a Mock with a spec does.
    if not issubclass(type(value), FailureDetails):
        raise Nonsense(f"it answered {type(value).__qualname__}, not FailureDetails or None")
    found: dict[str, Any] = {
        field.name: _sound(field.name, field.type, getattr(value, field.name))
        for field in fields(FailureDetails)
    }
    if found["reason"].split() != [found["reason"]]:
        raise Nonsense(f"its reason is {found['reason']!r:.80}, not one token such as DiskFull")
    found["rule"] = found["rule"] or rule
    return FailureDetails(**found)


def _sound(name: str, annotation: object, value: Any) -> Any:
    if annotation in _ENUMS:
        allowed = _ENUMS[annotation]
        if value is None and "None" in str(annotation):
            return None
        if value not in list(allowed):
            raise Nonsense(f"its {name} is {value!r:.80}, not one of {', '.join(allowed)}")
        return allowed(value)
    if annotation == "tuple[Fact, ...]":
        return tuple(
            Fact(_sound(name, "str", fact.path), _sound(name, "JsonScalar", fact.value))
            for fact in value
        )
    if type(value) not in _TYPES[annotation] or (type(value) is float and not math.isfinite(value)):
        raise Nonsense(f"its {name} is {value!r:.80}, not {annotation}")
    return clean(cut(value, _MAX_TEXT)) if isinstance(value, str) else value
