"""The face for executors: three calls, and what they need around them."""

from __future__ import annotations

import os
import random as _random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self, TypeVar

from failhook import host
from failhook.classify import Classifier, Rule
from failhook.clock import Clock, SystemClock
from failhook.config import Config
from failhook.decision import Decision
from failhook.details import FailureDetails
from failhook.errors import StartRefused, StoreError
from failhook.event import FailureEvent
from failhook.evidence import Evidence
from failhook.gate.ledger import Attempt
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.metrics import Metrics
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.means import Courier
from failhook.outbox.port import AT_ONCE, Store, Transaction
from failhook.outbox.within import within
from failhook.pipeline.adoption import Refusal, Start, lost
from failhook.pipeline.chance import Chance
from failhook.pipeline.numbering import Numbering
from failhook.pipeline.oom import with_oom
from failhook.pipeline.process import Process, begin
from failhook.pipeline.records import RESOLUTIONS, Failure, Records, Resolution
from failhook.pipeline.restart import Granted, between_attempts, orphans
from failhook.pipeline.slips import (
    check_callable,
    check_choice,
    check_clock,
    check_evidence,
    check_parts,
    check_pid,
    check_rules,
    check_seconds,
    check_store,
    check_task,
    check_text,
)
from failhook.pipeline.stopwatch import Stopwatch
from failhook.redact import Redactor
from failhook.stores.memory import MemoryStore
from failhook.task import Task

T = TypeVar("T")
Dispatch = Literal["thread", "inline", "none"]

_DISPATCH: Final = ("thread", "inline", "none")
_SIGKILL: Final = 9


