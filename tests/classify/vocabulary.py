"""What Python, its frameworks and their libraries say of failures, and what each means.

A table of (what was seen, kind, reason). Class names, messages and log lines are those of the
projects' own sources; each line stands for a whole kind of thing.
"""

from __future__ import annotations

from typing import Any

Row = tuple[dict[str, Any], str, str]


def err(name: str, message: str = "", **more: Any) -> dict[str, Any]:
    """An exception as a host records it: a type name, a text, perhaps a cause."""
    return {"type": name, "message": message, **more}


def seen(
    name: str | None = None, message: str = "", system: str = "python", **facts: Any
) -> dict[str, Any]:
    """An evidence document with an exception and whatever else was seen."""
    evidence = dict(facts)
    error = {
        key: evidence.pop(key)
        for key in ("cause", "context", "mro", "exceptions", "attributes")
        if key in evidence
    }
    if name is not None:
        evidence["exception"] = err(name, message, **error)
    return {"system": system, "evidence": evidence}


BUILTINS: tuple[Row, ...] = (
    (seen("builtins.ZeroDivisionError", "division by zero"), "application", "UserException"),
    (
        seen("builtins.RecursionError", "maximum recursion depth exceeded"),
        "application",
        "UserException",
    ),
    (
        seen("builtins.ModuleNotFoundError", "No module named 'pandas'"),
        "application",
        "CodeLoadError",
    ),
    (
        seen("builtins.IndentationError", "unexpected indent (job.py, line 3)"),
        "application",
        "CodeLoadError",
    ),
    (
        seen("builtins.AttributeError", "module 'numpy' has no attribute 'float'"),
        "application",
        "CodeLoadError",
    ),
    (
        seen("builtins.AttributeError", "'NoneType' object has no attribute 'split'"),
        "application",
        "UserException",
    ),
    (
        seen("builtins.TypeError", "load() missing 1 required positional argument: 'day'"),
        "application",
        "UserException",
    ),
    (seen("builtins.MemoryError"), "application", "OutOfMemory"),
    (seen("builtins.SystemExit", "3"), "application", "UserExit"),
    (seen("builtins.SystemExit", "143"), "unknown", "Terminated"),
    (seen("builtins.KeyboardInterrupt"), "manual", "Interrupted"),
    (seen("asyncio.exceptions.CancelledError"), "unknown", "Cancelled"),
    (
        seen("builtins.OSError", "[Errno 28] No space left on device: '/data/x'"),
        "infra",
        "DiskFull",
    ),
    (seen("builtins.OSError", "[Errno 5] Input/output error"), "infra", "HardwareFailure"),
    (seen("builtins.OSError", "[Errno 116] Stale file handle"), "infra", "ConnectionLost"),
    (seen("builtins.OSError", "[Errno 12] Cannot allocate memory"), "application", "OutOfMemory"),
    (
        seen("builtins.OSError", "[Errno 101] Network is unreachable"),
        "application",
        "RemoteTransient",
    ),
    (
        seen("builtins.PermissionError", "[Errno 13] Permission denied: '/data/out.csv'"),
        "application",
        "PermissionDenied",
    ),
    (
        seen("builtins.FileNotFoundError", "[Errno 2] No such file or directory: 'x'"),
        "application",
        "UserException",
    ),
    (
        seen("builtins.ConnectionResetError", "[Errno 104] Connection reset by peer"),
        "application",
        "RemoteTransient",
    ),
    (seen("builtins.BrokenPipeError", "[Errno 32] Broken pipe"), "application", "RemoteTransient"),
    (seen("builtins.TimeoutError", ""), "application", "ClientTimeout"),
    (seen("socket.timeout", "timed out"), "application", "ClientTimeout"),
    (
        seen("socket.gaierror", "[Errno -3] Temporary failure in name resolution"),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "ssl.SSLCertVerificationError",
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        ),
        "application",
        "RemoteRejected",
    ),
    (
        seen("builtins.TypeError", "cannot pickle '_thread.lock' object"),
        "application",
        "SerializationError",
    ),
    (
        seen("builtins.AttributeError", "Can't pickle local object 'f.<locals>.g'"),
        "application",
        "SerializationError",
    ),
    (
        seen("_pickle.PicklingError", "Can't pickle <function f>: it's not the same object"),
        "application",
        "SerializationError",
    ),
    (
        seen("builtins.TypeError", "Object of type datetime is not JSON serializable"),
        "application",
        "SerializationError",
    ),
    (
        seen("builtins.UnicodeDecodeError", "'utf-8' codec can't decode byte 0xff"),
        "application",
        "UserException",
    ),
    (seen("builtins.RuntimeError", "can't start new thread"), "application", "ResourceExhausted"),
    (
        seen("subprocess.CalledProcessError", "Command 'x' returned non-zero exit status 2."),
        "application",
        "ChildProcessFailed",
    ),
    (
        seen("subprocess.CalledProcessError", "Command 'x' returned non-zero exit status 127."),
        "application",
        "SpecError",
    ),
    (
        seen("subprocess.CalledProcessError", "Command 'x' died with <Signals.SIGSEGV: 11>."),
        "application",
        "NativeCrash",
    ),
    (
        seen("subprocess.CalledProcessError", "Command 'x' died with <Signals.SIGTERM: 15>."),
        "unknown",
        "Terminated",
    ),
    (
        seen("subprocess.CalledProcessError", "", attributes={"returncode": -9}),
        "infra",
        "KilledBySignal",
    ),
)

