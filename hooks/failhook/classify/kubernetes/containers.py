"""Which container decides, and how it ended: the task's own, then init containers, then helpers."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Final, NamedTuple

from failhook.classify.facts import Facts
from failhook.classify.kubernetes.fields import (
    NOTHING,
    Object,
    mapping,
    members,
    moment,
    pick,
    text,
    whole,
)
from failhook.classify.kubernetes.names import (
    INJECTED_INITS,
    SUPERVISOR,
    SUPERVISOR_FAILED,
    is_helper,
)

START_FAILURES: Final = frozenset(
    ("StartError", "ContainerCannotRun", "RunContainerError", "CreateContainerError")
)
"""Reasons of a terminated container whose process never began."""

LOST: Final = frozenset(("ContainerStatusUnknown", "Unknown"))
"""Reasons that the kubelet or the runtime writes where it does not know how a container ended."""

LOOPS: Final = frozenset(("CrashLoopBackOff", "RunContainerError", "BackOff"))
"""Waiting reasons that only say that the container failed before."""

NEUTRAL: Final = frozenset(("ContainerCreating", "PodInitializing", ""))
"""Waiting reasons of a container that nothing is wrong with yet."""

_BY_CODE: Final[dict[int, str]] = {
    0: "clean",
    **dict.fromkeys((129, 130, 131, 137, 138, 140, 143, 247), "signal"),
    **dict.fromkeys((132, 133, 134, 135, 136, 139, 159), "crash"),
    255: "unclear",
    # Windows: access violation, stack overflow, fast fail, heap corruption; and Ctrl-C
    **dict.fromkeys((0xC0000005, 0xC00000FD, 0xC0000409, 0xC0000374), "crash"),
    **dict.fromkeys((-1073741819, -1073741571, -1073740791, -1073740940), "crash"),
    **dict.fromkeys((0xC000013A, -1073741510), "signal"),
}
_RANKS: Final[dict[str, int]] = {
    "oom": 0,
    "start": 1,
    "error": 2,
    "crash": 2,
    "unclear": 3,
    "signal": 4,
    "lost": 5,
    "blocked": 6,
    "clean": 7,
    "waiting": 8,
    "running": 9,
    "nothing": 10,
}
BEGAN: Final = frozenset(("error", "crash", "signal", "oom", "clean", "running"))
"""Ways to stand that prove that the container's process began."""

_DECISIVE: Final = 6
"""The last rank at which a container's own state is a cause."""


class Look(NamedTuple):
    """How one container stands.

    Attributes:
        rank: how much it tells of a cause; the lowest tells most.
        ended: ``oom``, ``start`` (never began), ``error`` (an exit code of its own), ``crash``,
            ``signal``, ``unclear`` (exit code 255 and the like), ``lost``, ``clean``; ``blocked``
            (waits for a reason), ``waiting``, ``running``, ``nothing``.
        end: the terminated state that this was read from.
        waiting: the waiting state.
        place: where the container stands in the document.
        end_place: where `end` stands in the document.
        status: the container's status.
    """

    rank: int
    ended: str
    end: Object
    waiting: Object
    place: str
    end_place: str
    status: Object


_rank: Final = operator.itemgetter(0)


def how_ended(reason: str | None, code: int | None) -> str:
    """Return how a container ended, by the runtime's reason and then by its exit code."""
    if reason == "OOMKilled":
        return "oom"
    if reason in START_FAILURES:
        return "start"
    if reason in LOST:
        return "lost"
    if code is None:
        return "clean" if reason == "Completed" else "unclear"
    known = _BY_CODE.get(code)
    if known is not None:
        return known
    return "error" if 0 < code < 255 else "unclear"


