"""Runs the demo's tasks on the standalone executor and notes what was heard of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any, Final

from failhook.cli.demo import deaths
from failhook.executors.local import LocalExecutor, TaskFuture
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.plugin import ErrorInfo, FailureDetails, FailureEvent, Task, hookimpl
from failhook.policy import Policy

MEMORY_LIMIT: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Scene:
    """One task of the demo.

    Attributes:
        name: the task.
        happens: what kills it, in a few words.
        work: what runs.
        arguments: its arguments.
        policy: what it may cost.
        options: how the executor runs it.
        cancelled: somebody cancels it.
    """

    name: str
    happens: str
    work: Callable[..., object] | Sequence[str]
    arguments: tuple[Any, ...] = ()
    policy: Policy = Policy()
    options: Mapping[str, Any] | None = None
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What the demo has to show.

    Attributes:
        happens: by task, what killed it.
        events: what was heard, in order.
        old: what a hook from before `failure_details` heard of the bug.
        new: what one that names it heard of the same failure.
    """

    happens: Mapping[str, str]
    events: tuple[FailureEvent, ...]
    old: str
    new: str


class OldHook:
    """A plugin that was written before `failure_details` existed."""

    def __init__(self) -> None:
        self.heard: dict[str, str] = {}

    @hookimpl
    def on_task_failed(self, task: Task, error: ErrorInfo | None) -> None:
        self.heard[task.name] = f"{error.name}: {error.message}" if error else "no exception"


class NewHook:
    """A plugin that names it."""

    def __init__(self) -> None:
        self.heard: dict[str, str] = {}

    @hookimpl
    def on_task_failed(
        self, task: Task, error: ErrorInfo | None, failure_details: FailureDetails
    ) -> None:
        verdict = f"{failure_details.kind} {failure_details.reason} ({failure_details.confidence})"
        self.heard[task.name] = f"{verdict}, {error.name}" if error else verdict


class Notebook:
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[FailureEvent] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.events.append(event)

    @hookimpl
    def on_task_recovered(self, event: FailureEvent) -> None:
        self.events.append(event)


def scenes(marks: str) -> tuple[Scene, ...]:
    """Return the tasks of the demo; `marks` is a folder where they count their deaths."""
    return (
        Scene("bug", "raises ValueError", deaths.bug),
        Scene("killed", "outside SIGKILL", deaths.killed, (marks, 1), Policy(retries=1)),
        Scene("hungry", "over its memory", deaths.hungry, options={"memory_limit": MEMORY_LIMIT}),
        Scene("slow", "over its deadline", deaths.slow, options={"timeout": 1.0, "grace": 1.0}),
        Scene("stopped", "it is cancelled", deaths.slow, cancelled=True),
        Scene("typo", "command not found", ("no-such-command",)),
        Scene("frozen", "heartbeat stops", deaths.frozen, options={"heartbeat_timeout": 2.0}),
        Scene(
            "evicted",
            "SIGKILL, twice",
            deaths.killed,
            (marks, 2),
            Policy(retries=0, max_infra_refunds=2),
        ),
    )


def play() -> Shown:
    """Let every task die, and return what was heard of it."""
    notebook, old, new = Notebook(), OldHook(), NewHook()
    manager = Manager()
    for plugin in (notebook, old, new):
        manager.register(plugin)
    with tempfile.TemporaryDirectory() as marks:
        acts = scenes(marks)
        with Pipeline(manager=manager) as pipeline:
            with LocalExecutor(pipeline, workers=2) as executor:
                futures = [_submit(executor, scene) for scene in acts]
                wait(futures)
            pipeline.flush(10)
    return Shown(
        happens={scene.name: scene.happens for scene in acts},
        events=tuple(notebook.events),
        old=old.heard["bug"],
        new=new.heard["bug"],
    )


def _submit(executor: LocalExecutor, scene: Scene) -> TaskFuture[Any]:
    task = Task("demo", scene.name, policy=scene.policy)
    options: dict[str, Any] = dict(scene.options or {})
    future: TaskFuture[Any]
    if callable(scene.work):
        future = executor.submit(task, scene.work, *scene.arguments, **options)
    else:
        future = executor.submit(task, scene.work, **options)
    if scene.cancelled:
        future.cancel("you")
    return future