POOLS: tuple[Row, ...] = (
    (
        seen(
            "concurrent.futures.process.BrokenProcessPool",
            "A child process terminated abruptly, the process pool is not usable anymore",
        ),
        "infra",
        "WorkerLost",
    ),
    (
        seen(
            "concurrent.futures.process.BrokenProcessPool",
            "A process initializer failed, the process pool is not usable anymore",
        ),
        "application",
        "UserException",
    ),
    (
        seen(
            "joblib.externals.loky.process_executor.TerminatedWorkerError",
            "A worker process ... The exit codes of the workers are {SIGSEGV(-11), SIGSEGV(-11)}",
        ),
        "application",
        "NativeCrash",
    ),
    (
        seen(
            "joblib.externals.loky.process_executor.BrokenProcessPool",
            "A task has failed to un-serialize. Please ensure that the arguments of the function are all picklable.",
            mro=[
                "joblib.externals.loky.process_executor.BrokenProcessPool",
                "concurrent.futures.process.BrokenProcessPool",
                "builtins.RuntimeError",
            ],
        ),
        "application",
        "SerializationError",
    ),
    (
        seen("builtins.RuntimeError", "DataLoader worker (pid 4242) is killed by signal: Killed. "),
        "infra",
        "KilledBySignal",
    ),
    (
        seen(
            "builtins.RuntimeError",
            "DataLoader worker (pid 4242) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
        ),
        "application",
        "ResourceExhausted",
    ),
    (
        seen("builtins.RuntimeError", "DataLoader worker (pid(s) 4242) exited unexpectedly"),
        "unknown",
        "WorkerLost",
    ),
    (
        seen(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError",
            "train.py FAILED\nRoot Cause (first observed failure):\n  exitcode  : -9 (pid: 41)",
        ),
        "infra",
        "KilledBySignal",
    ),
    (
        seen(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError",
            "train.py FAILED\nRoot Cause (first observed failure):\n  exitcode  : 1 (pid: 41)",
        ),
        "application",
        "UserException",
    ),
)

GPU: tuple[Row, ...] = (
    (
        seen("torch.cuda.OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB"),
        "application",
        "GpuOutOfMemory",
    ),
    (seen("builtins.RuntimeError", "CUDA error: out of memory"), "application", "GpuOutOfMemory"),
    (
        seen(
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError",
            "OOM when allocating tensor with shape[64,1024]",
        ),
        "application",
        "GpuOutOfMemory",
    ),
    (
        seen("builtins.RuntimeError", "CUDA error: device-side assert triggered"),
        "application",
        "NativeCrash",
    ),
    (
        seen("builtins.RuntimeError", "CUDA error: an illegal memory access was encountered"),
        "application",
        "NativeCrash",
    ),
    (
        seen(
            "builtins.RuntimeError",
            "CUDA error: no kernel image is available for execution on the device",
        ),
        "application",
        "CodeLoadError",
    ),
    (
        seen(
            "builtins.RuntimeError",
            "CUDA error: uncorrectable NVLink error detected during the execution",
        ),
        "infra",
        "HardwareFailure",
    ),
    (
        seen(log_tail=["NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."]),
        "infra",
        "HardwareFailure",
    ),
    (
        seen(
            "builtins.ValueError",
            "loss is nan",
            log_tail=["NVRM: Xid (PCI:0000:3b:00): 48, pid=1, DBE"],
        ),
        "infra",
        "HardwareFailure",
    ),
    (seen("builtins.RuntimeError", "CUDA error: unknown error"), "unknown", "GpuError"),
    (
        seen(
            "torch.distributed.DistBackendError",
            "NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error, NCCL version 2.19.3\nncclSystemError: System call failed",
        ),
        "unknown",
        "GpuError",
    ),
    (
        seen(
            "builtins.RuntimeError",
            "[../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.2]:3321",
        ),
        "infra",
        "PeerLost",
    ),
)