def look(status: Object, place: str, *, failed: bool) -> Look:
    """Return how one container stands.

    A `lastState` counts only where the present state points back to it: a restart loop, a
    container that is being created again, one that runs again. Of a pod that has failed for good
    it is old.

    Args:
        status: a member of ``containerStatuses`` or ``initContainerStatuses``.
        place: where it stands in the document.
        failed: the pod's phase is Failed.
    """
    state = mapping(status.get("state"))
    end = state.get("terminated")
    if end is not None:
        end = mapping(end)
        ended = how_ended(text(end.get("reason")), whole(pick(end, "exitCode", "exit_code")))
        return Look(_RANKS[ended], ended, end, NOTHING, place, ".state.terminated", status)
    waiting = state.get("waiting")
    if waiting is None:
        waiting = NOTHING
        ended = "running" if state.get("running") is not None else "nothing"
    else:
        waiting = mapping(waiting)
        reason = text(waiting.get("reason")) or ""
        if reason in NEUTRAL:
            ended = "waiting"
        elif reason in LOOPS:
            ended = "blocked"
        else:
            return Look(_RANKS["blocked"], "blocked", NOTHING, waiting, place, "", status)
    last = mapping(pick(status, "lastState", "last_state")).get("terminated")
    if last is None or (failed and ended == "running"):
        return Look(_RANKS[ended], ended, NOTHING, waiting, place, "", status)
    last = mapping(last)
    ended = how_ended(text(last.get("reason")), whole(pick(last, "exitCode", "exit_code")))
    return Look(_RANKS[ended], ended, last, waiting, place, ".lastState.terminated", status)


def read_containers(spec: Object, status: Object, wanted: str | None, facts: Facts) -> None:
    """Read the container that decides.

    Args:
        spec: the pod's; may be empty.
        status: the pod's.
        wanted: the name of the main container, where the caller or an annotation gives one.
        facts: where to put what was found.
    """
    statuses = members(pick(status, "containerStatuses", "container_statuses"))
    inits = pick(status, "initContainerStatuses", "init_container_statuses")
    if not statuses and not inits:
        return
    failed = status.get("phase") == "Failed"
    if len(statuses) == 1 and not inits:  # as most pods are
        only = look(mapping(statuses[0]), "status.containerStatuses[0]", failed=failed)
        name = only.status.get("name")
        if name == wanted or (wanted is None and not is_helper(name)):
            _main(only, "main", facts)
            return
    found = [
        look(mapping(each), f"status.containerStatuses[{number}]", failed=failed)
        for number, each in enumerate(statuses)
    ]
    mains, helpers = _split(found, spec, wanted)
    main = min(mains, key=_rank, default=None)
    if main is not None and main.rank <= _DECISIVE:
        if not (helpers and _supervisor(main, helpers, facts)):
            _main(main, "main", facts)
        return
    before = _before(inits, spec, helpers, failed=failed)
    if before is not None and before.rank <= _DECISIVE:
        _main(before, "init", facts)
        return
    helper = min(helpers, key=_rank, default=None)
    if main is not None:
        _main(main, "main", facts)
    if helper is not None and helper.rank <= _DECISIVE:
        _helper(helper, facts)


def _before(inits: object, spec: Object, helpers: list[Look], *, failed: bool) -> Look | None:
    """Return the init container that tells most; those that stay on go to the helpers."""
    native = tuple(_native_sidecars(spec))
    befores: list[Look] = []
    for number, each in enumerate(members(inits)):
        seen = look(mapping(each), f"status.initContainerStatuses[{number}]", failed=failed)
        (helpers if seen.status.get("name") in native else befores).append(seen)
    return min(befores, key=_rank, default=None)


def _split(found: list[Look], spec: Object, wanted: str | None) -> tuple[list[Look], list[Look]]:
    """Return the containers that may be the task, and those beside it."""
    if wanted is not None:
        mains = [each for each in found if each.status.get("name") == wanted]
        if mains:
            return mains, [each for each in found if each.status.get("name") != wanted]
        if wanted in _names(spec):
            return [], found
    mains = [each for each in found if not is_helper(each.status.get("name"))]
    if len(mains) == len(found):
        return mains, []
    if not mains and wanted is None and all(map(is_helper, _names(spec))):
        return found, []  # what is a helper elsewhere is the task here
    return mains, [each for each in found if is_helper(each.status.get("name"))]


