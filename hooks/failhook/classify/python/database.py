"""Databases: DB-API drivers and SQLAlchemy, and the platform's own metadata database."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like, one_of
from failhook.classify.python.raised import raised
from failhook.classify.rule import APPLICATION, INFRA

_DBAPI: Final = "https://peps.python.org/pep-0249/#exceptions"
_SQLA: Final = "https://docs.sqlalchemy.org/en/20/errors.html"
_POSTGRES: Final = "https://www.postgresql.org/docs/current/errcodes-appendix.html"
_AIRFLOW_DB: Final = (
    "https://airflow.apache.org/docs/apache-airflow/stable/howto/set-up-database.html"
)
_DRIVERS: Final = (
    *("sqlalchemy", "psycopg2", "psycopg", "pymysql", "MySQLdb", "mysql", "asyncpg", "sqlite3"),
    *("oracledb", "cx_Oracle", "pyodbc", "django", "snowflake", "pg8000", "pymssql", "duckdb"),
    *("clickhouse_connect", "clickhouse_driver", "trino", "databricks", "redshift_connector"),
    *("mysql_exceptions", "aiomysql", "peewee", "ibm_db_dbi", "teradatasql", "vertica_python"),
)


def _of(*names: str) -> tuple[str, ...]:
    """Return the DB-API classes of these names, of every driver, and bare."""
    return tuple(
        short for name in names for short in (name, *(f"{driver}.{name}" for driver in _DRIVERS))
    )


_ANY: Final = _of("Error", "DatabaseError", "OperationalError", "InterfaceError", "InternalError")
_METADATA: Final = (
    r"(?i)(?:relation \"|\b(?:UPDATE|INTO|FROM|TABLE) [`\"]?)"
    r"(?:task_instance|dag_run|serialized_dag|task_reschedule"
    r"|rendered_task_instance_fields|slot_pool"
    r"|dag_version|task_instance_history|celery_taskmeta|sla_miss)\b"
)

PLATFORM: Final = (
    raised(
        "airflow.metadata.scheduler",
        (*_of("OperationalError", "IntegrityError", "ProgrammingError"), *_ANY),
        INFRA,
        "SchedulerError",
        when={
            "exception.message": like(_METADATA),
            "log": like(r"SchedulerJob|scheduler_job|_run_scheduler_loop|_do_scheduling"),
        },
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="The statement is on the scheduler's own table, in the scheduler itself.",
        source=_AIRFLOW_DB,
    ),
    raised(
        "airflow.metadata",
        (*_of("OperationalError", "IntegrityError"), *_ANY),
        INFRA,
        "OrchestratorUnreachable",
        when={
            "exception.message": like(_METADATA),
            "system": one_of("airflow", "process", "python"),
        },
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="The statement is on the platform's own table, so the trouble is inside it.",
        source=_AIRFLOW_DB,
    ),
    raised(
        "airflow.start-up.network",
        (
            *("socket.gaierror", "ConnectionError", "socket.timeout", "requests.ConnectionError"),
            *_of("OperationalError"),
        ),
        INFRA,
        "OrchestratorUnreachable",
        when={
            "frames": like(
                r"/airflow/(?:settings|configuration|logging_config|__init__|stats"
                r"|metrics/\w{1,30})\.py$"
            ),
            "airflow.in_task": False,
        },
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="The network failed while the worker was starting Airflow itself.",
        source=_AIRFLOW_DB,
    ),
)

TRANSIENT: Final = (
    raised(
        "database.denied",
        (
            *_ANY,
            *_of(
                "ProgrammingError",
                "NotSupportedError",
                "InsufficientPrivilege",
                "InvalidPassword",
                "InvalidAuthorizationSpecification",
            ),
        ),
        APPLICATION,
        "PermissionDenied",
        when={
            "exception.message": like(
                r"password authentication failed|[Aa]ccess denied for user"
                r"|permission denied (?:for|to)\b"
                r"|Login failed for user|no pg_hba\.conf entry|ORA-01017"
                r"|role \"[^\"\n]{1,100}\" does not exist"
                r"|(?:INSERT|SELECT|UPDATE|DELETE|CREATE|DROP|ALTER) command denied"
                r"|Insufficient privileges"
                r"|[Uu]nauthorized|not authorized"
            )
        },
        deterministic=True,
        because="The database refused the account or its rights.",
        source=_POSTGRES,
    ),
    raised(
        "database.cancelled-statement",
        (*_of("QueryCanceled", "QueryCanceledError", "OperationalError"), *_ANY),
        APPLICATION,
        "RemoteRejected",
        when={
            "exception.message": like(
                r"canceling statement due to|Query execution was interrupted"
                r"|maximum statement execution time exceeded"
                r"|ORA-01013|Statement (?:reached its|timed out)|query timed? ?out"
            )
        },
        because="The database cancelled the statement by its own limit; no task was cancelled.",
        source=_POSTGRES,
    ),
    raised(
        "database.no-such-thing",
        (*_of("OperationalError", "ProgrammingError"), *_ANY),
        APPLICATION,
        "RemoteRejected",
        when={
            "exception.message": like(
                r"database \"[^\"\n]{1,100}\" does not exist|Unknown database"
                r"|no such (?:table|column)"
                r"|(?:relation|column|table|schema|function) \"?[^\"\n]{1,200}\"? does not exist"
                r"|Unknown column|Table '[^'\n]{1,200}' doesn't exist"
                r"|syntax error at or near|near \"[^\"\n]{1,80}\": syntax error"
                r"|You have an error in your SQL syntax|ORA-00942|Invalid object name"
                r"|Object '[^'\n]{1,200}' does not exist"
            )
        },
        deterministic=True,
        because="The statement names something that the database does not have.",
        source=_POSTGRES,
    ),
    raised(
        "database.conflict",
        (
            *_of(
                "OperationalError",
                "DeadlockDetected",
                "SerializationFailure",
                "LockNotAvailable",
                "TransactionRollbackError",
                "DeadlockDetectedError",
                "SerializationError",
                "LockWaitTimeout",
            ),
            *_ANY,
        ),
        APPLICATION,
        "RemoteTransient",
        when={
            "exception.message": like(
                r"[Dd]eadlock|could not serialize access|Lock wait timeout exceeded"
                r"|database (?:table )?is locked"
                r"|lock timeout|could not obtain lock|ORA-00060|restart transaction"
                r"|was chosen as the deadlock victim"
            )
        },
        deterministic=False,
        because="Another transaction was in the way; the same one may pass later.",
        source=_POSTGRES,
    ),
    raised(
        "database.connection",
        (
            *_of(
                "OperationalError",
                "InterfaceError",
                "AdminShutdown",
                "CannotConnectNow",
                "ConnectionDoesNotExistError",
                "TooManyConnections",
                "TooManyConnectionsError",
                "ConnectionException",
                "ConnectionFailure",
            ),
            *_ANY,
        ),
        APPLICATION,
        "RemoteTransient",
        when={
            "exception.message": like(
                r"server closed the connection|could not connect"
                r"|[Cc]onnection (?:refused|reset|timed out|to server|already closed"
                r"|was (?:closed|killed)|is closed|not open|pool exhausted)"
                r"|server has gone away|Lost connection"
                r"|Can'?t connect to|SSL (?:connection|SYSCALL)|terminating connection"
                r"|the database system is"
                r"|too many (?:connections|clients)|remaining connection slots"
                r"|could not (?:receive|send) data"
                r"|could not translate host name|Name or service not known"
                r"|No route to host|timeout expired"
                r"|Communication link failure|ORA-(?:03113|03114|03135|12170|12514|12541"
                r"|12537)|Broken pipe"
                r"|\b(?:2002|2003|2006|2013|2055), |closed by the remote host"
                r"|Temporary failure in name resolution"
            )
        },
        deterministic=False,
        because="The connection to the database was refused, broke or was closed.",
        source=_SQLA,
    ),
    raised(
        "database.pool",
        ("sqlalchemy.TimeoutError", "psycopg_pool.PoolTimeout"),
        APPLICATION,
        "ResourceExhausted",
        because="All connections of the code's own pool were in use.",
        source=f"{_SQLA}#error-3o7r",
    ),
    raised(
        "database.programming",
        _of(
            "ProgrammingError",
            "UndefinedTable",
            "UndefinedColumn",
            "SyntaxError_",
            "UndefinedTableError",
            "PostgresSyntaxError",
        ),
        APPLICATION,
        "RemoteRejected",
        deterministic=True,
        because="The database cannot execute the statement as it is written.",
        source=_DBAPI,
    ),
    raised(
        "database.data",
        _of("DataError", "NotNullViolation", "CheckViolation", "StringDataRightTruncation"),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="A value does not fit its column.",
        source=_DBAPI,
    ),
    raised(
        "database.integrity",
        _of("IntegrityError", "UniqueViolation", "ForeignKeyViolation", "UniqueViolationError"),
        APPLICATION,
        "UserException",
        because="The row breaks a constraint: it may be there already.",
        source=_DBAPI,
    ),
    raised(
        "database.driver",
        ("sqlalchemy.NoSuchModuleError", "sqlalchemy.NoDBAPILoaded"),
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        because="The driver for this database is not installed.",
        source=_SQLA,
    ),
    raised(
        "database.usage",
        (
            "sqlalchemy.ArgumentError",
            "sqlalchemy.CompileError",
            "sqlalchemy.NoSuchTableError",
            "sqlalchemy.NoForeignKeysError",
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="SQLAlchemy cannot build the statement or connection that the code asks for.",
        source=_SQLA,
    ),
    raised(
        "database.mongo",
        (
            "pymongo.ConnectionFailure",
            "pymongo.AutoReconnect",
            "pymongo.ServerSelectionTimeoutError",
            "pymongo.NotPrimaryError",
        ),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The connection to the database was refused, broke or was closed.",
        source="https://pymongo.readthedocs.io/en/stable/api/pymongo/errors.html",
    ),
)

DATABASE: Final = TRANSIENT
