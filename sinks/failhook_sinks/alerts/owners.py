"""Who owns a task: the first owner whose matchers match it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from failhook.plugin import Matcher, SettingsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One entry of the owner map.

    Attributes:
        name: who; the label ``owner`` of what is theirs.
        matchers: all of them must match. Without any it is the task's own ``owner`` that decides.
        receiver: who gets it where a route says ``to_owner``; "" leaves it to the route.
        mention: whom messages call, as the receiver writes it: those to `receiver`, or to any
            where that is "".
    """

    name: str
    matchers: tuple[Matcher, ...] = ()
    receiver: str = ""
    mention: str = ""

    def owns(self, labels: Mapping[str, str]) -> bool:
        """Return whether it is theirs."""
        if not self.matchers:
            return labels.get("owner") == self.name
        return all(matcher.matches(labels) for matcher in self.matchers)

    def mention_at(self, receiver: str) -> str:
        """Return whom a message to that receiver calls: people are called where they get theirs."""
        return self.mention if self.receiver in ("", receiver) else ""


def owner_of(labels: Mapping[str, str], owners: Sequence[Owner]) -> Owner | None:
    """Return the first owner in the map that matches; None where none does."""
    return next((owner for owner in owners if owner.owns(labels)), None)


def read_owner(name: str, table: SettingsTable, receivers: Sequence[str]) -> Owner:
    """Read ``[plugins.alerts.owners.NAME]``, which may name one of the receivers.

    Raises:
        ConfigError: a setting is wrong.
    """
    owner = Owner(
        name=name,
        matchers=table.matchers("match"),
        receiver=table.choice("receiver", receivers, ""),
        mention=table.text("mention", ""),
    )
    table.done()
    return owner
