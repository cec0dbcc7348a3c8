"""Alertmanager's matchers: ``name = value``, ``!=``, ``=~`` and ``!~``, anchored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from failhook.errors import ConfigError
from failhook.regex_cost import exponential

Operator = Literal["=", "!=", "=~", "!~"]

_SHAPE: Final = re.compile(
    r"""\s*(?P<name>[^\s=!~"{},]+)\s*(?P<operator>=~|!~|!=|=)\s*(?P<value>"(?:[^"\\]|\\.)*+"|[^"]*+)\s*""",
    re.DOTALL,
)


_ESCAPE: Final = re.compile(r"""\\([\\"n])""")
"""What a backslash stands before in quotes, as in Alertmanager; before all else it is one."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition on a label; a label that is missing counts as empty.

    Raises:
        ConfigError: the value of ``=~`` or ``!~`` is not a regular expression, or one that could
            take very long.
    """

    name: str
    operator: Operator
    value: str
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.operator in ("=~", "!~"):
            if "[[:" in self.value:
                why = "[:alpha:] and the like mean something else here; write [A-Za-z]"
                raise ConfigError(f"matcher {str(self)!r}: {why}")
            try:
                # As in Alertmanager's RE2, where \d, \w and \s are ASCII.
                pattern = re.compile(self.value, re.ASCII)
                problem = exponential(self.value)
            except (re.error, OverflowError, RecursionError) as error:
                msg = f"matcher {str(self)!r}: {error}"
                raise ConfigError(msg) from None
            if problem:
                raise ConfigError(f"matcher {str(self)!r}: it could take very long: {problem}")
            object.__setattr__(self, "_pattern", pattern)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the labels satisfy this condition."""
        value = labels.get(self.name, "")
        if self._pattern is not None:
            found = self._pattern.fullmatch(value) is not None
            return found is (self.operator == "=~")
        return (value == self.value) is (self.operator == "=")

    def __str__(self) -> str:
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{self.name}{self.operator}"{escaped}"'


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]


def parse_matcher(text: str) -> Matcher:
    r"""Read one matcher; the value may stand in quotes, with ``\\``, ``\"`` and ``\n`` in it.

    Raises:
        ConfigError: the text is not a matcher.
    """
    found = _SHAPE.fullmatch(text)
    if found is None:
        msg = f"{text!r} is not a matcher; write name = value, with one of = != =~ !~"
        raise ConfigError(msg)
    value = found["value"].strip()
    if value.startswith('"'):
        value = _ESCAPE.sub(_unescaped, value[1:-1])
    operator = found["operator"]
    return Matcher(found["name"], operator, value)  # type: ignore[arg-type]  # one of the four


def parse_matchers(texts: Iterable[str]) -> tuple[Matcher, ...]:
    """Read several matchers, all of which must match."""
    return tuple(parse_matcher(text) for text in texts)


def all_match(matchers: Iterable[Matcher], labels: Mapping[str, str]) -> bool:
    """Return whether the labels satisfy every condition."""
    return all(matcher.matches(labels) for matcher in matchers)