AIRFLOW: tuple[Row, ...] = (
    (
        seen("airflow.exceptions.AirflowSensorTimeout", "Snap. Time is OUT.", "airflow"),
        "timeout",
        "SensorTimeout",
    ),
    (
        seen("airflow.exceptions.AirflowTaskTimeout", "Timeout, PID: 12", "airflow"),
        "timeout",
        "ExecutionTimeout",
    ),
    (
        seen("airflow.exceptions.AirflowException", "Task received SIGTERM signal", "airflow"),
        "unknown",
        "Terminated",
    ),
    (
        seen("airflow.exceptions.AirflowTaskTerminated", "Task received SIGTERM signal", "airflow"),
        "unknown",
        "Terminated",
    ),
    (
        seen(
            "airflow.exceptions.AirflowNotFoundException",
            "The conn_id `pg` isn't defined",
            "airflow",
        ),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            "airflow.sdk.exceptions.AirflowRuntimeError",
            "CONNECTION_NOT_FOUND: {'conn_id': 'pg'}",
            "airflow",
        ),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            "airflow.sdk.exceptions.AirflowRuntimeError",
            "API_SERVER_ERROR: {'status_code': 503}",
            "airflow",
        ),
        "infra",
        "OrchestratorUnreachable",
    ),
    (
        seen(
            "airflow.exceptions.AirflowException",
            "Bash command failed. The command returned a non-zero exit code 2.",
            "airflow",
        ),
        "application",
        "ChildProcessFailed",
    ),
    (
        seen("airflow.exceptions.AirflowException", "The external DAG parent failed.", "airflow"),
        "application",
        "UpstreamFailed",
    ),
    (
        seen(
            "airflow.exceptions.AirflowException",
            "child failed with failed states failed",
            "airflow",
        ),
        "application",
        "UpstreamFailed",
    ),
    (
        seen("airflow.exceptions.AirflowException", "something went wrong", "airflow"),
        "application",
        "UserException",
    ),
    (
        seen(
            "airflow.exceptions.AirflowException",
            "x failed",
            "airflow",
            cause=err("builtins.KeyError", "'k'"),
        ),
        "application",
        "UserException",
    ),
    (
        seen("airflow.exceptions.DagNotFound", "DAG 'd' not found", "airflow"),
        "application",
        "CodeLoadError",
    ),
    (
        seen("airflow.exceptions.AirflowDagCycleException", "Cycle detected in DAG", "airflow"),
        "application",
        "SpecError",
    ),
    (
        seen("airflow.exceptions.AirflowException", "PID of job runner does not match", "airflow"),
        "infra",
        "DuplicateExecution",
    ),
    (
        seen("builtins.str", "Detected a task instance without a heartbeat", "airflow"),
        "infra",
        "HeartbeatTimeout",
    ),
    (
        seen(
            None,
            system="airflow",
            log_tail=[
                "ERROR - Task did not emit heartbeat within time limit (300 seconds) and will be terminated."
            ],
        ),
        "infra",
        "HeartbeatTimeout",
    ),
    (
        seen(
            None, system="airflow", log_tail=["ERROR - Heartbeat time limit exceeded!"], signal=15
        ),
        "infra",
        "HeartbeatTimeout",
    ),
    (
        seen(
            None,
            system="airflow",
            signal=15,
            log_tail=[
                "WARNING - State of this instance has been externally set to failed. Terminating instance."
            ],
        ),
        "manual",
        "MarkedFailed",
    ),
    (
        seen(
            None,
            system="airflow",
            signal=15,
            log_tail=[
                "WARNING - State of this instance has been externally set to skipped. Terminating instance."
            ],
        ),
        "timeout",
        "RunTimeout",
    ),
    (
        seen(
            None,
            system="airflow",
            signal=15,
            log_tail=[
                "WARNING - State of this instance has been externally set to None. Terminating instance."
            ],
        ),
        "unknown",
        "ExternalStateChange",
    ),
    (
        seen(
            None,
            system="airflow",
            state={"http_status": 409, "reason": "not_running", "current_state": "failed"},
        ),
        "manual",
        "MarkedFailed",
    ),
    (
        seen(None, system="airflow", state={"http_status": 409, "reason": "running_elsewhere"}),
        "infra",
        "DuplicateExecution",
    ),
    (
        seen(
            None,
            system="airflow",
            log_tail=[
                "Executor CeleryExecutor(parallelism=32) reported that the task instance <TaskInstance: d.t m [running]> finished with state failed, but the task instance's state attribute is running. Learn more: ..."
            ],
        ),
        "infra",
        "WorkerLost",
    ),
    (
        seen(
            None,
            system="airflow",
            log_tail=[
                "Executor LocalExecutor(parallelism=32) reported that the task instance <TaskInstance: d.t m [queued]> finished with state failed, but the task instance's state attribute is queued. Learn more: ..."
            ],
        ),
        "infra",
        "NeverStarted",
    ),
    (
        seen(None, system="airflow", log_tail=["DagRun timed out after 0:10:00."], signal=15),
        "timeout",
        "RunTimeout",
    ),
    (
        seen(
            None, system="airflow", exit_code=1, log_tail=["INFO - Task exited with return code 1"]
        ),
        "unknown",
        "GenericExit",
    ),
    (
        seen(
            None,
            system="airflow",
            executor_event={
                "state": "failed",
                "info": "Pod failed because of Evicted",
                "pod_reason": "Evicted",
            },
            state={"ti_state": "running"},
        ),
        "infra",
        "Evicted",
    ),
    (
        seen(
            None,
            system="airflow",
            executor_event={"state": "failed", "pod_phase": "Failed", "container_reason": "Error"},
            exit_code=1,
        ),
        "application",
        "NonZeroExit",
    ),
    (
        seen(
            None,
            system="airflow",
            executor_event={"state": "failed", "info": "Pod failed because of None"},
            state={"ti_state": "running"},
        ),
        "unknown",
        "PodFailed",
    ),
    (
        seen(
            None,
            system="airflow",
            log_tail=["Event: Pod task-x deleted before it could complete, annotations: <omitted>"],
        ),
        "infra",
        "PodDeleted",
    ),
    (
        seen(
            "airflow.providers.cncf.kubernetes.utils.pod_manager.PodLaunchTimeoutException",
            "Pod took too long to be scheduled on the cluster, giving up. More than 120s.",
            "airflow",
        ),
        "infra",
        "StartTimeout",
    ),
    (
        seen(
            "airflow.providers.cncf.kubernetes.utils.pod_manager.PodLaunchFailedException",
            "Image cannot be pulled, unable to start: ErrImagePull\nmanifest unknown",
            "airflow",
        ),
        "application",
        "ImagePullFailure",
    ),
    (
        seen(
            "airflow.providers.cncf.kubernetes.utils.pod_manager.PodLaunchFailedException",
            'Pod docker image cannot be pulled, unable to start: ImagePullBackOff\nBack-off pulling image "x"',
            "airflow",
        ),
        "unknown",
        "ImagePullFailure",
    ),
    (
        seen(
            "airflow.exceptions.AirflowException",
            "Pod x-1 returned a failure.\nremote_pod: {'status': {'container_statuses': [{'state': {'terminated': {'reason': 'OOMKilled'}}}]}}",
            "airflow",
        ),
        "application",
        "OOMKilled",
    ),
    (
        seen("airflow.exceptions.AirflowException", "Pod x-1 returned a failure.", "airflow"),
        "unknown",
        "PodFailed",
    ),
    (
        seen(
            "builtins.str", "Failed to execute job 4 for task t (division by zero; 77)", "airflow"
        ),
        "application",
        "UserException",
    ),
    (
        seen(
            "builtins.str",
            "Failed to execute job 4 for task t (429 POST https://bigquery.googleapis.com/x: Exceeded rate limits; 77)",
            "airflow",
        ),
        "application",
        "RemoteThrottled",
    ),
    (
        seen(
            "sqlalchemy.exc.OperationalError",
            "(psycopg2.OperationalError) could not connect to server: Connection refused",
            "airflow",
        ),
        "application",
        "RemoteTransient",
    ),
)

