"""Process pools and worker processes: concurrent.futures, loky, joblib, multiprocessing, torch."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import between, has, like, one_of
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    UNKNOWN,
)

_FUTURES: Final = (
    "https://docs.python.org/3/library/concurrent.futures.html"
    "#concurrent.futures.process.BrokenProcessPool"
)
_LOKY: Final = "https://loky.readthedocs.io/en/stable/API.html"
_DATALOADER: Final = "https://pytorch.org/docs/stable/data.html#multi-process-data-loading"
_SPAWN: Final = (
    "https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods"
)
_POOLS: Final = (
    *("concurrent.BrokenProcessPool", "concurrent.BrokenExecutor", "BrokenProcessPool"),
    *("joblib.TerminatedWorkerError", "loky.TerminatedWorkerError"),
)
_LOKY_POOLS: Final = ("joblib.TerminatedWorkerError", "loky.TerminatedWorkerError")

POOLS: Final = (
    raised(
        "pool.unpickling",
        _POOLS,
        APPLICATION,
        "SerializationError",
        when={
            "text": like(
                r"wait_result_broken_or_wakeup|result_reader\.recv\(\)"
                r"|has failed to un-serialize|_pickle\.(?:Un)?[Pp]icklingError"
            )
        },
        deterministic=True,
        because="No process died: a value or an exception could not be unpickled on the way back.",
        source=_FUTURES,
    ),
    raised(
        "pool.initializer",
        (*_POOLS, "concurrent.BrokenThreadPool"),
        APPLICATION,
        "UserException",
        when={"exception.message": has("initializer failed")},
        because="The initializer that the code gave the pool raised an exception.",
        source=_FUTURES,
    ),
    raised(
        "pool.killed",
        _LOKY_POOLS,
        INFRA,
        "KilledBySignal",
        when={"exception.message": has("SIGKILL(-9)")},
        confidence=GUESS,
        because="The pool saw that a worker was killed from outside.",
        source=_LOKY,
    ),
    raised(
        "pool.crash",
        _LOKY_POOLS,
        APPLICATION,
        "NativeCrash",
        when={"exception.message": like(r"SIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP|SYS)\(-\d")},
        because="The pool saw that a worker crashed.",
        source=_LOKY,
    ),
    raised(
        "pool.worker-exit",
        _LOKY_POOLS,
        APPLICATION,
        "UserExit",
        when={"exception.message": like(r"\{EXIT\(\d{1,3}\)\}")},
        because="The pool saw that a worker exited by itself, with a code.",
        source=_LOKY,
    ),
    raised(
        "pool.worker-ended",
        _LOKY_POOLS,
        UNKNOWN,
        "WorkerLost",
        confidence=GUESS,
        because="A worker of the pool ended; a crash, memory and a bad start look alike.",
        source=_LOKY,
    ),
    raised(
        "pool.broken",
        ("concurrent.BrokenProcessPool", "BrokenProcessPool"),
        INFRA,
        "WorkerLost",
        confidence=GUESS,
        fallback=True,
        because="A process of the pool disappeared, and it left neither code nor signal.",
        source=_FUTURES,
    ),
    raised(
        "pool.shut-down",
        ("joblib.ShutdownExecutorError", "loky.ShutdownExecutorError"),
        UNKNOWN,
        "WorkerShutdown",
        confidence=GUESS,
        because="The pool was shut down while work was pending.",
        source=_LOKY,
    ),
    raised(
        "pool.no-main-guard",
        "RuntimeError",
        APPLICATION,
        "SpecError",
        when={
            "exception.message": has(
                "before the\n        current process has finished its bootstrapping phase",
                "finished its bootstrapping phase",
            )
        },
        deterministic=True,
        because="A child process imported the main module, which started processes again.",
        source=_SPAWN,
    ),
    raised(
        "pool.remote-traceback",
        ("multiprocessing.MaybeEncodingError", "billiard.MaybeEncodingError"),
        APPLICATION,
        "SerializationError",
        deterministic=True,
        because="The result of the work cannot be sent back.",
        source="https://docs.python.org/3/library/multiprocessing.html",
    ),
    raised(
        "dataloader.shared-memory",
        "RuntimeError",
        APPLICATION,
        "ResourceExhausted",
        when={
            "text.gpu": like(
                r"DataLoader worker \(pid[^)\n]{0,80}\) is killed by signal: Bus error"
                r"|insufficient shared memory \(shm\)"
            )
        },
        because="The loader's workers ran out of shared memory.",
        source=_DATALOADER,
        next_step="Enlarge /dev/shm, or use fewer workers.",
    ),
    raised(
        "dataloader.killed",
        "RuntimeError",
        INFRA,
        "KilledBySignal",
        when={
            "exception.message": like(
                r"^DataLoader worker \(pid[^)\n]{0,80}\) is killed by signal: Killed"
            )
        },
        confidence=GUESS,
        because="A loader's worker was killed from outside; whether for memory is not known.",
        source=_DATALOADER,
    ),
    raised(
        "dataloader.crash",
        "RuntimeError",
        APPLICATION,
        "NativeCrash",
        when={
            "text.gpu": like(
                r"DataLoader worker \(pid[^)\n]{0,80}\) is killed by signal: (?:Segmentation"
                r"|Aborted|Illegal|Floating)"
            )
        },
        because="A loader's worker crashed.",
        source=_DATALOADER,
    ),
    raised(
        "dataloader.ended",
        "RuntimeError",
        UNKNOWN,
        "WorkerLost",
        when={"exception.message": like(r"^DataLoader worker \(pid")},
        confidence=GUESS,
        fallback=True,
        because="A loader's worker ended, and how is not known.",
        source=_DATALOADER,
    ),
    raised(
        "elastic.killed",
        "torch.ChildFailedError",
        INFRA,
        "KilledBySignal",
        when={"exception.exit_code": -9},
        confidence=GUESS,
        because="A rank was killed from outside; whether for memory is not known.",
        source="https://pytorch.org/docs/stable/elastic/errors.html",
    ),
    raised(
        "elastic.crash",
        "torch.ChildFailedError",
        APPLICATION,
        "NativeCrash",
        when={"exception.exit_code": one_of(-4, -5, -6, -7, -8, -11)},
        because="A rank crashed.",
        source="https://pytorch.org/docs/stable/elastic/errors.html",
    ),
    raised(
        "elastic.terminated",
        "torch.ChildFailedError",
        UNKNOWN,
        "Terminated",
        when={"exception.exit_code": between(-64, -1)},
        confidence=GUESS,
        because="A rank was ended by a signal; who sent it is not known.",
        source="https://pytorch.org/docs/stable/elastic/errors.html",
    ),
    raised(
        "elastic.failed",
        "torch.ChildFailedError",
        APPLICATION,
        "UserException",
        because="A rank failed by itself.",
        source="https://pytorch.org/docs/stable/elastic/errors.html",
    ),
    raised(
        "elastic.signal",
        "torch.SignalException",
        UNKNOWN,
        "Terminated",
        confidence=GUESS,
        ended_by_itself=False,
        because="The launcher was asked to end; who asked is not known.",
        source="https://pytorch.org/docs/stable/elastic/run.html",
    ),
)
