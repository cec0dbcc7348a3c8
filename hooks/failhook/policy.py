"""What an owner allows a task to cost: three budgets, their delays, and the exceptions to them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from failhook.details import Confidence, is_list, is_object
from failhook.errors import ConfigError

NON_RETRYABLE_CODES: Final = ("BadTaskSpecification", "MetadataTooLarge")
"""Plugin error codes that no retry can cure (flyteorg/flyte, executor nonRetryableErrorCodes)."""

MAX_ATTEMPTS: Final = 1_000_000
"""Attempts that each budget may pay for, at most."""

MAX_DELAY: Final = 86_400.0
"""Seconds, one day: no attempt waits longer for the next one, whoever asks for it."""

_MOST: Final = 2.0**53
"""Up to here a number is the same in every reader of JSON."""

WhenRefundsEnd = Literal["charge", "fail"]


def _at_least(name: str, value: object, least: float, most: float = _MOST) -> None:
    if isinstance(value, bool) or not (
        isinstance(value, int | float) and least <= value < math.inf
    ):
        msg = f"policy.{name} is {value!r}; it must be a number, {least} or more"
        raise ConfigError(msg)
    if value > most:
        msg = f"policy.{name} is {value!r}; it must be a number, {most:.0f} or less"
        raise ConfigError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait before attempt n of one budget: exponential, capped, with full jitter.

    Attributes:
        initial: seconds before the first retry; 0 retries at once.
        factor: what each further retry multiplies the wait by.
        maximum: seconds, at most `MAX_DELAY`; no wait is longer.
        jitter: spread each wait evenly between 0 and its full length.
    """

    initial: float = 0.0
    factor: float = 2.0
    maximum: float = 300.0
    jitter: bool = True

    def __post_init__(self) -> None:
        _at_least("initial", self.initial, 0)
        _at_least("factor", self.factor, 1)
        _at_least("maximum", self.maximum, 0, MAX_DELAY)
        if type(self.jitter) is not bool:
            msg = f"policy.jitter is {self.jitter!r}; it is true or false"
            raise ConfigError(msg)

    def delay(self, retry: int, random: float) -> float:
        """Return the seconds before the `retry`-th retry (from 1).

        Args:
            retry: the number of the retry.
            random: in 0..1, for the jitter; what is outside counts as the nearer end, NaN as 1.
        """
        try:
            full = min(self.maximum, self.initial * self.factor ** max(0, retry - 1))
        except OverflowError:
            full = self.maximum if self.initial else 0.0
        return full * max(0.0, min(1.0, random)) if self.jitter else full

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("initial", "factor", "maximum", "jitter")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What one task may cost; each of the three budgets pays for `MAX_ATTEMPTS` at most.

    Attributes:
        retries: the user's own budget; application, timeout and unknown failures pay from it.
        max_infra_refunds: how many attempts that infrastructure ended are not charged to the
            user. 0 is off: refunds are opt-in.
        max_system_failures: how many failures before the start, or of the executor itself, are
            retried (flyteorg/flyte, MaxSystemFailures).
        refund_confidence: the least confidence of a verdict that earns a refund.
        when_refunds_end: ``charge`` the user's budget, or ``fail``.
        non_retryable_codes: typed error codes that fail at once.
        backoff: the wait between attempts that the user pays for.
        infra_backoff: the wait after a refunded attempt.
        system_backoff: the wait after a failure that the system budget paid for.
        total_deadline: seconds from the first attempt's start after which nothing is retried.
    """

    retries: int = 0
    max_infra_refunds: int = 0
    max_system_failures: int = 3
    refund_confidence: Confidence = Confidence.LIKELY
    when_refunds_end: WhenRefundsEnd = "charge"
    non_retryable_codes: tuple[str, ...] = NON_RETRYABLE_CODES
    backoff: Backoff = Backoff()
    infra_backoff: Backoff = Backoff()
    system_backoff: Backoff = Backoff()
    total_deadline: float | None = None

    def __post_init__(self) -> None:
        for name in ("retries", "max_infra_refunds", "max_system_failures"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                msg = f"policy.{name} is {value!r}; it must be a whole number, 0 or more"
                raise ConfigError(msg)
            if value > MAX_ATTEMPTS:
                msg = f"policy.{name} is {value}; it must be a whole number, {MAX_ATTEMPTS} or less"
                raise ConfigError(msg)
        if self.when_refunds_end not in ("charge", "fail"):
            msg = f"policy.when_refunds_end is {self.when_refunds_end!r}; it is 'charge' or 'fail'"
            raise ConfigError(msg)
        for name in _BACKOFFS:
            if not isinstance(getattr(self, name), Backoff):
                msg = f"policy.{name} is {getattr(self, name)!r}; it must be a Backoff"
                raise ConfigError(msg)
        if self.total_deadline is not None:
            _at_least("total_deadline", self.total_deadline, 0)
        if type(self.refund_confidence) is not Confidence:
            object.__setattr__(self, "refund_confidence", _confidence(self.refund_confidence))
        object.__setattr__(self, "non_retryable_codes", _codes(self.non_retryable_codes))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape, which is also the TOML shape of ``[policy]``."""
        document: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        document["refund_confidence"] = self.refund_confidence.value
        document["non_retryable_codes"] = list(self.non_retryable_codes)
        for name in _BACKOFFS:
            document[name] = getattr(self, name).to_dict()
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Policy:
        """Read the JSON or TOML shape; what is left out keeps its default.

        Raises:
            ConfigError: a key is unknown or a value is not allowed.
        """
        known = {field.name for field in fields(cls)}
        for name in document:
            if name not in known:
                msg = f"policy.{name} is not a setting; known are {', '.join(sorted(known))}"
                raise ConfigError(msg)
        values: dict[str, Any] = dict(document)
        for name in _BACKOFFS:
            if name in values:
                values[name] = _backoff(name, values[name])
        return cls(**values)


_BACKOFFS: Final = ("backoff", "infra_backoff", "system_backoff")


def _backoff(name: str, value: object) -> Backoff:
    if not is_object(value):
        msg = f"policy.{name} is {value!r}; it must be a table such as {{ initial = 10 }}"
        raise ConfigError(msg)
    known = ("initial", "factor", "maximum", "jitter")
    for key in value:
        if key not in known:
            msg = f"policy.{name}.{key} is not a setting; known are {', '.join(known)}"
            raise ConfigError(msg)
    return Backoff(**value)


def _confidence(value: object) -> Confidence:
    try:
        return Confidence(str(value))
    except ValueError:
        allowed = ", ".join(level.value for level in Confidence)
        msg = f"policy.refund_confidence is {value!r}; it is one of {allowed}"
        raise ConfigError(msg) from None


def _codes(value: object) -> tuple[str, ...]:
    if not is_list(value) or not all(isinstance(code, str) for code in value):
        msg = f"policy.non_retryable_codes is {value!r}; it must be a list of strings"
        raise ConfigError(msg)
    return tuple(value)
