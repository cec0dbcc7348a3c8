"""Class names as rules write them: the package's root and the class, whatever lies between."""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import Final

_MOVED: Final = {"exceptiongroup": "", "builtins": "", "__builtin__": "", "exceptions": ""}
"""Roots that say nothing: the builtins, their Python 2 names, and their backport."""


@lru_cache(maxsize=2_048)
def short_name(qualified: str) -> str:
    """Return ``root.Class`` for a class, and just ``Class`` for a builtin or a bare name.

    ``airflow.sdk.exceptions.AirflowException`` is ``airflow.AirflowException``: modules move
    between releases, the package and the name do not. A name that Ray generated, such as
    ``RayTaskError(ValueError)``, loses its brackets.
    """
    path = qualified.split("(", 1)[0]
    root, dot, rest = path.partition(".")
    if not dot:
        return path
    name = rest.rpartition(".")[2]
    root = _MOVED.get(root, root.lstrip("_"))
    return f"{root}.{name}" if root else name


_DISTINCT: Final = {
    name.partition(".")[2]: name
    for name in (
        *("airflow.AirflowException", "airflow.AirflowFailException", "airflow.AirflowTaskTimeout"),
        *("airflow.AirflowSensorTimeout", "airflow.AirflowTaskTerminated", "airflow.DagNotFound"),
        *("airflow.AirflowNotFoundException", "airflow.AirflowRuntimeError"),
        *("airflow.TaskDeferralTimeout", "airflow.TaskDeferralError"),
        *("airflow.PodLaunchFailedException", "airflow.PodLaunchTimeoutException"),
        *("billiard.WorkerLostError", "billiard.TimeLimitExceeded"),
        *("billiard.SoftTimeLimitExceeded", "celery.TaskRevokedError", "celery.NotRegistered"),
        *("celery.ChordError", "celery.MaxRetriesExceededError", "kombu.EncodeError"),
        *("kombu.ContentDisallowed", "concurrent.BrokenProcessPool", "loky.TerminatedWorkerError"),
        *("distributed.KilledWorker", "distributed.FutureCancelledError"),
        *("distributed.CommClosedError", "distributed.NoValidWorkerError"),
        *("ray.RayTaskError", "ray.RayActorError", "ray.ActorDiedError", "ray.WorkerCrashedError"),
        *("ray.NodeDiedError", "ray.ObjectLostError", "ray.TaskCancelledError"),
        *("ray.RayOutOfMemoryError", "ray.OwnerDiedError", "ray.LocalRayletDiedError"),
        *("ray.RaySystemError", "ray.RuntimeEnvSetupError", "ray.ObjectStoreFullError"),
        *("prefect.TerminationSignal", "prefect.TaskRunTimeoutError", "prefect.ScriptError"),
        *("prefect.FlowRunTimeoutError", "prefect.ParameterTypeError"),
        *("dagster.ChildProcessCrashException", "dagster.DagsterSubprocessError"),
        *("dagster.DagsterExecutionInterruptedError", "dagster.DagsterLaunchFailedError"),
        *("dagster.DagsterExecutionStepExecutionError", "dagster.DagsterInvalidConfigError"),
        *("dagster.DagsterUserCodeUnreachableError", "dagster.DagsterUserCodeLoadError"),
        *("rq.AbandonedJobError", "rq.JobTimeoutException", "rq.HorseMonitorTimeoutException"),
        *("rq.ShutDownImminentException", "submitit.UncompletedJobError"),
        *("subprocess.CalledProcessError", "subprocess.TimeoutExpired", "socket.gaierror"),
        *("botocore.ClientError", "botocore.NoCredentialsError", "botocore.ParamValidationError"),
        *("botocore.EndpointConnectionError", "pickle.PicklingError", "pickle.UnpicklingError"),
        *("requests.ReadTimeout", "requests.ConnectTimeout", "requests.ChunkedEncodingError"),
        *("urllib3.MaxRetryError", "urllib3.NewConnectionError", "urllib3.ProtocolError"),
        *("urllib3.ReadTimeoutError", "http.RemoteDisconnected", "http.IncompleteRead"),
        *("google.ServiceUnavailable", "google.GoogleAPICallError", "google.TooManyRequests"),
    )
}
"""Classes that are known by their name alone, where a host recorded no module."""

_BASES: Final = (
    ("botocore.errorfactory.", ("botocore.ClientError",)),
    ("psycopg2.errors.", ("psycopg2.DatabaseError",)),
    ("psycopg.errors.", ("psycopg.DatabaseError",)),
    ("asyncpg.exceptions.", ("asyncpg.Error",)),
    ("sqlalchemy.exc.", ("sqlalchemy.SQLAlchemyError",)),
    ("amqp.exceptions.", ("amqp.AMQPError",)),
    ("redis.exceptions.", ("redis.RedisError",)),
    ("luigi.parameter.", ("luigi.ParameterException",)),
    ("grpc.", ("grpc.RpcError",)),
    ("temporalio.exceptions.", ("temporalio.FailureError",)),
)
"""The base that all classes of a module share, where a host recorded no bases."""


@lru_cache(maxsize=2_048)
def short_names(kind: str, mro: tuple[str, ...]) -> tuple[str, ...]:
    """Return the short names of a class and of its bases, outermost first.

    Where no bases were recorded, those of a builtin exception are known anyway.
    """
    own = short_name(kind)
    bases = tuple(map(short_name, mro)) if mro else _guessed(kind, own)
    return tuple(dict.fromkeys((own, *bases)))


def _guessed(kind: str, own: str) -> tuple[str, ...]:
    inner = kind.partition("(")[2].removesuffix(")")
    if inner:
        return (*_guessed("", own), short_name(inner), *_guessed(inner, short_name(inner)))
    known = getattr(builtins, own, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return tuple(base.__name__ for base in known.__mro__[:-1])
    if own in _DISTINCT:
        return (_DISTINCT[own],)
    return next((bases for module, bases in _BASES if kind.startswith(module)), ())
