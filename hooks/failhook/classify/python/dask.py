"""Dask's distributed scheduler, its workers and nannies."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    UNKNOWN,
    Rule,
    Tier,
)
from failhook.details import Hint, Started

_KILLED: Final = "https://distributed.dask.org/en/stable/killed.html"
_MEMORY: Final = "https://distributed.dask.org/en/stable/worker-memory.html"
_RESILIENCE: Final = "https://distributed.dask.org/en/stable/resilience.html"
_API: Final = "https://distributed.dask.org/en/stable/api.html"
_CANCELLED: Final = (
    *("distributed.FutureCancelledError", "distributed.FuturesCancelledError"),
    *("concurrent.CancelledError", "asyncio.CancelledError", "CancelledError"),
)
_MEMORY_LINE: Final = like(
    r"exceeded \d{1,3}% memory budget\. Restarting|Worker exceeded \d{1,3}% memory budget"
)

DASK: Final = (
    raised(
        "dask.nanny-memory-limit",
        "distributed.KilledWorker",
        APPLICATION,
        "MemoryLimit",
        when={"log": _MEMORY_LINE},
        hint=Hint.MORE_MEMORY,
        ended_by_itself=False,
        because="The nanny restarted the worker at its memory limit.",
        source=_MEMORY,
    ),
    raised(
        "dask.killed-worker",
        "distributed.KilledWorker",
        INFRA,
        "WorkerLost",
        confidence=LIKELY,
        hint=Hint.POISON_TASK,
        ended_by_itself=False,
        because="Each worker that took the task died; the task itself may be what kills them.",
        source=_KILLED,
    ),
    raised(
        "dask.cancelled.scheduler-lost",
        _CANCELLED,
        INFRA,
        "ConnectionLost",
        when={
            "exception.message": like(
                r"cancelled for reason: scheduler-(?:connection-lost|restart)"
                r"|scheduler-connection-lost"
            )
        },
        deterministic=False,
        ended_by_itself=False,
        because="The class is a cancellation, but its reason says that the scheduler was lost.",
        source=_API,
    ),
    raised(
        "dask.cancelled.lost-dependencies",
        _CANCELLED,
        INFRA,
        "ResultLost",
        when={
            "exception.message": like(r"cancelled for reason: lost dependencies|lost dependencies")
        },
        deterministic=False,
        ended_by_itself=False,
        because="Data that only a lost worker held cannot be made again.",
        source=_RESILIENCE,
    ),
    raised(
        "dask.cancelled.stream-closed",
        _CANCELLED,
        INFRA,
        "ConnectionLost",
        when={
            "log": has(
                "report stream closed to scheduler",
                "Connection to scheduler broken",
                "Failed to reconnect to scheduler",
            )
        },
        ended_by_itself=False,
        because="The client lost the scheduler, which cancels what it waits for.",
        source=_API,
    ),
    raised(
        "dask.cancelled.by-user",
        ("distributed.FutureCancelledError", "distributed.FuturesCancelledError"),
        MANUAL,
        "Cancelled",
        when={"exception.message": like(r"cancelled by user|for reason: user|by cancel\(\)")},
        ended_by_itself=False,
        because="Somebody cancelled the future.",
        source=_API,
    ),
    raised(
        "dask.cancelled",
        ("distributed.FutureCancelledError", "distributed.FuturesCancelledError"),
        UNKNOWN,
        "Cancelled",
        confidence=GUESS,
        ended_by_itself=False,
        because="The future was cancelled, and why is not known.",
        source=_API,
    ),
    raised(
        "dask.no-valid-worker",
        "distributed.NoValidWorkerError",
        APPLICATION,
        "Unschedulable",
        started=Started.NO,
        because="Workers exist, but none fits the restrictions written on the task.",
        source="https://distributed.dask.org/en/stable/locality.html#user-control",
    ),
    raised(
        "dask.no-worker",
        ("distributed.NoWorkerError", "distributed.WorkerStartTimeoutError"),
        INFRA,
        "NeverStarted",
        started=Started.NO,
        ended_by_itself=False,
        because="There were no workers within the time that the scheduler waits for one.",
        source=_RESILIENCE,
    ),
    raised(
        "dask.disk",
        ("distributed.P2POutOfDiskError", "distributed.MaxSpillExceeded"),
        INFRA,
        "DiskFull",
        because="The workers' scratch space is full.",
        source="https://docs.dask.org/en/stable/order.html",
    ),
    raised(
        "dask.shuffle",
        (
            "distributed.P2PConsistencyError",
            "distributed.ShuffleClosedError",
            "distributed.P2PIllegalStateError",
        ),
        INFRA,
        "PeerLost",
        confidence=GUESS,
        because="A shuffle lost one of its workers.",
        source=_RESILIENCE,
    ),
    raised(
        "dask.connection",
        (
            "distributed.CommClosedError",
            "distributed.FatalCommClosedError",
            "distributed.RPCClosed",
            "distributed.ClosedClientError",
        ),
        INFRA,
        "ConnectionLost",
        deterministic=False,
        because="A connection between parts of the cluster was closed.",
        source=_RESILIENCE,
    ),
    raised(
        "dask.connect",
        ("OSError", "TimeoutError", "asyncio.TimeoutError", "tornado.TimeoutError"),
        INFRA,
        "ConnectionLost",
        when={
            "exception.message": like(
                r"^Timed out trying to connect to |^Timed out during handshake"
            )
        },
        deterministic=False,
        ended_by_itself=False,
        because="A part of the cluster did not answer another one.",
        source=_RESILIENCE,
    ),
    raised(
        "dask.data-unavailable",
        "distributed.DataUnavailable",
        INFRA,
        "ResultLost",
        because="Data that a worker held is gone.",
        source=_RESILIENCE,
    ),
    raised(
        "dask.serialisation",
        ("distributed.PickleError", "dask.SerializationError"),
        APPLICATION,
        "SerializationError",
        deterministic=True,
        because="A value cannot be sent to a worker.",
        source="https://distributed.dask.org/en/stable/serialization.html",
    ),
    Rule(
        id="dask.nanny-memory-limit.logged",
        tier=Tier.LOG,
        when={"log": _MEMORY_LINE},
        kind=APPLICATION,
        reason="MemoryLimit",
        hint=Hint.MORE_MEMORY,
        because="The nanny restarted the worker at its memory limit.",
        source=_MEMORY,
    ),
    Rule(
        id="dask.worker-ttl.logged",
        tier=Tier.LOG,
        when={
            "log": like(
                r"Worker failed to heartbeat (?:within|for) "
                r"|Scheduler closing worker[^\n]{0,80}heartbeat"
            )
        },
        kind=INFRA,
        reason="HeartbeatTimeout",
        because="The scheduler did not hear of the worker for longer than worker-ttl.",
        source=_RESILIENCE,
    ),
)
