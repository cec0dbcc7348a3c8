"""What a task raised, in a shape that can always be written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from failhook.details import JsonScalar, is_list, is_object

MAX_DEPTH: Final = 64
"""How deep a chain of causes is kept. A mark is found deeper still, while it is captured."""

NO_ATTRIBUTES: Final[Mapping[str, JsonScalar]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Mark:
    """What a `TaskError`, found anywhere in the chain, says of the failure."""

    message: str = ""
    code: str | None = None
    kind: str | None = None
    deterministic: bool | None = None
    retry_after: float | None = None

    def to_dict(self) -> dict[str, Any]:
        document = {
            "message": self.message,
            "code": self.code,
            "kind": self.kind,
            "deterministic": self.deterministic,
            "retry_after": self.retry_after,
        }
        return {name: value for name, value in document.items() if value is not None}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Mark:
        """Read what `to_dict` wrote, or a record like it; what has the wrong type is left out."""
        code, kind = document.get("code"), document.get("kind")
        deterministic, retry_after = document.get("deterministic"), document.get("retry_after")
        return cls(
            message=_text(document.get("message")),
            code=code if isinstance(code, str) else None,
            kind=kind if isinstance(kind, str) else None,
            deterministic=deterministic if isinstance(deterministic, bool) else None,
            retry_after=retry_after
            if isinstance(retry_after, int | float) and not isinstance(retry_after, bool)
            else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """An exception, or what is left of one; always serialisable.

    Attributes:
        type: qualified type name, such as ``builtins.ValueError``; ``builtins.str`` for plain text.
        message: its text.
        traceback: the formatted traceback, the chain included, as ``python -X no_debug_ranges``
            prints it; only the outermost error has one.
        mro: qualified names of its class and their bases, outermost first; empty when not known.
        notes: what ``add_note`` added.
        attributes: what the exception knows about itself (``errno``, ``returncode``,
            ``status_code``, an SDK's error code, ...).
        cause: what it was raised from.
        context: what was being handled when it was raised, unless suppressed.
        exceptions: the members of an exception group.
        mark: what a `TaskError` anywhere below says; on the outermost error only.
        exception: the live object, only in the process that raised it; never serialised.
    """

    type: str
    message: str = ""
    traceback: str = ""
    mro: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    attributes: Mapping[str, JsonScalar] = field(default_factory=lambda: NO_ATTRIBUTES)
    cause: ErrorInfo | None = None
    context: ErrorInfo | None = None
    exceptions: tuple[ErrorInfo, ...] = ()
    mark: Mark | None = None
    exception: BaseException | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Return the type without ``builtins``, as people write it."""
        return self.type.removeprefix("builtins.")

    @property
    def root(self) -> ErrorInfo:
        """Return the error that all the others were raised from."""
        error = self
        while (below := error.cause or error.context) is not None:
            error = below
        return error

    def walk(self) -> Iterator[ErrorInfo]:
        """Yield this error and all below it: causes, contexts, members; the outermost first."""
        queue: list[ErrorInfo] = [self]
        for error in queue:
            yield error
            queue.extend(
                below for below in (error.cause, error.context, *error.exceptions) if below
            )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape; empty fields are left out, the live object always."""
        document: dict[str, Any] = {"type": self.type, "message": self.message}
        if self.traceback:
            document["traceback"] = self.traceback
        if self.mro:
            document["mro"] = list(self.mro)
        if self.notes:
            document["notes"] = list(self.notes)
        if self.attributes:
            document["attributes"] = dict(self.attributes)
        if self.cause is not None:
            document["cause"] = self.cause.to_dict()
        if self.context is not None:
            document["context"] = self.context.to_dict()
        if self.exceptions:
            document["exceptions"] = [member.to_dict() for member in self.exceptions]
        if self.mark is not None:
            document["mark"] = self.mark.to_dict()
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], *, _depth: int = 0) -> ErrorInfo:
        """Read what `to_dict` wrote, or a record like it; what has the wrong shape is left out."""
        below = _depth < MAX_DEPTH

        def nested(name: str) -> ErrorInfo | None:
            value = document.get(name)
            if below and is_object(value):
                return cls.from_dict(value, _depth=_depth + 1)
            return None

        members = document.get("exceptions")
        mark = document.get("mark")
        attributes = document.get("attributes")
        return cls(
            type=_text(document.get("type")) or "builtins.Exception",
            message=_text(document.get("message")),
            traceback=_text(document.get("traceback")),
            mro=_texts(document.get("mro")),
            notes=_texts(document.get("notes")),
            attributes=_scalars(attributes) if is_object(attributes) else NO_ATTRIBUTES,
            cause=nested("cause"),
            context=nested("context"),
            exceptions=tuple(
                cls.from_dict(member, _depth=_depth + 1)
                for member in (members if below and is_list(members) else ())
                if is_object(member)
            ),
            mark=Mark.from_dict(mark) if is_object(mark) else None,
        )


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else str(value)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_text(item) for item in value) if is_list(value) else ()


def _scalars(value: Mapping[Any, Any]) -> Mapping[str, JsonScalar]:
    return MappingProxyType(
        {
            str(name): item
            for name, item in value.items()
            if item is None or isinstance(item, str | int | float | bool)
        }
    )
