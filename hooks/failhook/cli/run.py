"""Run a command as a task and retry it as the gate decides.

Its own output is not touched; each failure is told in one line on standard error.

A --run-id names the run, so that the task is known again: when this process is killed and the same
run is started again on the same store, the lost attempt is counted first. Attempts and budgets of a
run count on. One that has used up its budgets, or is on hold, is not started; one that has
succeeded runs again as its next attempt, unless it is --no-idempotent. Without --run-id each call
is a new run.

When the command ends, processes that it left in the background are ended too.

  failhook run --name load --run-id 2026-03-29 --retries 1 --max-infra-refunds 3 -- ./load.sh
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Final

from failhook.cli.arguments import (
    NOT_STARTED,
    NotStarted,
    UsageError,
    add_config,
    add_json,
    add_store,
    given,
    label,
    seconds,
    size,
    whole_number,
)
from failhook.cli.courier import ChildCourier, SharedPipeline
from failhook.cli.refusals import refusal_lines
from failhook.cli.resolve import this_user
from failhook.cli.settings import settings
from failhook.cli.stderr import tell
from failhook.cli.undelivered import close
from failhook.config import Config
from failhook.decision import Action
from failhook.details import FailureDetails, Kind, Started
from failhook.errors import ConfigError, RegistrationError, StartRefused, StoreError
from failhook.executors.local import LocalExecutor, Outcome, State, TaskFuture
from failhook.pipeline import Pipeline
from failhook.pipeline.configured import parts_of
from failhook.stores import is_memory
from failhook.task import Task, new_run_id
from failhook.text import clean

TIMED_OUT: Final = 124
HELD: Final = 75
FLUSH_SECONDS: Final = 10.0

_ANYBODY: Final = re.compile(
    r"(?:|ba|da|z|k|fi|c|tc)sh|python[0-9.]*|perl[0-9.]*|ruby[0-9.]*|node|java|Rscript|php[0-9.]*|"
    r"env|sudo|nice|nohup|timeout|time|xargs|make|uv|poetry|npm|npx|busybox"
)
"""Programs that many tasks are run by: their names say nothing about the task."""

EXIT_CODES: Final = """\
exit codes: the command's own; 124 it ran into --timeout; 128 + n signal n ended it; 126 it cannot
be executed; 127 it was not found; 75 on hold, see failhook resolve; 125 refused: it must not be
started again, or it was not started since settings or store are no good; 2 wrong usage; 130
interrupted.
"""


class Stopped(BaseException):
    """A signal asks this process to end."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the command and what it may cost."""
    parser.usage = f"{parser.prog} [OPTION ...] -- COMMAND [ARGUMENT ...]"
    parser.epilog = EXIT_CODES
    parser.add_argument("--name", type=given, help="the task's name; the command's unless given")
    parser.add_argument("--workflow", type=given, default="run", help="what the task belongs to")
    parser.add_argument("--owner", type=given, help="whose it is: alerts are routed by it")
    parser.add_argument(
        "--label",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=label,
        help="what routes and overrides can match, such as env=prod; repeatable",
    )
    parser.add_argument(
        "--run-id", metavar="ID", type=given, help="the run; a new one unless given"
    )
    parser.add_argument("--retries", type=whole_number, metavar="N", help="the user's budget")
    parser.add_argument(
        "--max-infra-refunds",
        type=whole_number,
        metavar="N",
        help="how many attempts that infrastructure ended are not charged to the user",
    )
    parser.add_argument(
        "--timeout", type=seconds, metavar="TIME", help="per attempt: seconds, or 5m, 2h"
    )
    parser.add_argument(
        "--memory-limit",
        type=size,
        metavar="SIZE",
        help="per attempt and process: bytes of address space (RLIMIT_AS), or 512M, 2G",
    )
    parser.add_argument(
        "--idempotent",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="may it run twice? If not, an unknown outcome puts it on hold",
    )
    add_config(parser)
    add_store(parser)
    add_json(parser, "failures and outcome on standard error")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Run the command to its end and return its exit code."""
    command: list[str] = arguments.command
    if command[:1] == ["--"]:
        command = command[1:]
    if not command or not command[0]:
        raise UsageError("which command? Write it after --: failhook run -- COMMAND [ARGUMENT ...]")
    try:
        config = settings(arguments)
        task = _task(arguments, config, command)
        courier = None if is_memory(config.store or "") else ChildCourier(arguments, config)
        pipeline = SharedPipeline(courier, **parts_of(config, None))
    except (ConfigError, RegistrationError, StoreError) as error:
        raise NotStarted(f"{error}\nthe command was not started") from None
    try:
        return _run(pipeline, task, command, arguments)
    finally:
        for line in close(pipeline, config.store or "", courier):
            tell(line)


def exit_code(outcome: Outcome, program: str) -> int:
    """Return what a shell would see of the command itself."""
    details, code = outcome.details, outcome.exit_code
    if outcome.state is State.SUCCEEDED:
        return 0
    if outcome.state is State.HELD:
        return HELD
    if details is not None and _timed_out(details):
        return TIMED_OUT
    if code is None or (details is not None and details.started is Started.NO):
        return 126 if _exists(program) else 127
    return code if code >= 0 else 128 - code


def _run(pipeline: Pipeline, task: Task, command: list[str], arguments: argparse.Namespace) -> int:
    try:
        with _signals(), LocalExecutor(pipeline, workers=1) as executor:
            future = executor.submit(
                task,
                command,
                timeout=arguments.timeout,
                memory_limit=arguments.memory_limit,
                stdin=None,
            )
            interrupted = _wait(executor, future)
    except Stopped as stopped:
        return 128 + stopped.number
    if future.outcome is None:
        try:
            future.result()
        except StartRefused as refusal:
            pipeline.flush(FLUSH_SECONDS)  # the loss is told before what follows from it
            return _refused(refusal, task, arguments)
        raise AssertionError("a task ended without outcome and without error")
    code = 130 if interrupted else exit_code(future.outcome, command[0])
    if arguments.json:
        pipeline.flush(FLUSH_SECONDS)  # what happened is told before how it ended
        _print_json(_summary(future.outcome, code))
    return code


def _wait(executor: LocalExecutor, future: TaskFuture[None]) -> bool:
    """Wait for the end of the task; return whether somebody interrupted it."""
    try:
        executor.close()
    except KeyboardInterrupt:
        future.cancel(this_user())
        executor.close()
        return True
    return False


def _task(arguments: argparse.Namespace, config: Config, command: list[str]) -> Task:
    program = Path(command[0]).name or command[0]
    if arguments.run_id and not arguments.name and _ANYBODY.fullmatch(program):
        raise UsageError(
            f"--run-id needs --name here: other tasks of the run may be called {program} too, "
            "and would be taken for this one"
        )
    task = Task(
        clean(arguments.workflow),
        clean(arguments.name or program),
        namespace=clean(config.namespace),
        run_id=clean(arguments.run_id) if arguments.run_id else new_run_id(),
        idempotent=arguments.idempotent,
        owner=clean(arguments.owner) if arguments.owner else None,
        labels={clean(name): clean(value) for name, value in arguments.label},
    )
    wanted = {
        name: getattr(arguments, name)
        for name in ("retries", "max_infra_refunds")
        if getattr(arguments, name) is not None
    }
    policy = replace(config.policies.of(task), **wanted) if wanted else None
    return replace(task, policy=policy)


def _refused(refusal: StartRefused, task: Task, arguments: argparse.Namespace) -> int:
    decision = refusal.decision
    if arguments.json:
        document = {"refused": decision.to_dict(), "story": list(refusal.story)}
        _print_json(document)
    else:
        tell("\n".join(refusal_lines(refusal, task.key, arguments)))
    return HELD if decision.action is Action.HOLD else NOT_STARTED


def _print_json(document: Mapping[str, Any]) -> None:
    """Write a line as the log sink writes those beside it."""
    print(json.dumps(document, ensure_ascii=False, separators=(",", ":")), file=sys.stderr)


def _summary(outcome: Outcome, code: int) -> dict[str, Any]:
    details, decision = outcome.details, outcome.decision
    return {
        "task": outcome.task.key,
        "state": outcome.state,
        "attempt": outcome.task.attempt,
        "exit_code": code,
        "suspect": outcome.suspect,
        "failure_details": None if details is None else details.to_dict(),
        "decision": None if decision is None else decision.to_dict(),
    }


def _timed_out(details: FailureDetails) -> bool:
    return details.kind is Kind.TIMEOUT and details.time_limit is not None


def _exists(program: str) -> bool:
    if os.sep in program:
        return os.path.lexists(program)
    return shutil.which(program, mode=os.F_OK) is not None


@contextlib.contextmanager
def _signals() -> Generator[None]:
    """Have SIGTERM and SIGHUP end the command too, unless they are ignored here."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    before: dict[signal.Signals, Any] = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
