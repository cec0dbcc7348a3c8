"""One attempt from its start in the ledger to its report: every step between is undone in order."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from failhook import host
from failhook.capture import headline
from failhook.decision import Decision
from failhook.details import Started
from failhook.errors import StoreError
from failhook.evidence import Evidence
from failhook.executors.local.cgroup import MemoryCgroup
from failhook.executors.local.errors import ExecutorClosed
from failhook.executors.local.judge import judge, unsendable
from failhook.executors.local.mark import marks
from failhook.executors.local.orphans import end_marked, end_orphans
from failhook.executors.local.outage import Reporter
from failhook.executors.local.process import SpawnError, orders, spawn
from failhook.executors.local.stop import Stop, StopRequest
from failhook.executors.local.supervise import BEATS, End, supervise
from failhook.executors.local.tail import Tail
from failhook.executors.local.work import Call, Command, Terms, UnsendableError
from failhook.log import say
from failhook.task import Task

HEARTBEAT: Final = "FAILHOOK_HEARTBEAT"
"""The variable that names the file which a command touches as its heartbeat."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How one attempt ended, as it was reported.

    Attributes:
        task: the attempt, with the ledger's number.
        decision: the gate's word; None after a success, and where that is not recorded.
        evidence: what was seen of the failure; of a kill, beside a success.
        succeeded: whether the task ended well.
        value: what a callable returned.
        exit_code: the process's status, None where there was none.
        output: the end of its output, where that is kept.
        unrecorded: why the store does not know of it.
    """

    task: Task
    decision: Decision | None
    evidence: Evidence | None
    succeeded: bool = False
    value: Any = None
    exit_code: int | None = None
    output: str = ""
    unrecorded: StoreError | None = None


def run_attempt(
    pipeline: Reporter,
    task: Task,
    work: Command | Call | UnsendableError,
    terms: Terms,
    request: StopRequest,
) -> Ended:
    """Run one attempt of a task to its end and report it, once.

    Raises:
        StartRefused: it must not run.
        ExecutorClosed: the executor shuts down; the attempt was not begun.
        StoreError: the ledger could not be written before anything ran.
    """
    if request.stop is not None and request.stop.why == "shutdown":
        raise ExecutorClosed("the executor was closed; the task did not begin")
    end_orphans([lost for lost in pipeline.orphans() if lost.task.key == task.key])
    task = pipeline.started(task)
    if request.stop is not None:
        return _failed(pipeline, task, _not_begun(request.stop))
    if isinstance(work, UnsendableError):
        return _failed(pipeline, task, unsendable(work))
    tail = Tail(terms.tail) if terms.tail else None
    try:
        end = _run(pipeline, task, work, terms, request, tail=tail)
        if tail is not None:
            end.output = tail.text()
        found = judge(end, work, terms)
    except SpawnError as error:
        return _failed(pipeline, task, Evidence.plugin_error(str(error)))
    except Exception as error:  # noqa: BLE001 - no attempt stays open; its child has been ended
        what = f"supervision failed: {headline(error)}"
        return _failed(pipeline, task, Evidence.plugin_error(what, started=Started.MAYBE))
    if isinstance(found, Evidence):
        return _failed(pipeline, task, found, end)
    ended = Ended(
        task,
        None,
        found.suspect,
        succeeded=True,
        value=found.value,
        exit_code=end.code,
        output=end.output,
    )
    try:
        pipeline.succeeded(task, None if found.suspect is None else found.suspect.at(node=_node()))
    except StoreError as error:
        return _unrecorded(ended, "succeeded", error)
    return ended


def _run(
    pipeline: Reporter,
    task: Task,
    work: Command | Call,
    terms: Terms,
    request: StopRequest,
    *,
    tail: Tail | None,
) -> End:
    with ExitStack() as undo:
        file = None
        me = host.this_process()
        marked = marks(task, me.pid, me.started)
        env = {**terms.env, **marked}
        if terms.heartbeat is not None and isinstance(work, Command):
            file = undo.enter_context(_heartbeat_file())
            env[HEARTBEAT] = str(file)
        terms = replace(terms, env=env)
        group = None if terms.memory is None else MemoryCgroup.make(terms.memory)
        if group is not None:
            undo.callback(group.remove)
        if tail is not None:
            undo.callback(tail.close)
        undo.callback(end_marked, marked)
        child = spawn(work, terms)
        undo.callback(child.close)
        if tail is not None:
            child.hand_output_to(tail)
        counted = group is not None and group.add(child.pid)
        pipeline.attach(task, child.pid)
        beat = None if terms.heartbeat is None else terms.heartbeat / BEATS
        child.order(
            orders(work, terms, beat=beat), work.pickled if isinstance(work, Call) else None
        )
        end = supervise(child, terms, request, file)
        if group is not None and counted:
            group.kill()
            end.oom = group.oom_kills()
        return end


def _failed(pipeline: Reporter, task: Task, evidence: Evidence, end: End | None = None) -> Ended:
    evidence = evidence.at(node=_node())
    ended = Ended(task, None, evidence)
    if end is not None:
        ended = replace(ended, exit_code=end.code, output=end.output)
    try:
        return replace(ended, decision=pipeline.failed(task, evidence))
    except StoreError as error:
        return _unrecorded(ended, "failed", error)


def _unrecorded(ended: Ended, how: str, error: StoreError) -> Ended:
    status = "" if ended.exit_code is None else f", with exit status {ended.exit_code}"
    say(
        logging.ERROR,
        "attempt %d of %s %s%s, which is not recorded: its next start takes it for lost. %s",
        ended.task.attempt,
        ended.task.key,
        how,
        status,
        error,
    )
    return replace(ended, unrecorded=error)


def _not_begun(stop: Stop) -> Evidence:
    if stop.why == "shutdown":
        return Evidence.shutdown(stop.actor).at(started=Started.NO)
    return Evidence.cancel(stop.actor, action=stop.action, started=Started.NO)


@contextmanager
def _heartbeat_file() -> Generator[Path]:
    fd, name = tempfile.mkstemp(prefix="failhook-heartbeat-")
    os.close(fd)
    path = Path(name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _node() -> str:
    return os.uname().nodename
