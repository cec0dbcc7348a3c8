"""What failhook raises, and the two errors that tasks and plugins raise to speak to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from failhook.decision import Decision


class FailhookError(Exception):
    """The root of everything that failhook raises by itself."""


class ConfigError(FailhookError, ValueError):
    """A setting is wrong; the message names file, key and what is allowed.

    Args:
        message: begins with the setting.
        keys: the way to it from the top of the configuration, by which its line is found.
        more: what else is wrong, where more than one thing was looked at.
    """

    def __init__(
        self,
        message: str,
        *,
        keys: tuple[str | int, ...] = (),
        more: tuple[ConfigError, ...] = (),
    ) -> None:
        self.keys = keys
        self.more = more
        super().__init__(message)


class EvidenceError(FailhookError, ValueError):
    """A document is not evidence; the message names the field and what is expected there."""


class RegistrationError(FailhookError, TypeError):
    """A plugin cannot be registered as written; the message says what to write instead."""


class StoreError(FailhookError, RuntimeError):
    """The store cannot be opened, read or written; the message names it and the way out."""


class NothingToResolveError(FailhookError, LookupError):
    """No attempt of this task is on hold."""


class StartRefused(FailhookError, RuntimeError):  # noqa: N818 - a refusal, named as the design names it
    """This attempt must not start; `decision` says why and `story` tells every attempt so far."""

    def __init__(self, decision: Decision, story: tuple[str, ...] = ()) -> None:
        self.decision = decision
        self.story = story
        super().__init__("\n".join((decision.message, *story)))

    def __reduce__(self) -> tuple[type[StartRefused], tuple[Decision, tuple[str, ...]]]:
        return type(self), (self.decision, self.story)


class Undelivered(FailhookError, RuntimeError):  # noqa: N818 - the verb a sink says, fixed by the design
    """A plugin could not take an event; `retryable` says whether trying again can help.

    Args:
        message: what went wrong; it must hold no secret.
        retryable: False sends the event to the dead letters at once.
        retry_after: seconds before which a further try is useless (HTTP Retry-After).
    """

    def __init__(
        self, message: str, *, retryable: bool = True, retry_after: float | None = None
    ) -> None:
        self.retryable = retryable
        self.retry_after = retry_after
        super().__init__(message)


class TaskError(Exception):
    """The mark that a task or a plugin raises when it knows what kind of failure this is.

    It is found at any depth of cause, context or group, and never parsed out of text.

    Args:
        message: for people.
        code: a typed error code, such as ``BadTaskSpecification``.
        kind: ``infra``, ``application``, ``timeout`` or ``manual``; None leaves it to the rules.
        deterministic: True when a retry cannot help, False when it may, None when not known.
        retry_after: seconds to wait before the next attempt.
    """

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        kind: str | None = None,
        deterministic: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.message = message
        self.code = code
        self.kind = kind
        self.deterministic = deterministic
        self.retry_after = retry_after
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            "code": self.code,
            "kind": self.kind,
            "deterministic": self.deterministic,
            "retry_after": self.retry_after,
        }
        return type(self), (self.message,), state