CELERY: tuple[Row, ...] = (
    (
        seen(
            "billiard.exceptions.WorkerLostError",
            "Worker exited prematurely: signal 11 (SIGSEGV) Job: 2434.",
            "celery",
        ),
        "application",
        "NativeCrash",
    ),
    (
        seen(
            "billiard.exceptions.WorkerLostError", "Worker exited prematurely: signal 6.", "celery"
        ),
        "application",
        "NativeCrash",
    ),
    (
        seen("billiard.exceptions.WorkerLostError", "Worker exited prematurely.", "celery"),
        "infra",
        "WorkerLost",
    ),
    (
        seen(
            "billiard.exceptions.WorkerLostError",
            "Worker exited prematurely: exitcode 0.",
            "celery",
            log_tail=["worker: Warm shutdown (MainProcess)"],
        ),
        "infra",
        "WorkerShutdown",
    ),
    (
        seen(
            "billiard.exceptions.WorkerLostError",
            "Worker exited prematurely: exitcode 1 Job: 3.",
            "celery",
        ),
        "unknown",
        "WorkerLost",
    ),
    (
        seen(
            "billiard.exceptions.WorkerLostError",
            "Worker exited prematurely: signal 9 (SIGKILL) Job: 1.",
            "celery",
            oom_own=1,
        ),
        "application",
        "OutOfMemory",
    ),
    (seen("celery.exceptions.TaskRevokedError", "revoked", "celery"), "manual", "Cancelled"),
    (
        seen("celery.exceptions.NotRegistered", "'tasks.add'", "celery"),
        "application",
        "CodeLoadError",
    ),
    (
        seen(
            "kombu.exceptions.ContentDisallowed",
            "Refusing to deserialize untrusted content",
            "celery",
        ),
        "application",
        "CodeLoadError",
    ),
    (
        seen("kombu.exceptions.OperationalError", "[Errno 111] Connection refused", "celery"),
        "infra",
        "BrokerConnectionLost",
    ),
    (
        seen(
            "amqp.exceptions.ConnectionForced",
            "(0, 0): (320) CONNECTION_FORCED - broker forced connection closure",
            "celery",
            mro=["amqp.exceptions.ConnectionForced", "amqp.exceptions.AMQPError"],
        ),
        "infra",
        "BrokerConnectionLost",
    ),
    (
        seen(
            "redis.exceptions.ConnectionError",
            "Error 111 connecting to redis:6379. Connection refused.",
            "celery",
            log_tail=[
                "[ERROR/ForkPoolWorker-1] Task app.sync[x] raised unexpected: ConnectionError()"
            ],
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "celery.exceptions.MaxRetriesExceededError",
            "Can't retry x",
            "celery",
            cause=err("requests.exceptions.ConnectionError", "refused"),
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen("celery.exceptions.ChordError", "Dependency x raised ValueError('no')", "celery"),
        "application",
        "UpstreamFailed",
    ),
)

DASK: tuple[Row, ...] = (
    (
        seen(
            "distributed.scheduler.KilledWorker",
            "Attempted to run task 'x' on 4 different workers, but all those workers died while running it.",
            "dask",
        ),
        "infra",
        "WorkerLost",
    ),
    (
        seen("distributed.client.FutureCancelledError", "x cancelled for reason: unknown.", "dask"),
        "unknown",
        "Cancelled",
    ),
    (
        seen(
            "distributed.client.FutureCancelledError",
            "x cancelled for reason: lost dependencies.",
            "dask",
        ),
        "infra",
        "ResultLost",
    ),
    (
        seen(
            "distributed.scheduler.NoWorkerError",
            "Attempted to run task 'x' but timed out after 1 s waiting without any running workers.",
            "dask",
        ),
        "infra",
        "NeverStarted",
    ),
    (
        seen(
            "distributed.comm.core.CommClosedError", "in <TCP (closed)>: Stream is closed", "dask"
        ),
        "infra",
        "ConnectionLost",
    ),
)

RAY: tuple[Row, ...] = (
    (
        seen(
            "ray.exceptions.OutOfMemoryError",
            "Task was killed due to the node running low on memory.",
            "ray",
        ),
        "infra",
        "OutOfMemoryKill",
    ),
    (
        seen(
            "ray.exceptions.ActorDiedError",
            "The actor died unexpectedly before finishing this task.\nThe actor is dead because its node has died. Node Id: 1",
            "ray",
        ),
        "infra",
        "NodeLost",
    ),
    (
        seen(
            "ray.exceptions.ActorDiedError",
            "The actor died unexpectedly before finishing this task.\nThe actor is dead because it was killed by `ray.kill`.",
            "ray",
        ),
        "manual",
        "Cancelled",
    ),
    (
        seen(
            "ray.exceptions.RayActorError",
            "The actor died unexpectedly before finishing this task.",
            "ray",
        ),
        "infra",
        "WorkerLost",
    ),
    (
        seen(
            "ray.exceptions.ActorUnavailableError",
            "The actor x is unavailable: keepalive. The task may or may not have been executed on the actor.",
            "ray",
        ),
        "infra",
        "ConnectionLost",
    ),
    (
        seen(
            "ray.exceptions.ObjectLostError",
            "All copies of 00ff have been lost due to node failure.",
            "ray",
        ),
        "infra",
        "ResultLost",
    ),
    (
        seen(
            "ray.exceptions.RayTaskError(ConnectionError)",
            "ray::f() (pid=1)",
            "ray",
            mro=[
                "ray.exceptions.RayTaskError(ConnectionError)",
                "ray.exceptions.RayTaskError",
                "ray.exceptions.RayError",
                "builtins.ConnectionError",
                "builtins.OSError",
                "builtins.Exception",
            ],
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "ray.exceptions.RuntimeEnvSetupError",
            "Failed to set up runtime environment.\nNo matching distribution found for nosuch==1",
            "ray",
        ),
        "application",
        "EnvSetupFailure",
    ),
    (
        seen("ray.exceptions.GetTimeoutError", "Get timed out: some object(s) not ready.", "ray"),
        "application",
        "ClientTimeout",
    ),
    (
        seen(
            "ray.exceptions.TaskUnschedulableError",
            "The task is not schedulable: node is gone",
            "ray",
        ),
        "application",
        "Unschedulable",
    ),
)

PREFECT: tuple[Row, ...] = (
    (
        seen(
            "prefect.exceptions.ParameterTypeError",
            "Flow run received invalid parameters",
            "prefect",
        ),
        "application",
        "InvalidInput",
    ),
    (
        seen("prefect.exceptions.MissingResult", "State data is missing.", "prefect"),
        "application",
        "ResultLost",
    ),
    (
        seen(None, system="prefect", state={"state_type": "CANCELLED", "message": "x"}),
        "manual",
        "Cancelled",
    ),
    (
        seen(
            None,
            system="prefect",
            state={
                "state_type": "CRASHED",
                "message": "Flow run infrastructure exited with non-zero status code 1.",
            },
        ),
        "unknown",
        "GenericExit",
    ),
    (
        seen(
            None,
            system="prefect",
            state={
                "state_type": "CRASHED",
                "message": "Flow run infrastructure exited with non-zero status code -9.",
            },
        ),
        "infra",
        "KilledBySignal",
    ),
    (
        seen(
            None,
            system="prefect",
            state={
                "state_type": "CRASHED",
                "message": "Request to http://api/flow_runs/ failed: httpx.ConnectError: refused.",
            },
        ),
        "infra",
        "OrchestratorUnreachable",
    ),
    (
        seen(
            "httpx.ConnectError",
            "All connection attempts failed",
            "prefect",
            state={"state_type": "CRASHED"},
        ),
        "infra",
        "OrchestratorUnreachable",
    ),
    (seen("httpx.ReadTimeout", "", "prefect"), "application", "ClientTimeout"),
    (
        seen(
            "prefect.flow_engine.FlowRunTimeoutError",
            "Scope timed out after 5 second(s).",
            "prefect",
        ),
        "timeout",
        "ExecutionTimeout",
    ),
)

DAGSTER: tuple[Row, ...] = (
    (
        seen(
            None,
            system="dagster",
            state={
                "run_status": "FAILURE",
                "message": "Run timed out due to taking longer than 300 seconds to start.",
            },
        ),
        "infra",
        "StartTimeout",
    ),
    (
        seen(
            None,
            system="dagster",
            state={"run_status": "FAILURE", "message": "Exceeded maximum runtime of 60 seconds."},
        ),
        "timeout",
        "RunTimeout",
    ),
    (
        seen(
            "dagster._core.executor.child_process_executor.ChildProcessCrashException",
            "",
            "dagster",
            executor_event={
                "message": "Multiprocess executor: child process for step o was terminated by signal 11 (SIGSEGV)."
            },
        ),
        "application",
        "NativeCrash",
    ),
    (
        seen(
            "dagster._core.executor.child_process_executor.ChildProcessCrashException",
            "",
            "dagster",
            executor_event={
                "message": "Multiprocess executor: child process for step o unexpectedly exited with code 2."
            },
        ),
        "unknown",
        "GenericExit",
    ),
    (
        seen("dagster._core.errors.DagsterExecutionInterruptedError", "", "dagster"),
        "unknown",
        "Terminated",
    ),
    (
        seen(
            "dagster._core.errors.DagsterInvalidConfigError", "Error in config for job", "dagster"
        ),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            "dagster._core.errors.DagsterExecutionStepExecutionError",
            "Error occurred while executing op",
            "dagster",
            cause=err("requests.exceptions.ReadTimeout", "Read timed out."),
        ),
        "application",
        "ClientTimeout",
    ),
    (
        seen(
            "dagster._core.errors.DagsterLaunchFailedError",
            "Tried to start a run but it failed",
            "dagster",
        ),
        "infra",
        "SubmitFailure",
    ),
    (
        seen("dagster._core.definitions.events.Failure", "bad", "dagster"),
        "application",
        "UserException",
    ),
    (
        seen(
            None,
            system="dagster",
            log_tail=[
                "Step x failed health check: Kubernetes job y for step x could not be found."
            ],
        ),
        "infra",
        "WorkerLost",
    ),
)

