"""Processes that report and deliver until they are killed."""

from __future__ import annotations

import multiprocessing
import random
import signal
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.manager import Limits, Manager
from failhook.outbox.limits import DeliveryLimits
from failhook.pipeline import Dispatch, Pipeline
from failhook.pipeline.sidecar import Sidecar
from failhook.plugin import Task
from failhook.policy import Backoff, Policy
from failhook.stores import open_store
from tests.delivery.plugins import Appending, Flaky, Gathering, Slow, append

# A server that has imported everything forks in a hundredth of the time that an interpreter takes
# to start; it has no threads, so its children have no warning to give either.
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload([__name__])

EAGER = DeliveryLimits(
    max_failures=1_000_000,
    max_refusals=1_000_000,
    backoff=Backoff(initial=0.02, factor=1.0, maximum=0.02),
    gather=0.001,
    poll=0.1,
)
"""Tries again soon and never gives up, so that nothing is waited for and nothing becomes dead."""

PATIENT = Limits(failures=1_000_000)
"""Puts no plugin into quarantine."""

PLUGINS = ("good", "slow", "flaky", "gathering")

GENEROUS = Policies(Policy(retries=1_000, max_infra_refunds=1_000))

KILLED = Evidence.returncode(-signal.SIGKILL, oom_host=0)
BUG = Evidence.returncode(3)


def start(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """Run a function of a module in a process of its own."""
    process = _SERVER.Process(target=work, args=arguments)
    process.start()
    return process


def run(work: Callable[..., None], *arguments: object, seconds: float = 60.0) -> None:
    """Run a function of a module in a process of its own, and wait for it."""
    process = start(work, *arguments)
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        raise TimeoutError(work)
    assert 0 == process.exitcode


def pipeline_on(
    where: str,
    plugins: Mapping[str, object],
    *,
    dispatch: Dispatch = "thread",
    limits: DeliveryLimits = EAGER,
    calls: Limits = PATIENT,
) -> Pipeline:
    """Return a pipeline on a store with these plugins."""
    return Pipeline(
        open_store(where),
        manager=_manager(plugins, calls),
        policies=GENEROUS,
        delivery=limits,
        dispatch=dispatch,
        random=lambda: 1.0,
    )


def _manager(plugins: Mapping[str, object], calls: Limits = PATIENT) -> Manager:
    manager = Manager(limits=calls)
    for name, plugin in plugins.items():
        manager.register(plugin, name)
    return manager


def four(folder: Path, seed: int = 0) -> dict[str, object]:
    """Return a good plugin, a slow one, one that fails at random and one that gathers."""
    return {
        "good": Appending(folder / "good"),
        "slow": Slow(folder / "slow"),
        "flaky": Flaky(folder / "flaky", seed),
        "gathering": Gathering(folder / "gathering"),
    }


def evidence_of(name: str, attempt: int) -> Evidence:
    """Return what is seen of an attempt: whoever reports it again sees the same."""
    return KILLED if (len(name) + int(name[-1]) + attempt) % 2 else BUG


def report(
    where: str, folder: Path, seed: int, again: tuple[str, int] | None, sending: Connection
) -> None:
    """Report attempts until killed; write down each one after `failed()` has returned.

    Args:
        where: the store.
        folder: where plugins and reports are written down.
        seed: of all that is random here, and in the names of tasks.
        again: an attempt to report first, that another process may have reported.
        sending: gets a byte when the first new attempt was reported.
    """
    warnings.simplefilter("error")
    chance = random.Random(seed)
    pipeline = pipeline_on(where, four(folder, seed))
    if again is not None:
        _report(pipeline, folder, *again)
    number = 0
    while True:
        for attempt in range(1, 1 + chance.randint(1, 4)):
            _report(pipeline, folder, f"task-{seed}-{number}", attempt)
            if number == 0 and attempt == 1:
                sending.send_bytes(b".")
            time.sleep(chance.choice((0.0, 0.0, 0.002, 0.01)))
        number += 1


def _report(pipeline: Pipeline, folder: Path, name: str, attempt: int) -> None:
    task = Task("kills", name, run_id="r", attempt=attempt)
    # What is being reported is known before it is; what was reported, after.
    append(folder / "trying", f"{name} {attempt}\n")
    decision = pipeline.failed(task, evidence_of(name, attempt))
    append(folder / "reported", f"{name} {attempt} {decision.charge.value}\n")


def fill(where: str, plugins: tuple[str, ...], tasks: int, attempts: int) -> None:
    """Report failures for plugins that this process does not call."""
    warnings.simplefilter("error")
    nowhere = {name: Appending(Path("/nonexistent")) for name in plugins}
    with pipeline_on(where, nowhere, dispatch="none") as pipeline:
        for attempt in range(1, 1 + attempts):
            for number in range(tasks):
                name = f"task-{number}"
                task = Task("kills", name, run_id="r", attempt=attempt)
                pipeline.failed(task, evidence_of(name, attempt))


def deliver(
    where: str,
    folder: Path,
    seed: int,
    names: tuple[str, ...] = PLUGINS,
    sending: Connection | None = None,
) -> None:
    """Deliver, as a sidecar does, to the plugins of these names until nothing waits any more."""
    warnings.simplefilter("error")
    plugins = four(folder, seed)
    manager = _manager({name: plugins[name] for name in names})
    with Sidecar(open_store(where), manager, delivery=EAGER) as sidecar:
        if sending is not None:
            sending.send_bytes(b".")
        while sidecar.store.pending():
            sidecar.run(threading.Event(), once=True)


def kill_later(process: BaseProcess, receiving: Connection, seconds: float) -> bool:
    """Kill a process some time after it has sent its byte; return whether it was still running."""
    receiving.poll(30.0)
    time.sleep(seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def killed_after(seconds: float, work: Callable[..., None], *arguments: object) -> bool:
    """Run a function until some time after its first byte; return whether it had to be killed."""
    receiving, sending = _SERVER.Pipe(duplex=False)
    process = start(work, *arguments, sending)
    with receiving, sending:
        return kill_later(process, receiving, seconds)
