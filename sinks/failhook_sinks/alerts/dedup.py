"""Whether a group has anything to say: Alertmanager's rule (prometheus/alertmanager, notify.go).

``DedupStage.needsUpdate``, decision by decision, with one difference: what began and ended between
two looks is never told, since there is no resolve without a trigger.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from failhook_sinks.alerts.model import Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a group stands, against what was last said of it.

    Attributes:
        firing: whether any alert fires.
        new: whether one of these was not in the last notice.
        told: whether the last notice held any as firing; False where there was none.
        over: whether one of those is well again.
        sent_at: when the last notice went out, UTC; None when there was none.
    """

    firing: bool
    new: bool
    told: bool
    over: bool
    sent_at: datetime | None


def to_say(
    standing: Standing, *, send_resolved: bool, repeat_interval: float, now: datetime
) -> Why | None:
    """Return why a notice is due; None where nothing is to be said.

    That all is well is due also where recoveries are not sent, so that it is known to be over.

    Args:
        standing: of the group.
        send_resolved: whether recoveries are sent.
        repeat_interval: seconds. It must have passed at a look at the group: a reminder goes out
            with the first look after it.
        now: the time, UTC.
    """
    if standing.new:
        return Why.CHANGED if standing.told else Why.NEW
    if not standing.firing:
        return Why.RESOLVED if standing.told else None
    if send_resolved and standing.over:
        return Why.CHANGED
    if standing.sent_at is None or _passed(repeat_interval, standing.sent_at, now):
        return Why.REMINDER
    return None


def _passed(seconds: float, since: datetime, now: datetime) -> bool:
    return (now - since) / timedelta(seconds=1) > seconds