def _names(spec: Object) -> list[object]:
    return [mapping(each).get("name") for each in members(spec.get("containers"))]


def _native_sidecars(spec: Object) -> Iterator[str]:
    """Yield the names of init containers that stay on beside the task."""
    for each in members(pick(spec, "initContainers", "init_containers")):
        container = mapping(each)
        name = text(container.get("name"))
        if name and pick(container, "restartPolicy", "restart_policy") == "Always":
            yield name


def _main(seen: Look, role: str, facts: Facts) -> None:
    """Put down how the task's container, or the init container before it, stands."""
    status, place, ended = seen.status, seen.place, seen.ended
    facts["pod.ended"] = ended
    facts["pod.container.role"] = role
    name = text(status.get("name"))
    facts.read("pod.container.name", name, f"{place}.name")
    if role == "init" and name in INJECTED_INITS:
        facts["pod.container.injected"] = True
    end = seen.end
    if end:
        at = place + seen.end_place
        facts.read("pod.container.reason", text(end.get("reason")), f"{at}.reason")
        facts.read("pod.container.message", text(end.get("message")), f"{at}.message")
        code = whole(pick(end, "exitCode", "exit_code"))
        if code is not None:
            facts["exit_code"] = code
            facts.origins["exit_code"] = f"{at}.exitCode"
    if seen.waiting:
        read_waiting(seen.waiting, f"{place}.state.waiting", facts)
    facts.sources["pod.end"] = end
    facts["started"] = "no" if role == "init" else _began(seen)


def read_waiting(waiting: Object, place: str, facts: Facts) -> None:
    """Put down why a container waits; old kubelets wrote a sentence where the reason belongs."""
    reason, message = text(waiting.get("reason")), text(waiting.get("message"))
    if reason is not None and " " in reason:
        facts.read("pod.waiting", "sentence")
        facts.read("pod.waiting.message", reason, f"{place}.reason")
        return
    facts.read("pod.waiting", reason, f"{place}.reason")
    facts.read("pod.waiting.message", message, f"{place}.message")


def _began(seen: Look) -> str:
    """Return whether the code in the task's container has run: ``yes``, ``no`` or ``maybe``."""
    if seen.ended in BEGAN:
        return "yes"
    if seen.ended in ("lost", "unclear"):
        began = moment(pick(seen.end, "startedAt", "started_at"))
        return "maybe" if began is None else "yes"
    if seen.ended == "nothing":
        return "maybe"
    again = whole(pick(seen.status, "restartCount", "restart_count"))
    return "maybe" if seen.ended != "start" and again else "no"


def _supervisor(main: Look, helpers: list[Look], facts: Facts) -> bool:
    """Put down Argo's supervisor where it failed and the task was never begun."""
    if whole(pick(main.end, "exitCode", "exit_code")) != SUPERVISOR_FAILED:
        return False
    for helper in helpers:
        if helper.status.get("name") == SUPERVISOR and helper.rank <= _DECISIVE:
            _helper(helper, facts)
            facts["started"] = "no"
            return True
    return False


def _helper(seen: Look, facts: Facts) -> None:
    """Put down how a container beside the task failed; its exit code is not the task's."""
    place = seen.place
    name = seen.status.get("name")
    facts["pod.sidecar.ended"] = seen.ended
    facts.read("pod.sidecar.name", name, f"{place}.name")
    facts["pod.sidecar.known"] = is_helper(name)
    at = place + seen.end_place
    facts.read("pod.sidecar.reason", text(seen.end.get("reason")), f"{at}.reason")
    facts.read("pod.sidecar.message", text(seen.end.get("message")), f"{at}.message")
    facts.read(
        "pod.sidecar.waiting", text(seen.waiting.get("reason")), f"{place}.state.waiting.reason"
    )
    facts.read(
        "pod.sidecar.waiting.message",
        text(seen.waiting.get("message")),
        f"{place}.state.waiting.message",
    )
