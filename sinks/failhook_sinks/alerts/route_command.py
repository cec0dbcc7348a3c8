"""Show who gets an alert of a failure, when, grouped with what, and why others do not.

Nothing is sent. The failure is what the options say, a whole event as JSON, or what `failhook
classify` takes. It is for good unless --retry is given.

exit codes: 0 somebody gets it; 1 nobody does.

  failhook route --kind infra --reason NodeLost --task nightly/load --label team=data
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from failhook.plugin import Core, FailureEvent, SystemClock
from failhook_sinks.alerts.explain import Answer, Explanation, explain
from failhook_sinks.alerts.moments import in_words
from failhook_sinks.alerts.router import Router
from failhook_sinks.alerts.settings import read_routing
from failhook_sinks.alerts.tree import BY_ALL, Route


def add_arguments(parser: argparse.ArgumentParser, core: Core) -> None:
    """Take a failure."""
    core.add_failure(parser)


def run(arguments: argparse.Namespace, core: Core) -> int:
    """Print what each route makes of it."""
    settings = core.read(arguments, "alerts", read_routing)
    router, now = Router(settings.route, settings.owners), SystemClock().now()
    lines: list[str] = []
    documents: list[Mapping[str, Any]] = []
    for event in core.failures(arguments):
        explanation = explain(event, router, now=now, max_age=settings.max_age)
        lines += [*([""] if lines else []), *_lines(event, explanation)]
        documents.append(_document(event, explanation))
    core.answer(arguments, lines, documents[0] if len(documents) == 1 else documents)
    heard = all(any(each["taken"] for each in document["routes"]) for document in documents)
    return 0 if heard else 1


def _lines(event: FailureEvent, explanation: Explanation) -> list[str]:
    task, details = event.task, event.failure_details
    end = "for good" if event.final else "it will be retried"
    what = f"{details.kind} {details.reason}, {end}"
    lines = [
        f"{task.workflow}/{task.name}, attempt {task.attempt}: {what}",
        f"  labels: {_pairs(explanation.labels)}",
    ]
    if explanation.owner:
        lines.append(f"  owner by the map: {explanation.owner}")
    taken = [each for each in explanation.answers if each.taken]
    lines += ["", "Who gets it" if taken else "Nobody gets it"]
    for answer in taken:
        lines += _taken(answer)
    others = [each for each in explanation.answers if not each.taken]
    if others:
        lines += ["", "Who does not"]
    width = max((len(_name(each.route)) for each in others), default=0)
    lines += [f"  {_name(each.route):<{width}}  {each.because}" for each in others]
    return lines


def _taken(answer: Answer) -> list[str]:
    route = answer.route
    again = f"what joins it later, every {in_words(route.group_interval)}"
    repeat = f"as it is, every {in_words(route.repeat_interval)}"
    lines = [
        f"  {answer.receiver}, by {route.place}",
        f"    when: {in_words(answer.wait)} after the first of its group; {again}; {repeat}",
        f"    with: {_grouped(answer)}",
        f"    its recovery is {'told too' if route.send_resolved else 'not told'}",
    ]
    lines += [f"    calls {answer.mention}"] if answer.mention else []
    return [*lines, f"    but: {answer.because}"] if answer.because else lines


def _grouped(answer: Answer) -> str:
    if answer.route.group_by == (BY_ALL,):
        return "nothing else: every label parts the groups"
    if not answer.group_labels:
        by = ", ".join(answer.route.group_by)
        return f"all else that has no {by}" if by else "all else on this route"
    return f"all else with {_pairs(answer.group_labels)}"


def _name(route: Route) -> str:
    return f"{route.receiver} ({route.place})"


def _pairs(labels: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(labels.items()))


def _document(event: FailureEvent, explanation: Explanation) -> Mapping[str, Any]:
    return {
        "task": event.task.key,
        "attempt": event.task.attempt,
        "final": event.final,
        "labels": dict(explanation.labels),
        "owner": explanation.owner,
        "routes": _documents(explanation.answers),
    }


def _documents(answers: Sequence[Answer]) -> list[Mapping[str, Any]]:
    return [
        {
            "route": answer.route.place,
            "taken": answer.taken,
            "because": answer.because,
            "receiver": answer.receiver or answer.route.receiver,
            "mention": answer.mention,
            "group_labels": dict(answer.group_labels),
            "group_key": answer.group_key,
            "group_wait": answer.route.group_wait,
            "group_interval": answer.route.group_interval,
            "repeat_interval": answer.route.repeat_interval,
            "send_resolved": answer.route.send_resolved,
        }
        for answer in answers
    ]
