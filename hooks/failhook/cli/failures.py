"""Failures that nobody had: made of a few options, or read from a document."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from failhook.classify import Classifier, read_user_rules
from failhook.cli.arguments import UsageError, add_config, given, label, whole_number
from failhook.cli.documents import called, read_document
from failhook.cli.inquiry import Judge, questions_in
from failhook.config import Config
from failhook.details import Kind, Started
from failhook.event import FailureEvent
from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.plugin import hookimpl
from failhook.policy import Policy
from failhook.redact.sources import open_redactor
from failhook.task import Task

REASONS: Final[Mapping[Kind, str]] = {
    Kind.APPLICATION: "UserException",
    Kind.INFRA: "NodeLost",
    Kind.TIMEOUT: "ExecutionTimeout",
    Kind.MANUAL: "Cancelled",
    Kind.UNKNOWN: "StateMismatch",
}
"""What is taken where only a kind is given."""

_NOBODYS: Final = "failhook/simulated"
_END: Final = Policy(retries=0, max_system_failures=0)
_MORE: Final = Policy(retries=1_000_000)


def add_failure(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what kind of failure it is, and whose."""
    group = parser.add_argument_group("the failure")
    group.add_argument("--kind", choices=[each.value for each in Kind], help="whose fault it is")
    group.add_argument("--reason", metavar="NAME", type=given, help="the reason; one of the kind's")
    group.add_argument("--node", metavar="NAME", type=given, help="where it ran")
    group.add_argument(
        "--retry", action="store_true", help="it will be retried; else it is for good"
    )
    group = parser.add_argument_group("the task")
    group.add_argument(
        "--task",
        metavar="WORKFLOW/NAME",
        type=_task_name,
        default=_NOBODYS,
        help=f"{_NOBODYS} unless given",
    )
    group.add_argument("--namespace", metavar="NAME", type=given, help="that of the settings")
    group.add_argument("--owner", metavar="NAME", type=given, help="its owner")
    group.add_argument(
        "--label", metavar="NAME=VALUE", type=label, action="append", help="a label; repeatable"
    )
    add_config(parser)


def task_of(arguments: argparse.Namespace, config: Config, run_id: str) -> Task:
    """Return the task that the options describe."""
    workflow, _, name = arguments.task.partition("/")
    return Task(
        workflow,
        name,
        run_id=run_id,
        namespace=arguments.namespace or config.namespace,
        owner=arguments.owner,
        labels=dict(arguments.label or ()),
        policy=_MORE if arguments.retry else _END,
    )


def evidence_of(arguments: argparse.Namespace) -> Evidence:
    """Return the verdict that the options give.

    Raises:
        UsageError: they give none.
    """
    if arguments.kind is None:
        raise UsageError("which failure? Give --kind, and --reason if you like")
    kind = Kind(arguments.kind)
    evidence = Evidence.verdict(
        kind.value,
        arguments.reason or REASONS[kind],
        message="A test: nothing has failed.",
        confidence="confirmed",
    )
    return evidence.at(started=Started.YES, node=arguments.node)


def add_document(parser: argparse.ArgumentParser) -> None:
    """Add a document as another way to say what has failed."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="an event as JSON, or what failhook classify takes; - is standard input",
    )
    parser.add_argument(
        "--attempt", metavar="N", type=whole_number, default=1, help="the number of the attempt"
    )


def events_of(arguments: argparse.Namespace, config: Config) -> Sequence[FailureEvent]:
    """Return the failures that the options or the document describe; nobody hears of them.

    Raises:
        UsageError: they describe none.
    """
    if arguments.file is None:
        return [_event(arguments, config, evidence_of(arguments))]
    document = read_document(arguments.file)
    event = _whole_event(document, called(arguments.file))
    if event is not None:
        return [event]
    judge = Judge(
        Classifier(read_user_rules(config.rules)),
        task_of(arguments, config, "-"),
        open_redactor(config.redact, config.redact_sources),
    )
    asked = questions_in(judge, document, arguments.file)
    return [_event(arguments, config, each.evidence) for each in asked if each.evidence is not None]


def _whole_event(document: object, where: str) -> FailureEvent | None:
    """Return the event that a document is; None where it looks like something else."""
    if not isinstance(document, Mapping) or "failure_details" not in document:
        return None
    try:
        return FailureEvent.from_dict(cast("Mapping[str, Any]", document))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{where}: no event of failhook: {error}") from None


class _Listener:
    """Keeps the last failure that it hears of."""

    event: FailureEvent | None = None

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        """Keep it."""
        self.event = event


def _event(arguments: argparse.Namespace, config: Config, evidence: Evidence) -> FailureEvent:
    task = task_of(arguments, config, "simulated")
    return event_of(config, replace(task, attempt=max(1, arguments.attempt)), evidence)


def event_of(
    config: Config, task: Task, evidence: Evidence, *, simulated: bool = False
) -> FailureEvent:
    """Have a pipeline of its own make the event of a failed attempt; those before it fail too.

    Raises:
        UsageError: it took too long.
    """
    listener, manager = _Listener(), Manager()
    manager.register(listener, "listener")
    with Pipeline(
        manager=manager,
        rules=read_user_rules(config.rules),
        redactor=open_redactor(config.redact, config.redact_sources),
        dispatch="inline",
    ) as pipeline:
        for attempt in range(1, task.attempt):
            pipeline.failed(replace(task, attempt=attempt, policy=_MORE), evidence)
        pipeline.failed(task, evidence, simulated=simulated)
    if listener.event is None:
        raise UsageError("it took too long to make the event; try again")
    return listener.event


def _task_name(text: str) -> str:
    workflow, _, name = text.partition("/")
    if not workflow.strip() or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} must be WORKFLOW/NAME")
    return text
