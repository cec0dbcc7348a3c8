"""Errors that arose in the platform's own code: their frames tell, where their classes do not."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import Not, between, like
from failhook.classify.python.raised import raised
from failhook.classify.rule import INFRA

_NETWORK: Final = (
    *("ConnectionError", "socket.timeout", "socket.gaierror", "OSError", "TimeoutError"),
    *("requests.RequestException", "requests.ConnectionError", "requests.Timeout"),
    *("httpx.TransportError", "httpx.HTTPStatusError", "httpx.ConnectError", "httpx.ReadTimeout"),
    *("httpx.ConnectTimeout", "httpx.RemoteProtocolError", "httpx.ReadError", "redis.RedisError"),
    *("redis.ConnectionError", "redis.TimeoutError", "sqlalchemy.SQLAlchemyError"),
    *("sqlalchemy.OperationalError", "sqlalchemy.InterfaceError", "sqlalchemy.DBAPIError"),
    *(
        "psycopg2.OperationalError",
        "psycopg2.DatabaseError",
        "grpc.RpcError",
        "aiohttp.ClientError",
    ),
)
_NOT_REFUSED: Final = Not(between(400, 499))
"""An answer of 4xx may be the task's own doing."""
_AIRFLOW: Final = (
    "https://airflow.apache.org/docs/apache-airflow/stable/core-concepts/overview.html"
)

PLATFORM_FRAMES: Final = (
    raised(
        "frames.airflow",
        _NETWORK,
        INFRA,
        "OrchestratorUnreachable",
        when={"airflow.own_code": True, "exception.status": _NOT_REFUSED},
        executor_side=True,
        ended_by_itself=False,
        because="The frames end in Airflow's own code: its database or API did not answer.",
        source=_AIRFLOW,
    ),
    raised(
        "frames.prefect",
        _NETWORK,
        INFRA,
        "OrchestratorUnreachable",
        when={
            "frames": like(r"/prefect/(?:client/(?:base|orchestration)|_internal/concurrency)\b"),
            "exception.status": _NOT_REFUSED,
        },
        executor_side=True,
        ended_by_itself=False,
        because="The frames go through Prefect's own client: its API did not answer.",
        source="https://docs.prefect.io/v3/api-ref/rest-api",
    ),
    raised(
        "frames.dagster",
        _NETWORK,
        INFRA,
        "OrchestratorUnreachable",
        when={
            "frames": like(
                r"/dagster(?:_postgres|_mysql)?/_?(?:core/)?(?:storage|instance"
                r"|event_log|run_storage|utils)\b"
            ),
            "exception.status": _NOT_REFUSED,
        },
        executor_side=True,
        ended_by_itself=False,
        because="The frames go through Dagster's own storage, which did not answer.",
        source="https://docs.dagster.io/deployment/dagster-instance",
    ),
    raised(
        "frames.ray-client",
        _NETWORK,
        INFRA,
        "ConnectionLost",
        when={"frames": like(r"/ray/util/client/|/ray/_private/gcs_")},
        ended_by_itself=False,
        because="The frames belong to Ray's client: the cluster did not answer.",
        source="https://docs.ray.io/en/latest/cluster/running-applications/job-submission/ray-client.html",
    ),
    raised(
        "frames.queue-workers",
        _NETWORK,
        INFRA,
        "BrokerConnectionLost",
        when={
            "frames": like(
                r"/rq/(?:worker|registry|scheduler)|/dramatiq/(?:worker|brokers/)"
                r"|/huey/(?:consumer|storage)|/arq/worker"
            )
        },
        ended_by_itself=False,
        because="The frames belong to the worker's own loop: its broker did not answer.",
        source="https://python-rq.org/docs/workers/",
    ),
    raised(
        "frames.luigi",
        "luigi.RPCError",
        INFRA,
        "OrchestratorUnreachable",
        executor_side=True,
        ended_by_itself=False,
        because="The worker did not reach Luigi's scheduler.",
        source="https://luigi.readthedocs.io/en/stable/central_scheduler.html",
    ),
)
