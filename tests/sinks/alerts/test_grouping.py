"""When a group is told of, beside a real Alertmanager: wait, interval, repeat, resolve."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from failhook.plugin import Evidence, Matcher, Task
from failhook.stores import open_store
from failhook_sinks.alerts.model import Status
from failhook_sinks.alerts.tree import Route
from tests.alertmanager import running
from tests.outbox.world import START
from tests.sinks.alerts.webhook import listening
from tests.sinks.alerts.world import World, route, world_on

UNIT = 0.6
"""Seconds of Alertmanager's group_interval; ours is a hundred seconds of a clock that is moved."""
OURS = 100.0
WAIT, INTERVAL, REPEAT = 0.5, 1.0, 2.5

SCRIPT = [
    (0.0, "fail", "team", "a"),
    (0.0, "fail", "other", "a"),
    (0.2, "fail", "team", "b"),  # joins the first notice
    (0.2, "fail", "other", "b"),
    (0.9, "fail", "team", "c"),  # waits for the next look
    (1.1, "well", "other", "a"),  # nobody hears: send_resolved is off
    (2.0, "well", "team", "a"),
    (2.0, "fail", "other", "a"),  # as nothing was sent since it last failed, nothing is sent
    # 5.5: both are reminded of, 2.5 being rounded up to a look
    (5.8, "well", "team", "b"),
    (5.8, "well", "team", "c"),
    (5.8, "well", "other", "a"),
    (5.8, "well", "other", "b"),
    (7.0, "fail", "team", "a"),  # begins anew
    (7.9, "well", "team", "a"),
    (9.0, "fail", "team", "b"),  # begins and ends between two looks: nobody hears
    (9.1, "well", "team", "b"),
]
END = 10.0

Told = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""Receiver, status, what fires and what is well again."""


def theirs() -> tuple[list[tuple[float, Told]], list[float]]:
    """Play the script to a real Alertmanager; return what it sent when, and when that was done."""
    with listening() as heard, running(configuration(heard.url)) as server:
        begun, done = time.monotonic(), list[float]()
        for at, what, team, name in SCRIPT:
            time.sleep(max(0.0, begun + at * UNIT - time.monotonic()))
            now = datetime.now(UTC)
            alert = {"labels": {"team": team, "task": name}}
            if what == "fail":
                alert |= {"startsAt": str(now), "endsAt": str(now + timedelta(hours=1))}
            else:
                alert |= {"endsAt": str(now)}
            server.post("/api/v2/alerts", [{k: rfc(v) for k, v in alert.items()}])
            done.append((time.monotonic() - begun) / UNIT)
        time.sleep(max(0.0, begun + END * UNIT - time.monotonic()))
    told: list[tuple[float, Told]] = []
    for at, path, document in heard.posts:
        names = {
            status: tuple(
                sorted(a["labels"]["task"] for a in document["alerts"] if a["status"] == status)
            )
            for status in ("firing", "resolved")
        }
        said = (path.strip("/"), document["status"], names["firing"], names["resolved"])
        told.append(((at - begun) / UNIT, said))
    return told, done


def rfc(value):
    """Return a time as JSON has it, anything else as it is."""
    return value.replace(" ", "T") if isinstance(value, str) else value


def configuration(url: str) -> dict[str, object]:
    """Return the configuration: two receivers, of which one does not want to hear of recoveries."""

    def receiver(name: str, wants: bool) -> dict[str, object]:
        hook = {"url": f"{url}/{name}", "send_resolved": wants}
        return {"name": name, "webhook_configs": [hook]}

    return {
        "receivers": [receiver("team", True), receiver("other", False)],
        "route": {
            "receiver": "team",
            "group_by": ["team"],
            "group_wait": f"{WAIT * UNIT * 1000:.0f}ms",
            "group_interval": f"{INTERVAL * UNIT * 1000:.0f}ms",
            "repeat_interval": f"{REPEAT * UNIT * 1000:.0f}ms",
            "routes": [{"receiver": "other", "matchers": ['team="other"']}],
        },
    }


def tree() -> Route:
    """Return the same routes as ours."""
    times = {
        "group_by": ("team",),
        "group_wait": WAIT * OURS,
        "group_interval": INTERVAL * OURS,
        "repeat_interval": REPEAT * OURS,
    }
    other = Route(
        place="route.routes[0]",
        receiver="other",
        matchers=(Matcher("team", "=", "other"),),
        send_resolved=False,
        **times,
    )
    return route(routes=(other,), **times)


def ours(times: list[float]) -> list[tuple[float, Told]]:
    """Play the script to our sink; return what it sent when."""
    with world_on(open_store("memory"), route=tree()) as world:
        for number, (at, (_, what, team, name)) in enumerate(zip(times, SCRIPT, strict=True)):
            world.until(at * OURS)
            task = Task("nightly", name, run_id=f"r{number}", labels={"team": team})
            if team == "other":
                task = Task("hourly", name, run_id=f"r{number}", labels={"team": team})
            world.run(task, Evidence.returncode(3) if what == "fail" else None)
        world.until(END * OURS)
        return sorted(said(world, "team") + said(world, "other"), key=lambda each: each[0])


def said(world: World, name: str) -> list[tuple[float, Told]]:
    """Return what one receiver was sent, and when."""
    told: list[tuple[float, Told]] = []
    receiver = world.receivers[name]
    for at, sent in zip(receiver.at, receiver.sent, strict=True):
        names = {
            status: tuple(sorted(a.event.task.name for a in sent.alerts if a.status is status))
            for status in Status
        }
        words = (name, sent.status.value, names[Status.FIRING], names[Status.RESOLVED])
        told.append(((at - START).total_seconds() / OURS, words))
    return told


@pytest.mark.requires_service("alertmanager")
def test_groups_are_told_of_when_alertmanager_does():
    """The same notifications in the same order, each within one group_interval of its fellow."""
    expected, times = theirs()
    found = ours(times)

    for name in ("team", "other"):
        fellow, mine = ([each for each in side if each[1][0] == name] for side in (expected, found))
        assert [words for _, words in fellow] == [words for _, words in mine]
        apart = [abs(at - ours) for (at, _), (ours, _) in zip(fellow, mine, strict=True)]
        assert max(apart) <= INTERVAL
    assert [2, 7] == [len([e for e in found if e[1][0] == name]) for name in ("other", "team")]
