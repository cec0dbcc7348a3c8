"""Pods as Airflow's Kubernetes executor and KubernetesPodOperator report them."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like, one_of
from failhook.classify.python.engines import AIRFLOW_OR_BELOW
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)
from failhook.details import Hint, Started

_POD_MANAGER: Final = (
    "https://github.com/apache/airflow/blob/main/providers/cncf/kubernetes/src/airflow/providers"
    "/cncf/kubernetes/utils/pod_manager.py"
)
_EXECUTOR: Final = (
    "https://airflow.apache.org/docs/apache-airflow-providers-cncf-kubernetes/stable"
    "/kubernetes_executor.html"
)
_DISRUPTION: Final = (
    "https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions"
)
_EXCEPTION: Final = ("airflow.AirflowException", "str")
_API: Final = ("kubernetes.ApiException", "kubernetes_asyncio.ApiException")
_LAUNCH: Final = ("airflow.PodLaunchFailedException", "airflow.AirflowException", "str")
_PULL: Final = r"(?:ErrImagePull|ImagePullBackOff|Back-off pulling image|[Ii]mage cannot be pulled)"

_PLATFORM_REASONS: Final = one_of(
    *("Preempting", "NodeLost", "Terminated", "NodeShutdown", "Shutdown", "PodDeleted", "Evicted"),
    *(
        "DisruptionTarget",
        "PreemptionByScheduler",
        "DeletionByTaintManager",
        "EvictionByEvictionAPI",
    ),
    *("DeletionByPodGC", "TerminationByKubelet", "DeletionByDeviceTaintManager", "ProviderFailed"),
)

PODS: Final = (
    Rule(
        id="airflow.pod.own-storage-limit",
        tier=Tier.DISRUPTION,
        when={
            "executor_event.pod_reason": "Evicted",
            "executor_event.pod_message": like(
                r"exceeds the (?:limit|total limit of containers)"
                r"|exceeded its local ephemeral storage"
            ),
        },
        kind=APPLICATION,
        reason="Evicted",
        because="The pod passed its own storage limit, which is part of the task.",
        source="https://kubernetes.io/docs/concepts/storage/ephemeral-storage/",
    ),
    Rule(
        id="airflow.pod.disrupted",
        tier=Tier.DISRUPTION,
        when={"executor.pod_reason": _PLATFORM_REASONS, "system": AIRFLOW_OR_BELOW},
        kind=INFRA,
        reason=Take("executor.pod_reason"),
        deterministic=False,
        message="The pod was ended by the cluster: {executor.pod_reason}.",
        because="The pod's own reason names what the cluster did to it.",
        source=_DISRUPTION,
    ),
    Rule(
        id="airflow.pod.deadline",
        tier=Tier.DISRUPTION,
        when={"executor.pod_reason": "DeadlineExceeded"},
        kind=TIMEOUT,
        reason="ExecutionTimeout",
        confidence=CONFIRMED,
        because="The pod ran longer than its activeDeadlineSeconds.",
        source="https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup",
    ),
    Rule(
        id="airflow.pod.not-admitted",
        tier=Tier.DISRUPTION,
        when={
            "executor.pod_reason": like(
                r"^(?:OutOf\w{1,40}|UnexpectedAdmissionError|NodeAffinity)$"
            )
        },
        kind=INFRA,
        reason=Take("executor.pod_reason"),
        deterministic=False,
        started=Started.NO,
        because="The node did not admit the pod, so nothing ran.",
        source="https://kubernetes.io/docs/concepts/scheduling-eviction/",
    ),
    Rule(
        id="airflow.pod.oom-killed",
        tier=Tier.CONTAINER,
        when={"executor_event.container_reason": "OOMKilled"},
        kind=APPLICATION,
        reason="OOMKilled",
        confidence=CONFIRMED,
        hint=Hint.MORE_MEMORY,
        message="The container was killed for passing its memory limit.",
        because="The container passed its own memory limit.",
        source="https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
    ),
    Rule(
        id="airflow.pod.image-missing",
        tier=Tier.CONTAINER,
        when={
            "executor_event.container_reason": one_of("InvalidImageName", "ErrImageNeverPull"),
        },
        kind=APPLICATION,
        reason=Take("executor_event.container_reason"),
        deterministic=True,
        started=Started.NO,
        because="The image's name is not valid, or the image may not be pulled.",
        source="https://kubernetes.io/docs/concepts/containers/images/",
    ),
    Rule(
        id="airflow.pod.image-pull",
        tier=Tier.CONTAINER,
        when={"executor_event.container_reason": one_of("ErrImagePull", "ImagePullBackOff")},
        kind=UNKNOWN,
        reason=Take("executor_event.container_reason"),
        confidence=GUESS,
        started=Started.NO,
        because="The image was not pulled; a wrong name and a registry in trouble look alike.",
        source="https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff",
    ),
    Rule(
        id="airflow.pod.cannot-run",
        tier=Tier.CONTAINER,
        when={
            "executor_event.container_reason": one_of(
                "ContainerCannotRun", "StartError", "CreateContainerConfigError"
            )
        },
        kind=APPLICATION,
        reason=Take("executor_event.container_reason"),
        deterministic=True,
        started=Started.NO,
        because="The container's command or configuration cannot be used.",
        source="https://kubernetes.io/docs/tasks/debug/debug-application/debug-pods/",
    ),
    Rule(
        id="airflow.pod.exit-code",
        tier=Tier.CONTAINER,
        when={
            "executor_event.container_reason": "Error",
            "exit_code": one_of(*range(1, 126)),
        },
        kind=APPLICATION,
        reason="NonZeroExit",
        ended_by_itself=True,
        message="The container exited with code {exit_code}.",
        because="The container ended by itself and said that it failed.",
        source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states",
    ),
    Rule(
        id="airflow.pod.no-reason",
        tier=Tier.MISMATCH,
        when={"executor_event.info": like(r"^Pod failed because of None|^Pod failed$")},
        kind=UNKNOWN,
        reason="PodFailed",
        confidence=GUESS,
        because="The pod failed without a reason; a memory kill and a plain exit look alike.",
        source=_EXECUTOR,
    ),
    Rule(
        id="airflow.pod.no-reason.logged",
        tier=Tier.LOG,
        when={"log": has("Pod failed because of None")},
        kind=UNKNOWN,
        reason="PodFailed",
        confidence=GUESS,
        because="The pod failed without a reason; a memory kill and a plain exit look alike.",
        source=_EXECUTOR,
    ),
    Rule(
        id="airflow.pod.deleted",
        tier=Tier.DISRUPTION,
        when={
            "log": like(
                r"Event: Pod \S{1,300} deleted before it could complete"
                r"|Event: Failed to start pod \S{1,300} because it was deleted"
            )
        },
        kind=INFRA,
        reason="PodDeleted",
        because="The pod was removed while the task ran, and Airflow did not ask for that.",
        source=_EXECUTOR,
    ),
    raised(
        "airflow.launch.pull-transient",
        ("airflow.PodLaunchFailedException", "str"),
        INFRA,
        "ImagePullFailure",
        when={
            "exception.message": like(_PULL),
            "text": like(
                r"pull QPS exceeded|rate limit|too ?many ?requests|quota exceeded"
                r"|temporarily unavailable|time-?d? ?out|account limit|bad gateway"
                r"|service unavailable"
                r"|gateway timeout|TLS handshake|connection (?:reset|refused)"
                r"|no such host|\b50[0234]\b"
                r"|unexpected EOF",
                ignore_case=True,
            ),
        },
        deterministic=False,
        started=Started.NO,
        because="The registry was throttling or not reachable; the image is fine.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.launch.pull-refused",
        _LAUNCH,
        APPLICATION,
        "ImagePullFailure",
        when={
            "exception.message": like(_PULL),
            "text": like(
                r"not found|manifest unknown|no match for platform|invalid reference|unauthorized"
                r"|denied|forbidden|authentication required|does not exist|InvalidImageName"
                r"|ErrImageNeverPull",
                ignore_case=True,
            ),
        },
        deterministic=True,
        started=Started.NO,
        because="There is no such image, or the pod may not pull it.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.launch.bad-image",
        _LAUNCH,
        APPLICATION,
        "ImagePullFailure",
        when={"exception.message": has("InvalidImageName", "ErrImageNeverPull")},
        deterministic=True,
        started=Started.NO,
        because="The image's name is not valid, or it may not be pulled.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.launch.pull-unknown",
        _LAUNCH,
        UNKNOWN,
        "ImagePullFailure",
        when={"exception.message": like(_PULL)},
        confidence=GUESS,
        started=Started.NO,
        because="The image was not pulled; a wrong name and a registry in trouble look alike.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.launch.timeout",
        ("airflow.PodLaunchTimeoutException", *_EXCEPTION),
        INFRA,
        "StartTimeout",
        when={
            "exception.message": like(
                r"^[Pp]od (?:\S{1,300} )?took too long to (?:start|be scheduled)|^Pod did not leave"
                r"|^[Pp]od (?:launch|start) ?timeout"
            )
        },
        started=Started.NO,
        ended_by_itself=False,
        because="The pod never began within the time that the platform has for that.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.launch.before-containers",
        "airflow.PodLaunchFailedException",
        INFRA,
        "NeverStarted",
        started=Started.NO,
        ended_by_itself=False,
        because="The pod failed before its containers started.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.pod-operator.oom-killed",
        _EXCEPTION,
        APPLICATION,
        "OOMKilled",
        when={
            "exception.message": like(r"^Pod \S{1,300} returned a failure"),
            "text": like(r"['\"]?reason['\"]?: ['\"]OOMKilled['\"]|State: [^\n]{0,80}OOMKilled"),
        },
        hint=Hint.MORE_MEMORY,
        ended_by_itself=False,
        because="The pod's status, which Airflow prints, says that it passed its memory limit.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.pod-operator.gone",
        ("airflow.PodNotFoundException", "airflow.PodReattachFailure"),
        INFRA,
        "PodDeleted",
        ended_by_itself=False,
        because="The pod is gone, and Airflow did not remove it.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.pod-operator.api-failed",
        _API,
        INFRA,
        "SubmitFailure",
        when={
            "exception.status": one_of(429, *range(500, 600)),
            "frames": like(r"/airflow/providers/cncf/kubernetes/"),
        },
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="The operator asked the cluster for its pod, and the cluster's API failed.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.pod-operator.lookup",
        _API,
        UNKNOWN,
        "PodFailed",
        when={"system": "airflow", "exception.status": 404},
        confidence=GUESS,
        ended_by_itself=False,
        because="The pod was asked for when it was gone already, so its true end is not known.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.pod-operator.failed",
        _EXCEPTION,
        UNKNOWN,
        "PodFailed",
        when={
            "exception.message": like(
                r"^Pod \S{1,300} returned a failure|^Pod (?:Launching )?[Ff]ailed"
            )
        },
        confidence=GUESS,
        ended_by_itself=False,
        because="Airflow says only that the pod failed.",
        source=_POD_MANAGER,
    ),
    raised(
        "airflow.kubernetes-api",
        (
            "airflow.KubernetesApiException",
            "airflow.KubernetesApiError",
            "airflow.PodCredentialsExpiredFailure",
        ),
        INFRA,
        "OrchestratorUnreachable",
        executor_side=True,
        because="The cluster's API did not answer Airflow; the pod's own end is not known.",
        source=_POD_MANAGER,
    ),
)
