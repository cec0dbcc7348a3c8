"""A notification in words: neutral parts that each receiver lays out and fits to its limits.

Every text is inert (`inert`): nothing in it is hidden. It is not escaped: markup is the business of
the receiver, whose markup it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from failhook_sinks.alerts.entry import Entry, Link, entry_of, moment
from failhook_sinks.alerts.inert import one_line
from failhook_sinks.alerts.model import Alert, Notification, Status, Why

MAX_TITLE: Final = 300
MAX_NOTE: Final = 500
MAX_REASON: Final = 60

__all__ = ["Entry", "Link", "Message", "message_of", "plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a notification says.

    Attributes:
        title: one line: what failed, or that it is well again.
        summary: one line: how many, how often, since when; "" where the title says it all.
        status: firing or resolved.
        why: what made it go out.
        note: one line to stand above all else; "" for none.
        mention: whom to call, as configured; "" for nobody, as when all is well again.
        entries: what is to be said of each alert, in the order of the notification.
        more: how many alerts there are beyond the entries.
        simulated: a marked test; the title says so too.
    """

    title: str
    summary: str = ""
    status: Status
    why: Why
    note: str = ""
    mention: str = ""
    entries: Sequence[Entry]
    more: int = 0
    simulated: bool = False


def message_of(notification: Notification) -> Message:
    """Return what a notification says; it has the same words for the same notification."""
    alerts, status = notification.alerts, notification.status
    return Message(
        title=one_line(_title(notification), MAX_TITLE),
        summary=_summary(notification),
        status=status,
        why=notification.why,
        note=one_line(notification.note, MAX_NOTE),
        mention=notification.mention if status is Status.FIRING else "",
        entries=[entry_of(alert, notification) for alert in alerts],
        more=notification.more,
        simulated=notification.simulated,
    )


def plain(message: Message, limit: int = 100_000) -> str:
    """Return the message as text of at most so many characters, without any markup.

    Entries that do not fit are counted, and the mention is left out.
    """
    head = "\n".join(filter(None, (message.note, message.title, message.summary)))
    text, left = head[:limit], len(message.entries)
    several = left + message.more > 1
    for entry in message.entries:
        lines = _short(entry) if several else _whole(entry)
        longer = "\n".join((text, *lines))
        if len(longer) + len(_rest(left + message.more)) > limit:
            break
        text, left = longer, left - 1
    rest = _rest(left + message.more)
    return text if not rest else f"{text[: max(0, limit - len(rest))]}{rest}"


def _rest(count: int) -> str:
    return f"\nand {count:,} more" if count else ""


def _whole(entry: Entry) -> Iterator[str]:
    for name, value in entry.facts:
        yield f"{name}: {value}"
    for link in entry.links:
        yield f"{link.name}: {link.url}"


def _short(entry: Entry) -> Iterator[str]:
    yield f"- {entry.line}"


def _title(notification: Notification) -> str:
    mark = "[simulated] " if notification.simulated else ""
    count = len(notification.alerts) + notification.more
    if count == 1 and notification.alerts:
        return f"{mark}{_one(notification.alerts[0], notification)}"
    what = ", ".join(notification.group_labels.values()) or "for several causes"
    firing = [alert for alert in notification.alerts if alert.status is Status.FIRING]
    if not firing:
        return f"{mark}{count:,} tasks are well again: {what}"
    well = len(notification.alerts) - len(firing)
    healed = f", {well:,} well again" if well else ""
    return f"{mark}{count - well:,} tasks failed{healed}: {what}"


def _one(alert: Alert, notification: Notification) -> str:
    again = "still: " if notification.why is Why.REMINDER else ""
    return f"{again}{entry_of(alert, notification).title}"


def _summary(notification: Notification) -> str:
    count = len(notification.alerts) + notification.more
    if count <= 1:
        return ""
    reasons = Counter(
        one_line(alert.event.failure_details.reason, MAX_REASON) for alert in notification.alerts
    )
    kinds = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common(5))
    failures = f"{max(notification.failures, count):,} failures since {moment(notification.since)}"
    after = "after " if notification.status is Status.RESOLVED else ""
    return f"{after}{failures}: {kinds}" if len(reasons) > 1 else f"{after}{failures}"
