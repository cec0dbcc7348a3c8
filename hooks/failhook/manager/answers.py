"""What a plugin says of groups, checked before anything relies on it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, cast

from failhook.clock import as_utc
from failhook.groups import Group, Handled
from failhook.manager.no_answer import Nonsense
from failhook.text import clean

MAX_GROUPS: Final = 100
"""Groups that one event may wait in."""

MAX_KEY: Final = 1_024
"""Characters of a group's key."""

MAX_NOTE: Final = 4_194_304
"""Characters of a note."""

MAX_AHEAD: Final = timedelta(days=31)
"""How far ahead a group may wait, or come again."""

SOONEST: Final = timedelta(seconds=1)
"""How soon a group comes again at the earliest, so that none comes without a pause."""


def sound_groups(value: object, now: datetime) -> tuple[Group, ...]:
    """Return the groups that an event is to wait in; none for None or an empty iterable.

    Args:
        value: whatever `group_event` returned.
        now: the time, UTC.

    Raises:
        Nonsense: it is no `Group`, or one that cannot be kept.
    """
    if value is None:
        return ()
    # The type is asked, not the object, which may lie about its class as a Mock with a spec does.
    if issubclass(type(value), Group):
        return (_sound_group(value, now),)
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise Nonsense(f"it answered {type(value).__qualname__}, not Group, several, or None")
    stated = cast("Iterable[object]", value)
    groups = tuple(_sound_group(each, now) for each in islice(stated, MAX_GROUPS + 1))
    if len(groups) > MAX_GROUPS:
        raise Nonsense(f"it named more than {MAX_GROUPS} groups for one event")
    keys = [group.key for group in groups]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise Nonsense(f"it named the group {twice!r:.80} twice for one event")
    return groups


def sound_handled(value: object, now: datetime) -> Handled:
    """Return what a plugin says of a group that it was handed; None is ``Handled()``.

    Args:
        value: whatever `on_group_due` returned.
        now: the time, UTC.

    Raises:
        Nonsense: it is no `Handled`, or one that cannot be kept.
    """
    if value is None:
        return Handled()
    if not issubclass(type(value), Handled):
        raise Nonsense(f"it answered {type(value).__qualname__}, not Handled or None")
    stated: Any = value
    again = None if stated.again_at is None else _sound_time("again_at", stated.again_at, now)
    if type(stated.sent) is not bool:
        raise Nonsense(f"its sent is {stated.sent!r:.80}, not True or False")
    return Handled(
        note=_sound_text("note", stated.note, MAX_NOTE),
        again_at=None if again is None else max(again, now + SOONEST),
        sent=stated.sent,
    )


def _sound_group(value: object, now: datetime) -> Group:
    if not issubclass(type(value), Group):
        raise Nonsense(f"it named {type(value).__qualname__} among its groups, not Group")
    stated: Any = value
    key = _sound_text("key", stated.key, MAX_KEY)
    if not key.strip():
        raise Nonsense("the key of its group is empty")
    return Group(key, max(now, _sound_time("not_before", stated.not_before, now)))


def _sound_text(name: str, value: object, limit: int) -> str:
    if type(value) is not str:
        raise Nonsense(f"its {name} is {value!r:.80}, not a str")
    if len(value) > limit:
        raise Nonsense(f"its {name} has {len(value)} characters; {limit} are allowed")
    if clean(value) != value:
        raise Nonsense(f"its {name} holds a NUL or a lone surrogate: {value!r:.80}")
    return value


def _sound_time(name: str, value: object, now: datetime) -> datetime:
    if not issubclass(type(value), datetime):
        raise Nonsense(f"its {name} is {value!r:.80}, not a datetime")
    stated: Any = value
    if stated.tzinfo is None or stated.utcoffset() is None:
        raise Nonsense(f"its {name} is {value}, without a time zone; write datetime.now(UTC)")
    try:
        moment = as_utc(stated)
    except ValueError as error:
        raise Nonsense(f"its {name}: {error}") from None
    if moment > now + MAX_AHEAD:
        raise Nonsense(f"its {name} is {value}, more than {MAX_AHEAD.days} days ahead")
    return moment
