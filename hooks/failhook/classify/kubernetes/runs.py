"""Runs that keep more, or less, than conditions: Tekton's steps, Volcano's and KubeRay's states."""

from __future__ import annotations

import re
from typing import Final

from failhook.classify.facts import Facts
from failhook.classify.kubernetes.containers import BEGAN, how_ended
from failhook.classify.kubernetes.fields import Object, mapping, members, pick, text, whole

_POD_SAID: Final = 'The pod errored with the message: "'
_STEP: Final = re.compile(r'"(?:step-)?([\w.-]{1,253})" exited with code (\d{1,5})')
_ENTRYPOINT: Final = re.compile(r"Job entrypoint command failed with exit code (-?\d{1,5})\b")
_STEP_TIMEOUT: Final = "exited because the step exceeded the specified timeout limit"
_NOT_FAILED: Final = frozenset(("Skipped", "Continued", "Completed"))
"""Tekton's reasons of a step whose exit code does not fail the run."""

_IMAGE: Final = "TaskRunImagePullFailed"
_ENDED: Final = frozenset(("Failed", "Aborted", "Aborting", "Terminated", "Terminating"))
"""Phases in which a job of Volcano will not succeed any more."""


def read_run(status: Object, reason: str, message: str, at: str, facts: Facts) -> None:
    """Read why a run of Tekton failed, where its steps or its sentence say so.

    Args:
        status: the run's own status.
        reason: of its condition Succeeded.
        message: of the same condition.
        at: the place of the condition.
        facts: where to put it; a pod that was read before knows better.
    """
    if "pod.ended" in facts:
        return
    if reason == _IMAGE:
        _, _, quoted = message.partition(_POD_SAID)
        facts["pod.ended"] = "blocked"
        facts.read("pod.waiting", reason, f"{at}.reason")
        facts.read("pod.waiting.message", quoted.rstrip().rstrip('."') or None, f"{at}.message")
        return
    for number, each in enumerate(members(status.get("steps"))):
        step = mapping(each)
        end = mapping(step.get("terminated"))
        code = whole(pick(end, "exitCode", "exit_code"))
        why = text(pick(step, "terminationReason", "termination_reason"))
        if code and why not in _NOT_FAILED:
            place = f"status.steps[{number}]"
            facts.read("kube.run.step", why or text(end.get("reason")), place)
            _ended(text(step.get("name")), text(end.get("reason")), code, place, facts)
            return
    if _STEP_TIMEOUT in message[:2_000]:
        facts.read("kube.run.step", "TimeoutExceeded", f"{at}.message")
        return
    told = _STEP.search(message[:2_000])
    if told is not None:
        _ended(told[1], None, int(told[2]), f"{at}.message", facts)


def read_state(status: Object, facts: Facts) -> None:
    """Read the state of an owner that keeps one in the place of conditions."""
    state = mapping(status.get("state"))
    if text(state.get("phase")) in _ENDED:  # Volcano
        facts.read("kube.owner.failed", text(state.get("reason")), "status.state.reason")
        facts.read("kube.owner.message", text(state.get("message")), "status.state.message")
    stage = text(pick(status, "jobDeploymentStatus", "job_deployment_status"))
    if stage in ("Failed", "ValidationFailed"):  # KubeRay
        message = text(status.get("message"))
        facts.read("kube.owner.failed", text(status.get("reason")) or stage, "status.reason")
        facts.read("kube.owner.message", message, "status.message")
        told = _ENTRYPOINT.match(message[:400]) if message else None
        if told is not None and "pod.ended" not in facts:
            _ended(None, None, int(told[1]), "status.message", facts)


def _ended(name: str | None, reason: str | None, code: int, place: str, facts: Facts) -> None:
    how = how_ended(reason, code)
    facts["pod.ended"] = how
    facts.read("exit_code", code, place)
    if how in BEGAN:
        facts["started"] = "yes"
    facts.read("pod.container.name", name, place)
    facts.read("pod.container.reason", reason, place)
