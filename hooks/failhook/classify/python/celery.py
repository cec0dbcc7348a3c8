"""Celery, billiard and kombu: workers, time limits, revokes, the broker and the result backend."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import Not, at_least, has, is_not, like, one_of
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Tier,
)
from failhook.details import Hint

_POOL: Final = "https://github.com/celery/billiard/blob/main/billiard/pool.py"
_REQUEST: Final = "https://github.com/celery/celery/blob/main/celery/worker/request.py"
_WORKERS: Final = "https://docs.celeryq.dev/en/stable/userguide/workers.html"
_LIMITS: Final = f"{_WORKERS}#time-limits"
_REVOKE: Final = f"{_WORKERS}#revoke-revoking-tasks"
_CELERY: Final = "https://docs.celeryq.dev/en/stable/reference/celery.exceptions.html"
_KOMBU: Final = "https://docs.celeryq.dev/projects/kombu/en/stable/reference/kombu.exceptions.html"
_RABBIT: Final = "https://www.rabbitmq.com/docs/consumers#acknowledgement-timeout"
_LOST: Final = ("billiard.WorkerLostError", "celery.WorkerLostError")
_SHUTDOWN: Final = like(
    r"worker: (?:Warm|Cold|Hitting Ctrl\+C|Soft) [Ss]hutdown|[Ww]arm shutdown \(MainProcess\)"
    r"|[Cc]old shutdown \(MainProcess\)|Restoring \d{1,9} unacknowledged message"
)
_BROKEN_LINKS: Final = (
    *("redis.ConnectionError", "redis.TimeoutError", "amqp.ConnectionError", "ConnectionError"),
    *("kombu.OperationalError", "OSError", "socket.error", "socket.timeout", "TimeoutError"),
)

CELERY: Final = (
    raised(
        "celery.worker.own-memory-limit",
        _LOST,
        APPLICATION,
        "OutOfMemory",
        when={"oom_own": at_least(1)},
        hint=Hint.MORE_MEMORY,
        ended_by_itself=False,
        because="The OOM-kill counter of the worker's own memory cgroup moved.",
        source=_POOL,
    ),
    raised(
        "celery.worker.crash",
        _LOST,
        APPLICATION,
        "NativeCrash",
        when={"child.signal": one_of(4, 5, 6, 7, 8, 11, 31)},
        because="A child of the pool crashed.",
        source=_POOL,
    ),
    raised(
        "celery.worker.shutdown",
        _LOST,
        INFRA,
        "WorkerShutdown",
        when={"log": _SHUTDOWN},
        deterministic=False,
        ended_by_itself=False,
        because="The worker was being shut down, and took its children with it.",
        source=f"{_WORKERS}#stopping-the-worker",
    ),
    Rule(
        id="celery.worker.shutdown.signal",
        tier=Tier.DISRUPTION,
        when={
            "signal": 15,
            "log": like(
                r"(?m)^(?:\[[^\n]{1,60}\] ?)?worker: (?:Warm|Cold) shutdown \(MainProcess\)"
            ),
            "exception.type": Not(like(r"^(?!(?:builtins\.)?str$)")),
        },
        kind=INFRA,
        reason="WorkerShutdown",
        deterministic=False,
        because="The worker was told to end, said so, and no exception of the task was seen.",
        source=f"{_WORKERS}#stopping-the-worker",
    ),
    raised(
        "celery.worker.killed",
        _LOST,
        INFRA,
        "KilledBySignal",
        when={"child.signal": 9},
        confidence=GUESS,
        ended_by_itself=False,
        because="A child of the pool was killed from outside; whether for memory is not known.",
        source=_POOL,
    ),
    raised(
        "celery.worker.signal",
        _LOST,
        UNKNOWN,
        "Terminated",
        when={"child.signal": at_least(1)},
        confidence=GUESS,
        ended_by_itself=False,
        because="A shutdown, a revoke and a limit all send this signal.",
        source=_POOL,
    ),
    raised(
        "celery.worker.recycled",
        _LOST,
        INFRA,
        "WorkerLost",
        when={"exception.exit_code": 155},
        ended_by_itself=False,
        because="155 is the pool's own code (EX_RECYCLE): the child left by the pool's rules.",
        source=_POOL,
    ),
    raised(
        "celery.worker.interrupt-in-task",
        _LOST,
        APPLICATION,
        "UserException",
        when={"exception.message": like(r"exited prematurely: KeyboardInterrupt")},
        because="The pool's children ignore SIGINT, so the task raised it itself.",
        source=_REQUEST,
    ),
    raised(
        "celery.worker.exit-in-task",
        _LOST,
        APPLICATION,
        "UserExit",
        when={
            "exception.message": like(r"exited prematurely: exitcode \d{1,3}\.?$"),
            "text": has("_worker_lost_info"),
        },
        because="Celery builds this text, without a job number, from a SystemExit of the task.",
        source=_REQUEST,
    ),
    raised(
        "celery.worker.exit-0",
        _LOST,
        INFRA,
        "WorkerLost",
        when={"exception.exit_code": 0},
        confidence=GUESS,
        ended_by_itself=False,
        because="A child of the pool left with code 0 while it held a job.",
        source=_POOL,
    ),
    raised(
        "celery.worker.exit-code",
        _LOST,
        UNKNOWN,
        "WorkerLost",
        when={"exception.exit_code": at_least(1)},
        confidence=GUESS,
        ended_by_itself=False,
        because="The task may have called exit, or the child failed to start.",
        source=_POOL,
    ),
    raised(
        "celery.worker.lost",
        _LOST,
        INFRA,
        "WorkerLost",
        ended_by_itself=False,
        because="A child of the pool disappeared.",
        source=_POOL,
    ),
    raised(
        "celery.hard-limit",
        ("billiard.TimeLimitExceeded", "celery.TimeLimitExceeded"),
        TIMEOUT,
        "ExecutionTimeout",
        tier=Tier.DEADLINE,
        confidence=CONFIRMED,
        because="The pool enforced the task's hard time limit.",
        source=_LIMITS,
    ),
    raised(
        "celery.soft-limit",
        ("billiard.SoftTimeLimitExceeded", "celery.SoftTimeLimitExceeded"),
        TIMEOUT,
        "ExecutionTimeout",
        tier=Tier.DEADLINE,
        confidence=CONFIRMED,
        because="The pool enforced the task's soft time limit.",
        source=_LIMITS,
    ),
    raised(
        "celery.terminated.killed",
        ("billiard.Terminated", "celery.Terminated"),
        UNKNOWN,
        "Terminated",
        when={"exception.message": like(r"^-?9$|^Signals\.SIGKILL$")},
        confidence=GUESS,
        ended_by_itself=False,
        because="The class means a revoke, but any SIGKILL produces it as well.",
        source=_POOL,
    ),
    raised(
        "celery.terminated",
        ("billiard.Terminated", "celery.Terminated"),
        MANUAL,
        "Cancelled",
        tier=Tier.CANCEL,
        when={"exception.message": is_not("9", "-9", "Signals.SIGKILL")},
        because="The worker terminated the task on request.",
        source=_REVOKE,
    ),
    raised(
        "celery.expired",
        "celery.TaskRevokedError",
        TIMEOUT,
        "StartTimeout",
        when={"exception.message": has("expired")},
        tier=Tier.DEADLINE,
        because="The task's message expired before a worker took it.",
        source="https://docs.celeryq.dev/en/stable/userguide/calling.html#expiration",
    ),
    raised(
        "celery.revoked",
        "celery.TaskRevokedError",
        MANUAL,
        "Cancelled",
        tier=Tier.CANCEL,
        when={"exception.message": is_not("expired")},
        because="Somebody revoked the task.",
        source=_REVOKE,
    ),
    Rule(
        id="celery.revoked.state",
        tier=Tier.CANCEL,
        when={"state.celery_state": "REVOKED", "state.expired": is_not(True)},
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody revoked the task.",
        source=_REVOKE,
    ),
    raised(
        "celery.ignored",
        ("celery.Ignore", "celery.Reject"),
        MANUAL,
        "Cancelled",
        confidence=LIKELY,
        because="The task asked not to be recorded or to be rejected.",
        source=_CELERY,
    ),
    raised(
        "celery.retry",
        "celery.Retry",
        APPLICATION,
        "UserException",
        deterministic=False,
        fallback=True,
        because="The task asked to be tried again.",
        source=_CELERY,
    ),
    raised(
        "celery.not-registered",
        ("celery.NotRegistered", "celery.ImproperlyConfigured", "kombu.ContentDisallowed"),
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        because="The worker does not have this task, or may not read its message.",
        source=_CELERY,
    ),
    raised(
        "celery.invalid-task",
        ("celery.InvalidTaskError", "celery.QueueNotFound", "celery.IncompleteStream"),
        APPLICATION,
        "SpecError",
        deterministic=True,
        because="The task's message or its queue is not valid.",
        source=_CELERY,
    ),
    raised(
        "celery.serialisation",
        (
            "kombu.SerializationError",
            "kombu.EncodeError",
            "kombu.DecodeError",
            "kombu.SerializerNotInstalled",
        ),
        APPLICATION,
        "SerializationError",
        deterministic=True,
        confidence=CONFIRMED,
        because="The serializer can never encode or decode this value.",
        source=_KOMBU,
    ),
    raised(
        "celery.unpicklable-exception",
        ("celery.UnpickleableExceptionWrapper", "celery.UnpicklableExceptionWrapper"),
        APPLICATION,
        "UserException",
        because="The wrapper stands for an exception of the task that cannot be pickled.",
        source="https://docs.celeryq.dev/en/stable/internals/reference/celery.utils.serialization.html",
    ),
    raised(
        "celery.chord",
        "celery.ChordError",
        APPLICATION,
        "UpstreamFailed",
        because="A member of the chord failed, so its callback never ran.",
        source="https://docs.celeryq.dev/en/stable/userguide/canvas.html#chords",
    ),
    raised(
        "celery.max-retries",
        "celery.MaxRetriesExceededError",
        APPLICATION,
        "UserException",
        fallback=True,
        because="The task used up the retries that it asked for itself.",
        source=_CELERY,
    ),
    raised(
        "celery.backend.store",
        ("celery.BackendError", "celery.BackendStoreError", "celery.BackendGetMetaError"),
        INFRA,
        "ResultBackendError",
        deterministic=False,
        because="The result backend did not take or give the state of the task.",
        source="https://docs.celeryq.dev/en/stable/userguide/tasks.html#result-backends",
    ),
    raised(
        "celery.broker.acknowledgement",
        ("amqp.PreconditionFailed", "amqp.AMQPError"),
        INFRA,
        "BrokerConnectionLost",
        when={
            "exception.message": like(
                r"delivery acknowledgement on channel \d{1,6} timed out|unknown delivery tag"
            )
        },
        because="The broker closed the channel by its own limit; that is no limit of the task.",
        source=_RABBIT,
    ),
    raised(
        "celery.broker.refused",
        ("amqp.AccessRefused", "amqp.NotAllowed", "kombu.AccessDeniedQueueException"),
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The broker refused the account.",
        source="https://www.rabbitmq.com/docs/access-control",
    ),
    raised(
        "celery.broker.lost",
        (
            "amqp.AMQPError",
            "kombu.InconsistencyError",
            "kombu.OperationalError",
            "kombu.LimitExceeded",
        ),
        INFRA,
        "BrokerConnectionLost",
        confidence=LIKELY,
        because="The link between the platform and its message broker broke.",
        source=_KOMBU,
    ),
    raised(
        "celery.main-process.connection",
        _BROKEN_LINKS,
        INFRA,
        "BrokerConnectionLost",
        when={
            "log": like(
                r"(?:ERROR|CRITICAL"
                r"|WARNING)/MainProcess\] (?:Pool callback raised exception"
                r"|consumer: Cannot connect|Couldn't ack \d{1,20}, reason:"
                r"|Unrecoverable error|Connection to broker lost|Control command error"
                r"|Unexpected exception)"
                r"|consumer: Connection to broker lost|Error in timer"
            )
        },
        deterministic=False,
        ended_by_itself=False,
        because="The broken connection belongs to the worker's main process, not to a task.",
        source=_REQUEST,
    ),
    raised(
        "celery.backend.connection",
        _BROKEN_LINKS,
        INFRA,
        "BrokerConnectionLost",
        when={
            "frames": like(
                r"celery/backends/(?:redis|rpc|asynchronous|amqp|base)\b|celery/worker/consumer/"
            )
        },
        deterministic=False,
        ended_by_itself=False,
        because="The frames belong to Celery's consumer or result backend, not to a task.",
        source="https://docs.celeryq.dev/en/stable/userguide/tasks.html#result-backends",
    ),
    raised(
        "celery.backend.database",
        (
            "sqlalchemy.SQLAlchemyError",
            "django.DatabaseError",
            "pymongo.PyMongoError",
            "redis.RedisError",
        ),
        INFRA,
        "ResultBackendError",
        when={"frames": like(r"(?:django_)?celery(?:_results)?/backends/")},
        deterministic=False,
        ended_by_itself=False,
        because="The frames belong to the result backend, which stores states of tasks.",
        source="https://docs.celeryq.dev/en/stable/userguide/tasks.html#result-backends",
    ),
)
