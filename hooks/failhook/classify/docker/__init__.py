"""Docker and podman: ``inspect``, and errors of the daemon."""

from __future__ import annotations

from typing import Final

from failhook.classify.docker.reader import FIELDS, SYSTEMS, read, shape
from failhook.classify.docker.start_errors import START_ERRORS
from failhook.classify.rule import APPLICATION, CONFIRMED, Rule, Tier
from failhook.classify.source import Source
from failhook.details import Hint

OOM_KILLED: Final = Rule(
    id="docker.oom-killed",
    tier=Tier.DISRUPTION,
    when={"docker.oom_killed": True},
    kind=APPLICATION,
    reason="OOMKilled",
    confidence=CONFIRMED,
    hint=Hint.MORE_MEMORY,
    because="The kernel killed in the container's own memory cgroup: it passed its own limit.",
    source="https://docs.docker.com/engine/containers/resource_constraints/#memory",
)

SOURCE: Final = Source(
    name="docker",
    systems=SYSTEMS,
    fields=frozenset(FIELDS),
    read=read,
    rules=(OOM_KILLED, *START_ERRORS),
    shapes=(shape,),
)