class Pipeline:
    """What an executor talks to: `started`, `failed`, `succeeded`.

    Args:
        store: the ledger and the outbox; memory unless given.
        manager: the plugins; none unless given.
        policies: what tasks may cost.
        rules: the user's own classification rules, above the plugins' and the built-in ones.
        redactor: takes secrets out of events before they are stored.
        clock: the time.
        random: returns a number in 0..1, for the jitter of backoffs.
        dispatch: ``thread`` delivers in the background; ``inline`` delivers once, bounded in time,
            before `failed` returns (short-lived workers, tests); ``none`` leaves delivery to
            ``failhook deliver`` or to another process on the same store.
        inline_timeout: seconds that ``inline`` waits at most.
        delivery: how hard the outbox tries.
        executor: the executor's name, for verdicts on tasks that name none.
        metrics: takes numbers about deliveries, see `failhook.metrics`.

    Raises:
        ConfigError: a part is not what it must be.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        manager: Manager | None = None,
        policies: Policies | None = None,
        rules: Sequence[Rule] = (),
        redactor: Redactor | None = None,
        clock: Clock | None = None,
        random: Callable[[], float] = _random.random,
        dispatch: Dispatch = "thread",
        inline_timeout: float = 5.0,
        delivery: DeliveryLimits | None = None,
        executor: str | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        check_choice("Pipeline(dispatch=...)", dispatch, _DISPATCH)
        check_store(store)
        check_clock(clock)
        check_rules(rules)
        check_callable("Pipeline(random=...)", random)
        check_seconds("Pipeline(inline_timeout=...)", inline_timeout)
        check_text("Pipeline(executor=...)", executor)
        check_parts(
            {
                "manager": (manager, Manager),
                "policies": (policies, Policies),
                "redactor": (redactor, Redactor),
                "delivery": (delivery, DeliveryLimits),
            }
        )
        self.clock: Clock = clock or SystemClock()
        self.store: Store = MemoryStore() if store is None else store
        self.manager: Manager = manager or Manager(clock=self.clock)
        self.executor = executor
        self._classifier = Classifier(rules, self._ask)
        self._common = Records(
            policies=policies or Policies(),
            redactor=redactor or Redactor(),
            clock=self.clock,
            watch=Stopwatch(self.clock),
            random=random if random is _random.random else Chance(random),
        )
        self._limits = delivery or DeliveryLimits()
        self._dispatch: Dispatch = dispatch
        self._inline_timeout = inline_timeout
        self._numbering = Numbering()
        self._metrics = metrics
        self._closed = False
        self._process = self._begin()

    @classmethod
    def from_config(
        cls,
        path: str | Path | Config | None = None,
        *,
        store: str | None = None,
        dispatch: Dispatch = "thread",
        executor: str | None = None,
        metrics: Metrics | None = None,
    ) -> Self:
        """Build a pipeline as ``failhook.toml`` says, with every plugin that is installed.

        Args:
            path: the file; else ``FAILHOOK_CONFIG``, else ``failhook.toml`` in the working
                directory where there is one, else the defaults. A loaded one is taken as it is.
            store: a store for when the configuration names none; memory unless given.
            dispatch: how events are delivered.
            executor: the executor's name.
            metrics: takes numbers about deliveries.

        Raises:
            ConfigError: a setting is wrong, or names a plugin that is not installed.
            RegistrationError: a plugin cannot be registered as written.
            StoreError: the store cannot be opened.
        """
        from failhook.pipeline.configured import parts_of

        check_choice("from_config(dispatch=...)", dispatch, _DISPATCH)
        check_text("from_config(executor=...)", executor)
        parts = parts_of(path, store)
        return cls(**parts, dispatch=dispatch, executor=executor, metrics=metrics)

    def started(self, task: Task) -> Task:
        """Open the attempt in the store, so that a death of this process is seen later.

        The first start in a process also begins to deliver what an earlier one has left.

        Returns:
            The task with the ledger's attempt number, which counts on where the host began again.

        Raises:
            StartRefused: it must not run: its budgets are used up, it is on hold, the same attempt
                is running already, or an attempt that was given up has succeeded after all.
            StoreError: the store cannot be written.
        """
        check_task("started", task)
        self._not_closed()
        here = self._here
        if self._dispatch == "thread":
            here.drainer.take_over()
        loss = here.adoption.loss(self.store, task)
        oom_kills = host.oom_kills()

        def change(ledger: Transaction) -> tuple[Start | Refusal, Sequence[FailureEvent]]:
            start = here.adoption.start(ledger, task, oom_kills, loss)
            return start, start.events

        start = self._commit(change)
        if isinstance(start, Refusal):
            raise StartRefused(start.decision, start.story)
        opened = task.at_attempt(start.attempt.task.attempt)
        if opened is not task:
            self._numbering.note(task, opened)
        return opened

    def attach(self, task: Task, pid: int) -> None:
        """Record the process of an open attempt, so that it can be ended when it is an orphan.

        Raises:
            StoreError: the store cannot be written.
        """
        check_task("attach", task)
        check_pid(pid)
        task = self._numbering.of(task)

        def change(ledger: Transaction) -> None:
            attempt = ledger.attempt(task.attempt_key)
            if attempt is not None and attempt.owner is not None:
                owner = replace(attempt.owner, child=pid, child_started=host.process_started(pid))
                ledger.save_attempt(attempt._replace(owner=owner))

        within(self.store, change)

    def failed(self, task: Task, evidence: Evidence, *, simulated: bool = False) -> Decision:
        """Classify, decide, commit, and hand to the drainer; the same attempt counts once.

        It costs one classification and one local commit, waits for no network, and gives the same
        decision whether plugins are up or down.

        Raises:
            StoreError: the store cannot be written. Report it again later: what was counted after
                all is answered as it was then.
        """
        if type(task) is not Task or type(evidence) is not Evidence:
            check_task("failed", task)
            check_evidence("failed", evidence)
        if self._closed:
            self._not_closed()
        if self._numbering:
            task = self._numbering.of(task)
        if evidence.facts.get("signal") == _SIGKILL:
            evidence = with_oom(self.store, self._here.me, task, evidence)
        failure = self._judge(task, evidence)
        records = self._here.records
        return self._commit(
            lambda ledger: records.failed(ledger, task, failure, simulated=simulated)
        )

    def succeeded(
        self, task: Task, evidence: Evidence | None = None, *, simulated: bool = False
    ) -> None:
        """Close the attempt; listeners hear of a recovery if it had failed before in this run.

        Where the attempt itself had been declared a failure, they hear that this is amended.

        Args:
            task: the attempt.
            evidence: of a kill or an OOM that was seen although success was reported: then the
                success is recorded as suspect, with an event of its own.
            simulated: the end of a marked test; it makes good no failure of an earlier run.

        Raises:
            StoreError: the store cannot be written.
        """
        check_task("succeeded", task)
        if evidence is not None:
            check_evidence("succeeded", evidence)
        self._not_closed()
        given, task = task, self._numbering.of(task)
        suspect = None if evidence is None else self._judge(task, evidence)
        records = self._here.records

        def change(ledger: Transaction) -> tuple[None, Sequence[FailureEvent]]:
            return None, records.succeeded(ledger, task, suspect, simulated=simulated)

        self._commit(change)
        self._numbering.forget(given)

    def resolve(self, task: Task | str, resolution: Resolution, *, actor: str = "") -> Decision:
        """Release a task that is on hold, or one that was left open by a supervisor that is gone.

        What was left open is counted: as lost with ``retry``, and the gate decides whether another
        attempt may start; as failed by hand with ``fail``. Of another host only `actor` knows.

        Args:
            task: the task, or its key.
            resolution: ``retry`` lets the next attempt start, ``fail`` closes it, ``succeeded``
                says that its work was done after all.
            actor: who says so.

        Raises:
            NothingToResolveError: nothing of this task is on hold or lost.
            StoreError: the store cannot be written.
        """
        if not isinstance(task, str):
            check_task("resolve", task)
        check_choice("resolve()", resolution, RESOLUTIONS)
        check_text("resolve(actor=...)", actor)
        self._not_closed()
        key = task if isinstance(task, str) else task.key
        adoption = self._here.adoption
        actor = actor or adoption.records.observer
        loss = adoption.loss_of(self.store, key, resolution, actor)
        return self._commit(lambda ledger: adoption.resolved(ledger, key, resolution, actor, loss))

    def orphans(self) -> Sequence[Attempt]:
        """Return the open attempts of this host whose supervisor is gone.

        Raises:
            StoreError: the store cannot be read.
        """
        return orphans(self.store, self._here.me.host)

    def between_attempts(self) -> Sequence[Granted]:
        """Return the tasks that are granted another attempt which has not begun, the next first.

        They wait for their scheduler. One that begins again finds here what the one before, if it
        was killed between a decision and the next start, did not get to.

        Raises:
            StoreError: the store cannot be read.
        """
        return between_attempts(self.store, self.clock)

    def reap(self) -> list[tuple[Task, Decision]]:
        """Report every attempt of this host whose supervisor is gone as lost, once.

        End their child processes first: what still runs is not lost.

        Raises:
            StoreError: the store cannot be written.
        """
        reaped: list[tuple[Task, Decision]] = []
        for orphan in self.orphans():
            fate = "process_gone" if orphan.owner is None else host.owner_fate(orphan.owner)
            failure = self._judge(orphan.task, lost(orphan, fate))
            decision = self._commit(
                partial(self._here.records.lost, task=orphan.task, failure=failure)
            )
            if decision is not None:
                reaped.append((orphan.task, decision))
        return reaped

    def flush(self, timeout: float = 5.0) -> bool:
        """Have every event that is due offered to its plugin once; return whether it was in time.

        Args:
            timeout: seconds.
        """
        check_seconds("flush()", timeout)
        return self._here.drainer.flush(timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Deliver what is due, end the threads, close plugins and store.

        A second close changes nothing and is told the same.

        Args:
            timeout: seconds; what hangs, be it a plugin or the store, is left behind in a daemon
                thread.

        Returns:
            Whether nothing waits for these plugins any more: every event was taken, or given up as
            a dead letter. False where something waits for another try or for the time of its group,
            and where the store did not say in time. What waits stays in a durable store for the
            next process or a sidecar.
        """
        check_seconds("close()", timeout)
        process = self._process if self._closed else self._here
        self._closed = True
        return process.close(timeout, deliver=self._dispatch != "none")

    @property
    def closed(self) -> bool:
        """Return whether `close` was called: then nothing more is counted."""
        return self._closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _not_closed(self) -> None:
        if self._closed:
            msg = "the pipeline is closed; nothing was counted"
            raise StoreError(msg)

    @property
    def _here(self) -> Process:
        """Return what belongs to this process; a child that was forked gets its own."""
        process = self._process
        if process.me.pid != os.getpid():
            process = self._process = self._begin()
        process.drainer.come_back()
        return process

    def _begin(self, courier: Courier | None = None) -> Process:
        return begin(
            store=self.store,
            manager=self.manager,
            clock=self.clock,
            limits=self._limits,
            records=self._common,
            judge=self._judge,
            metrics=self._metrics,
            courier=courier,
        )

    def _ask(self, task: Task | None, evidence: Evidence) -> FailureDetails | None:
        return None if task is None else self.manager.ask(task, evidence)

    def _judge(self, task: Task, evidence: Evidence) -> Failure:
        details = self._classifier.classify(task, evidence)
        executor = details.executor or task.executor or self.executor
        if executor != details.executor:
            details = replace(details, executor=executor)
        return Failure(details, evidence.error)

    def _commit(self, change: Callable[[Transaction], tuple[T, Sequence[FailureEvent]]]) -> T:
        """Make a change and add its events in one transaction, and have them delivered."""

        def whole(transaction: Transaction) -> tuple[T, Sequence[str]]:
            result, events = change(transaction)
            return result, self._enqueue(transaction, events)

        result, plugins = within(self.store, whole)
        self._deliver(plugins)
        return result

    def _enqueue(self, transaction: Transaction, events: Sequence[FailureEvent]) -> Sequence[str]:
        """Put the events into the outbox; return the plugins that any of them is for."""
        woken: Sequence[str] = ()
        for event in events:
            plugins = self.manager.listeners(event.type)
            if plugins:
                if event.error is not None and self._dispatch != "none":
                    self._here.live.keep(event, plugins)
                transaction.enqueue(event, plugins, AT_ONCE)
            woken = plugins if not woken else (*woken, *plugins)
        return woken

    def _deliver(self, plugins: Sequence[str]) -> None:
        if not plugins or self._dispatch == "none":
            return
        if self._dispatch == "inline":
            self._here.drainer.flush(self._inline_timeout)
        else:
            self._here.drainer.wake(plugins)
