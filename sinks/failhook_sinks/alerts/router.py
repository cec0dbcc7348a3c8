"""From an event to the groups in which it waits: labels, owner, routing tree, group key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from failhook.plugin import FailureEvent, Matcher, Task
from failhook_sinks.alerts.interest import declines
from failhook_sinks.alerts.labels import labels_of
from failhook_sinks.alerts.owners import Owner, owner_of
from failhook_sinks.alerts.tree import Route, every_route, routes_of

Lane = Literal["", "older", "simulated"]
"""Events of a route that must not mix: those of now, those of long ago, and marked tests."""

_LANES: Final[Mapping[str, Lane]] = {"older": "older", "simulated": "simulated"}

_LONGEST: Final = 400
"""Characters of a key as people can read it; a longer one ends in a hash."""


@dataclass(frozen=True, slots=True)
class Place:
    """One group in which an event waits.

    Attributes:
        route: the route that took the event.
        receiver: who gets the group: the route's receiver, or that of the owner.
        key: the group's key, the same after a restart as long as the route means the same.
        labels: what parts the group from others of the route.
    """

    route: Route
    receiver: str
    key: str
    labels: Mapping[str, str]


class Router:
    """A routing tree, and who owns what.

    Args:
        root: the tree.
        owners: who owns which failures; the first that matches.
    """

    def __init__(self, root: Route, owners: Sequence[Owner] = ()) -> None:
        self.root = root
        self._owners = owners
        paths = dict(_paths(root, ()))
        routes = every_route(root)
        self._ids = {route.place: _id(route, paths[route.place]) for route in routes}
        self._by_id = {self._ids[route.place]: route for route in reversed(routes)}

    def labels(self, event: FailureEvent) -> tuple[dict[str, str], Owner | None]:
        """Return the labels of an event, the owner among them, and the owner that the map names."""
        labels = labels_of(event)
        owner = owner_of(labels, self._owners)
        if owner is not None:
            labels["owner"] = owner.name
        return labels, owner

    def owner(self, labels: Mapping[str, str], task: Task) -> Owner | None:
        """Return the owner that the map names for an alert; its labels have that name already.

        That a task says the name of an owner whose matchers do not match it calls nobody.
        """
        said = task.owner or labels.get("owner", "")
        return owner_of({**labels, "owner": said}, self._owners)

    def places(self, event: FailureEvent, lane: Lane = "") -> Sequence[Place]:
        """Return the groups in which an event is to wait, each once."""
        labels, owner = self.labels(event)
        places = [
            self.place(route, labels, owner, lane)
            for route in routes_of(self.root, labels)
            if not declines(route, event)
        ]
        return list({place.key: place for place in places}.values())

    def place(
        self, route: Route, labels: Mapping[str, str], owner: Owner | None, lane: Lane = ""
    ) -> Place:
        """Return the group of a route to which these labels belong."""
        receiver = route.receiver
        if route.to_owner and owner is not None and owner.receiver:
            receiver = owner.receiver
        shared = {} if lane == "older" else route.group_labels(labels)
        text = json.dumps(shared, sort_keys=True)
        head = f"{self._ids[route.place]}.{lane}" if lane else self._ids[route.place]
        key = f"{head}/{receiver}{text}"
        if len(key) > _LONGEST:
            key = f"{head}/{_hash(receiver, text)}"
        return Place(route, receiver, key, shared)

    def route_of(self, key: str) -> tuple[Route | None, Lane]:
        """Return the route whose group has that key, None where no route means that any more."""
        head, _, lane = key.partition("/")[0].partition(".")
        return self._by_id.get(head), _LANES.get(lane, "")


def _id(route: Route, path: Sequence[Matcher]) -> str:
    """Return what stays the same while a route means the same, wherever it stands."""
    return _hash(
        *map(str, path),
        *("", route.receiver, *route.group_by),
        *("", route.notify_on, str(route.nth), str(route.manual), str(route.to_owner)),
        str(route.threshold),
    )


def _paths(route: Route, above: tuple[Matcher, ...]) -> Iterator[tuple[str, tuple[Matcher, ...]]]:
    path = (*above, *route.matchers)
    yield route.place, path
    for child in route.routes:
        yield from _paths(child, path)


def _hash(*parts: str) -> str:
    text = "\n".join(parts).encode("utf-8", "replace")
    return sha256(text).hexdigest()[:12]