QUEUES: tuple[Row, ...] = (
    (
        seen(
            "rq.timeouts.JobTimeoutException",
            "Task exceeded maximum timeout value (180 seconds)",
            "rq",
        ),
        "timeout",
        "ExecutionTimeout",
    ),
    (
        seen(
            "rq.worker.worker_classes.ShutDownImminentException",
            "shut down imminent (signal: SIGALRM)",
            "rq",
            mro=["rq.exceptions.ShutDownImminentException"],
        ),
        "infra",
        "WorkerShutdown",
    ),
    (
        seen(
            None,
            system="rq",
            log_tail=[
                "Moving job to FailedJobRegistry (Work-horse terminated unexpectedly; waitpid returned 9 (signal 9); )"
            ],
        ),
        "infra",
        "KilledBySignal",
    ),
    (
        seen(
            None,
            system="rq",
            log_tail=[
                "Moving job to FailedJobRegistry (Work-horse terminated unexpectedly; waitpid returned 15 (signal 15); )"
            ],
        ),
        "unknown",
        "Terminated",
    ),
    (
        seen("builtins.str", "Job stopped by user, work-horse terminated.", "rq"),
        "manual",
        "Cancelled",
    ),
    (seen("dramatiq.middleware.shutdown.Shutdown", "", "dramatiq"), "infra", "WorkerShutdown"),
    (seen("dramatiq.errors.ActorNotFound", "x", "dramatiq"), "application", "CodeLoadError"),
    (
        seen(
            "luigi.parameter.MissingParameterException",
            "No value for 'date'",
            "luigi",
            mro=["luigi.parameter.MissingParameterException", "luigi.parameter.ParameterException"],
        ),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            None,
            system="luigi",
            exit_code=-11,
            log_tail=["Task X died unexpectedly with exit code -11"],
        ),
        "application",
        "NativeCrash",
    ),
    (
        seen("temporalio.exceptions.ApplicationError", "x", "temporal"),
        "application",
        "UserException",
    ),
    (seen("temporalio.exceptions.CancelledError", "Cancelled", "temporal"), "manual", "Cancelled"),
    (
        seen("temporalio.exceptions.TimeoutError", "activity Heartbeat timeout", "temporal"),
        "infra",
        "HeartbeatTimeout",
    ),
    (
        seen(
            "submitit.core.utils.FailedJobError",
            "Job (task=0) failed during processing with trace:\n----------------------\nTraceback (most recent call last):",
            "slurm",
        ),
        "application",
        "UserException",
    ),
    (
        seen(
            "tenacity.RetryError",
            "RetryError[<Future at 0x0 state=finished raised ConnectionError>]",
            cause=err("builtins.ConnectionError", "refused"),
        ),
        "application",
        "RemoteTransient",
    ),
)

