"""Ray: tasks, actors, objects, nodes."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import at_least, has, like
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    MANUAL,
    UNKNOWN,
)
from failhook.details import Hint, Started

_TASKS: Final = "https://docs.ray.io/en/latest/ray-core/fault_tolerance/tasks.html"
_ACTORS: Final = "https://docs.ray.io/en/latest/ray-core/fault_tolerance/actors.html"
_OBJECTS: Final = "https://docs.ray.io/en/latest/ray-core/fault_tolerance/objects.html"
_NODES: Final = "https://docs.ray.io/en/latest/ray-core/fault_tolerance/nodes.html"
_MEMORY: Final = "https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html"
_API: Final = "https://docs.ray.io/en/latest/ray-core/api/exceptions.html"
_ENV: Final = (
    "https://docs.ray.io/en/latest/ray-core/handling-dependencies.html#runtime-environments"
)
_WORKER: Final = ("ray.WorkerCrashedError", "ray.RayWorkerError", "ray.LocalRayletDiedError")
_ACTOR: Final = ("ray.RayActorError", "ray.ActorDiedError")

RAY: Final = (
    raised(
        "ray.worker.own-memory-limit",
        _WORKER,
        APPLICATION,
        "OutOfMemory",
        when={"oom_own": at_least(1)},
        hint=Hint.MORE_MEMORY,
        ended_by_itself=False,
        because="The OOM-kill counter of the worker's own memory cgroup moved.",
        source=_MEMORY,
    ),
    raised(
        "ray.worker.terminated",
        ("ray.WorkerCrashedError", "ray.RayWorkerError"),
        UNKNOWN,
        "Terminated",
        when={"text": has("receives a SIGTERM")},
        confidence=GUESS,
        ended_by_itself=False,
        because="The worker got SIGTERM; who asked for it is not known.",
        source=_TASKS,
    ),
    raised(
        "ray.worker.exit-in-task",
        ("ray.WorkerCrashedError", "ray.RayWorkerError"),
        APPLICATION,
        "UserExit",
        when={
            "text": like(
                r"Worker exits with an exit code (?:[1-9]\d{0,2})\b"
                r"|exit type: (?:USER_ERROR|INTENDED_USER_EXIT)"
            )
        },
        because="The worker left with an exit code that the task chose.",
        source=_TASKS,
    ),
    raised(
        "ray.worker.crashed",
        ("ray.WorkerCrashedError", "ray.RayWorkerError"),
        INFRA,
        "WorkerLost",
        ended_by_itself=False,
        because="The worker process went away without an end of its own.",
        source=_TASKS,
    ),
    raised(
        "ray.raylet-died",
        "ray.LocalRayletDiedError",
        INFRA,
        "NodeLost",
        ended_by_itself=False,
        because="The node's own Ray process died.",
        source=_NODES,
    ),
    raised(
        "ray.node-died",
        "ray.NodeDiedError",
        INFRA,
        "NodeLost",
        deterministic=False,
        ended_by_itself=False,
        because="The node under the task is gone.",
        source=_NODES,
    ),
    raised(
        "ray.node-memory",
        ("ray.OutOfMemoryError", "ray.RayOutOfMemoryError"),
        INFRA,
        "OutOfMemoryKill",
        hint=Hint.MORE_MEMORY,
        ended_by_itself=False,
        because="The node was nearly out of memory; its monitor chose this task.",
        source=_MEMORY,
    ),
    raised(
        "ray.disk",
        "ray.OutOfDiskError",
        INFRA,
        "DiskFull",
        because="The node's object store and disk are full.",
        source="https://docs.ray.io/en/latest/ray-core/objects/object-spilling.html",
    ),
    raised(
        "ray.object-store-full",
        "ray.ObjectStoreFullError",
        APPLICATION,
        "ResourceExhausted",
        hint=Hint.MORE_MEMORY,
        because="Objects that the job still holds fill the object store.",
        source=_OBJECTS,
    ),
    raised(
        "ray.actor.creation",
        _ACTOR,
        APPLICATION,
        "UserException",
        when={
            "exception.message": has("error raised in its creation task", "creation task failed")
        },
        because="The constructor of the actor raised; the dead actor is a consequence.",
        source=_ACTORS,
    ),
    raised(
        "ray.actor.killed-by-user",
        _ACTOR,
        MANUAL,
        "Cancelled",
        when={
            "exception.message": like(
                r"killed by `?ray\.kill|was cancelled before it started"
                r"|all references to the actor were removed"
            )
        },
        ended_by_itself=False,
        because="The program itself ended the actor.",
        source=_ACTORS,
    ),
    raised(
        "ray.actor.exit",
        _ACTOR,
        APPLICATION,
        "UserExit",
        when={
            "exception.message": like(
                r"INTENDED_USER_EXIT|exit_actor\(\)|user code calling|USER_ERROR"
                r"|exits with an exit code [1-9]"
            )
        },
        because="The actor left by a call of its own.",
        source=_ACTORS,
    ),
    raised(
        "ray.actor.node-died",
        _ACTOR,
        INFRA,
        "NodeLost",
        when={
            "exception.message": like(
                r"node (?:has )?died|node was (?:terminated|preempted)"
                r"|owner's node has crashed|node[^\n]{0,60}(?:dead|drained)"
            )
        },
        deterministic=False,
        ended_by_itself=False,
        because="The node under the actor is gone.",
        source=_NODES,
    ),
    raised(
        "ray.actor.node-memory",
        _ACTOR,
        INFRA,
        "OutOfMemoryKill",
        when={
            "exception.message": like(
                r"node running low on memory|NODE_OUT_OF_MEMORY|memory monitor"
            )
        },
        hint=Hint.MORE_MEMORY,
        ended_by_itself=False,
        because="The node was nearly out of memory; its monitor chose this actor.",
        source=_MEMORY,
    ),
    raised(
        "ray.actor.died",
        _ACTOR,
        INFRA,
        "WorkerLost",
        ended_by_itself=False,
        because="The actor's process went away without an end of its own.",
        source=_ACTORS,
    ),
    raised(
        "ray.actor.unavailable",
        "ray.ActorUnavailableError",
        INFRA,
        "ConnectionLost",
        deterministic=False,
        ended_by_itself=False,
        because="The actor cannot be reached now; the call may or may not have run.",
        source=_ACTORS,
    ),
    raised(
        "ray.object.freed",
        "ray.ObjectFreedError",
        APPLICATION,
        "UserException",
        deterministic=True,
        because="The program freed the object itself.",
        source=_OBJECTS,
    ),
    raised(
        "ray.object.lost",
        (
            *("ray.ObjectLostError", "ray.OwnerDiedError", "ray.ObjectFetchTimedOutError"),
            *("ray.ObjectReconstructionFailedError", "ray.UnreconstructableError"),
            "ray.PlasmaObjectNotAvailable",
        ),
        INFRA,
        "ResultLost",
        ended_by_itself=False,
        because="An object that the task needs is gone with the process or node that held it.",
        source=_OBJECTS,
    ),
    raised(
        "ray.cancelled",
        "ray.TaskCancelledError",
        MANUAL,
        "Cancelled",
        ended_by_itself=False,
        because="The task was cancelled through Ray's API.",
        source=_API,
    ),
    raised(
        "ray.placement-group-removed",
        ("ray.TaskPlacementGroupRemoved", "ray.ActorPlacementGroupRemoved"),
        MANUAL,
        "Cancelled",
        ended_by_itself=False,
        because="The program removed the placement group under the task.",
        source="https://docs.ray.io/en/latest/ray-core/scheduling/placement-group.html",
    ),
    raised(
        "ray.unschedulable",
        ("ray.TaskUnschedulableError", "ray.ActorUnschedulableError"),
        APPLICATION,
        "Unschedulable",
        started=Started.NO,
        because="No node fits what the task asks for.",
        source="https://docs.ray.io/en/latest/ray-core/scheduling/index.html",
    ),
    raised(
        "ray.runtime-env.transient",
        ("ray.RuntimeEnvSetupError", "RuntimeError", "ray.RaySystemError"),
        INFRA,
        "EnvSetupFailure",
        when={
            "exception.message": like(r"Failed to (?:create|set up|setup) runtime[_ ]env"),
            "text": like(
                r"agent (?:process )?(?:died|failed|timed out)|Timed out"
                r"|[Cc]onnection (?:refused|reset)"
                r"|GrpcUnavailable|keepalive watchdog timeout"
                r"|Temporary failure|No space left|Failed to request agent|grpc_message"
            ),
        },
        confidence=GUESS,
        started=Started.NO,
        because="The environment's set-up met trouble of the node or the network.",
        source=_ENV,
    ),
    raised(
        "ray.runtime-env",
        "ray.RuntimeEnvSetupError",
        APPLICATION,
        "EnvSetupFailure",
        deterministic=True,
        started=Started.NO,
        because="The environment that the job asks for cannot be built.",
        source=_ENV,
    ),
    raised(
        "ray.runtime-env.message",
        ("RuntimeError", "ray.RaySystemError"),
        APPLICATION,
        "EnvSetupFailure",
        when={
            "exception.message": like(
                r"Failed to (?:create|set up|setup) runtime[_ ]env"
                r"|Failed to install (?:conda|pip|uv) environment"
            )
        },
        deterministic=True,
        started=Started.NO,
        because="The environment that the job asks for cannot be built.",
        source=_ENV,
    ),
    raised(
        "ray.get-timeout",
        ("ray.GetTimeoutError", "ray.RayTimeoutError"),
        APPLICATION,
        "ClientTimeout",
        because="The caller gave its own wait a limit; the task may go on.",
        source=_API,
    ),
    raised(
        "ray.serialisation",
        ("ray.OufOfBandObjectRefSerializationException", "ray.ReferenceCountingAssertionError"),
        APPLICATION,
        "SerializationError",
        because="The program sends a reference in a way that Ray cannot follow.",
        source=_API,
    ),
    raised(
        "ray.exception-not-rebuilt",
        ("ray.UnserializableException", "ray.CrossLanguageError", "ray.UserCodeException"),
        APPLICATION,
        "UserException",
        because="The task raised an exception that cannot be rebuilt here.",
        source="https://docs.ray.io/en/latest/ray-core/objects/serialization.html",
    ),
    raised(
        "ray.authentication",
        "ray.AuthenticationError",
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The cluster refused the token.",
        source="https://docs.ray.io/en/latest/ray-security/token-auth.html",
    ),
    raised(
        "ray.own-limits",
        ("ray.PendingCallsLimitExceeded", "ray.RayCgraphCapacityExceeded", "ray.AsyncioActorExit"),
        APPLICATION,
        "ResourceExhausted",
        because="The program passed a limit that it had set itself.",
        source=_API,
    ),
    raised(
        "ray.connection",
        (
            *("ray.RpcError", "ray.RayChannelError", "ray.RayDirectTransportError"),
            "ray.RayConnectionError",
        ),
        INFRA,
        "ConnectionLost",
        because="A connection between parts of the cluster broke.",
        source=_NODES,
    ),
    raised(
        "ray.task-error",
        "ray.RayTaskError",
        APPLICATION,
        "UserException",
        fallback=True,
        because="The task's own code raised it.",
        source=_TASKS,
    ),
    raised(
        "ray.system-error",
        ("ray.RaySystemError", "ray.RayletError"),
        INFRA,
        "SystemError",
        confidence=GUESS,
        fallback=True,
        ended_by_itself=False,
        because="Ray's own process lost something of its own.",
        source=_API,
    ),
)