REMOTE: tuple[Row, ...] = (
    (
        seen("requests.exceptions.HTTPError", "401 Client Error: Unauthorized for url: https://x"),
        "application",
        "PermissionDenied",
    ),
    (
        seen("requests.exceptions.HTTPError", "404 Client Error: Not Found for url: https://x"),
        "application",
        "NotFound",
    ),
    (
        seen(
            "requests.exceptions.HTTPError",
            "429 Client Error: Too Many Requests for url: https://x",
        ),
        "application",
        "RemoteThrottled",
    ),
    (
        seen(
            "requests.exceptions.HTTPError",
            "503 Server Error: Service Unavailable for url: https://x",
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen("httpx.HTTPStatusError", "Server error '502 Bad Gateway' for url 'https://x'"),
        "application",
        "RemoteTransient",
    ),
    (
        seen("urllib.error.HTTPError", "HTTP Error 403: Forbidden"),
        "application",
        "PermissionDenied",
    ),
    (
        seen("requests.exceptions.MissingSchema", "Invalid URL 'x': No scheme supplied"),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            "urllib3.exceptions.MaxRetryError",
            "HTTPConnectionPool(host='x', port=80): Max retries exceeded",
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen("aiohttp.client_exceptions.ServerDisconnectedError", "Server disconnected"),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "aiohttp.client_exceptions.ClientResponseError",
            "500, message='Internal Server Error', url='https://x'",
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen("http.client.RemoteDisconnected", "Remote end closed connection without response"),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "grpc._channel._InactiveRpcError",
            '<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n\tdetails = "x">',
            mro=["grpc._channel._InactiveRpcError", "grpc.RpcError"],
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "grpc.aio._call.AioRpcError",
            "<AioRpcError of RPC that terminated with:\n\tstatus = StatusCode.PERMISSION_DENIED>",
        ),
        "application",
        "PermissionDenied",
    ),
    (
        seen(
            "botocore.exceptions.ClientError",
            "An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
        ),
        "application",
        "PermissionDenied",
    ),
    (
        seen(
            "botocore.errorfactory.NoSuchKey",
            "An error occurred (NoSuchKey) when calling the GetObject operation: x",
            mro=["botocore.errorfactory.NoSuchKey", "botocore.exceptions.ClientError"],
        ),
        "application",
        "NotFound",
    ),
    (
        seen(
            "botocore.exceptions.ClientError",
            "An error occurred (ValidationException) when calling the CreateJob operation: x",
        ),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            "botocore.exceptions.ClientError",
            "An error occurred (503) when calling the HeadObject operation: Slow Down",
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "botocore.exceptions.ClientError",
            "An error occurred (ExpiredToken) when calling the GetObject operation: The provided token has expired.",
        ),
        "application",
        "PermissionDenied",
    ),
    (
        seen("botocore.exceptions.NoCredentialsError", "Unable to locate credentials"),
        "application",
        "PermissionDenied",
    ),
    (
        seen(
            "botocore.exceptions.EndpointConnectionError",
            'Could not connect to the endpoint URL: "https://x"',
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen(
            "google.api_core.exceptions.TooManyRequests", "429 POST https://x: Exceeded rate limits"
        ),
        "application",
        "RemoteThrottled",
    ),
    (
        seen("google.api_core.exceptions.NotFound", "404 GET https://x: Not found: Table p:d.t"),
        "application",
        "NotFound",
    ),
    (
        seen("google.api_core.exceptions.BadRequest", "400 POST https://x: Unrecognized name: foo"),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            "google.auth.exceptions.DefaultCredentialsError",
            "Could not automatically determine credentials.",
        ),
        "application",
        "PermissionDenied",
    ),
    (
        seen("azure.core.exceptions.ClientAuthenticationError", "x"),
        "application",
        "PermissionDenied",
    ),
    (
        seen(
            "openai.RateLimitError",
            "Error code: 429 - {'error': {'message': 'Rate limit reached', 'code': 'rate_limit_exceeded'}}",
        ),
        "application",
        "RemoteThrottled",
    ),
    (seen("openai.APITimeoutError", "Request timed out."), "application", "ClientTimeout"),
    (
        seen("kubernetes.client.exceptions.ApiException", "(403)\nReason: Forbidden"),
        "application",
        "PermissionDenied",
    ),
    (
        seen("kubernetes.client.exceptions.ApiException", "(500)\nReason: Internal Server Error"),
        "application",
        "RemoteTransient",
    ),
    (
        seen("psycopg2.OperationalError", 'FATAL:  password authentication failed for user "x"'),
        "application",
        "PermissionDenied",
    ),
    (
        seen(
            "psycopg2.errors.UndefinedTable",
            'relation "t" does not exist',
            mro=[
                "psycopg2.errors.UndefinedTable",
                "psycopg2.ProgrammingError",
                "psycopg2.DatabaseError",
            ],
        ),
        "application",
        "RemoteRejected",
    ),
    (
        seen(
            "sqlalchemy.exc.OperationalError",
            "(pymysql.err.OperationalError) (2006, 'MySQL server has gone away')",
        ),
        "application",
        "RemoteTransient",
    ),
    (seen("sqlite3.OperationalError", "database is locked"), "application", "RemoteTransient"),
    (
        seen(
            "sqlalchemy.exc.TimeoutError",
            "QueuePool limit of size 5 overflow 10 reached, connection timed out",
        ),
        "application",
        "ResourceExhausted",
    ),
    (
        seen(
            "psycopg2.errors.DeadlockDetected",
            'deadlock detected\nCONTEXT:  while updating tuple in relation "orders"',
            mro=["psycopg2.errors.DeadlockDetected", "psycopg2.OperationalError"],
        ),
        "application",
        "RemoteTransient",
    ),
    (
        seen("jsonschema.exceptions.ValidationError", "'x' is a required property"),
        "application",
        "InvalidInput",
    ),
    (
        seen("pydantic.error_wrappers.ValidationError", "1 validation error for M"),
        "application",
        "InvalidInput",
    ),
    (
        seen(
            "yaml.scanner.ScannerError",
            "mapping values are not allowed here",
            mro=["yaml.scanner.ScannerError", "yaml.error.YAMLError"],
        ),
        "application",
        "InvalidInput",
    ),
    (
        seen("acme.client.AcmeError", "no luck", attributes={"status_code": 503}),
        "application",
        "RemoteTransient",
    ),
    (seen("acme.errors.JobError", "it broke"), "application", "UserException"),
)

TABLES = (BUILTINS, POOLS, GPU, AIRFLOW, CELERY, DASK, RAY, PREFECT, DAGSTER, QUEUES, REMOTE)
ROWS: tuple[Row, ...] = tuple(row for table in TABLES for row in table)
