"""Runs of Tekton, and the jobs of Volcano and KubeRay: reasons that their controllers document."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, like, one_of
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)
from failhook.details import Started

_TEKTON: Final = "https://tekton.dev/docs/pipelines/taskruns/#monitoring-execution-status"
_PIPELINES: Final = (
    "https://tekton.dev/docs/pipelines/pipeline-api/#tekton.dev/v1.PipelineRunReason"
)
_VOLCANO: Final = (
    "https://github.com/volcano-sh/volcano/blob/master/staging/src/volcano.sh/apis/pkg/apis/bus/"
    "v1alpha1/events.go"
)
_KUBERAY: Final = (
    "https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/rayjob_types.go"
)
_LOOK_AT_PODS: Final = "Look at the pods of the run: the last of them says why it failed."

RUNS: Final = (
    Rule(
        id="kubernetes.run.timeout",
        tier=Tier.DEADLINE,
        when={"kube.run.failed": one_of("TaskRunTimeout", "PipelineRunTimeout")},
        kind=TIMEOUT,
        reason=Take("kube.run.failed"),
        confidence=CONFIRMED,
        message="{kube.run.failed}: {kube.owner.message}",
        because="Tekton ended the run because its own timeout had passed.",
        source=_TEKTON,
        next_step="Compare the timeout with how long earlier runs took.",
    ),
    Rule(
        id="kubernetes.run.step-timeout",
        tier=Tier.DEADLINE,
        when={"kube.run.step": "TimeoutExceeded"},
        kind=TIMEOUT,
        reason="TimeoutExceeded",
        confidence=CONFIRMED,
        message="{kube.run.failed}: {kube.owner.message}",
        because="Tekton ended the step because the step's own timeout had passed.",
        source="https://tekton.dev/docs/pipelines/tasks/#specifying-a-timeout",
        next_step="Compare the timeout of the step with how long it took before.",
    ),
    Rule(
        id="kubernetes.run.timeout.pipeline",
        tier=Tier.CANCEL,
        when={
            "kube.run.failed": "TaskRunCancelled",
            "kube.owner.message": like(r"cancelled as the PipelineRun it belongs to has timed out"),
        },
        kind=TIMEOUT,
        reason="PipelineRunTimeout",
        confidence=CONFIRMED,
        message="{kube.run.failed}: {kube.owner.message}",
        because="Tekton cancelled the run because the timeout of its pipeline had passed.",
        source="https://tekton.dev/docs/pipelines/pipelineruns/#configuring-a-failure-timeout",
        next_step="Compare the timeouts of the pipeline with how long earlier runs took.",
    ),
    Rule(
        id="kubernetes.run.cancelled",
        tier=Tier.CANCEL,
        when={
            "kube.run.failed": one_of(
                *("TaskRunCancelled", "PipelineRunCancelled", "Cancelled"),
                *("CancelledRunningFinally", "StoppedRunningFinally"),
            )
        },
        kind=MANUAL,
        reason=Take("kube.run.failed"),
        confidence=CONFIRMED,
        message="{kube.run.failed}: {kube.owner.message}",
        because="Somebody cancelled the run.",
        source=_TEKTON,
        next_step="Ask who changed spec.status of the run.",
    ),
    Rule(
        id="kubernetes.run.quota",
        tier=Tier.DISRUPTION,
        when={"kube.run.failed": "ExceededResourceQuota"},
        kind=INFRA,
        reason=Take("kube.run.failed"),
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        executor_side=True,
        message="{kube.run.failed}: {kube.owner.message}",
        because="The namespace's quota is used up by what runs at present.",
        source="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
        next_step="Wait for other pods to end, or raise the quota of the namespace.",
    ),
    Rule(
        id="kubernetes.run.invalid",
        tier=Tier.CONTAINER,
        when={
            "kube.run.failed": one_of(
                *("TaskRunValidationFailed", "TaskValidationFailed", "InvalidParamValue"),
                *("TaskRunResolutionFailed", "ResourceVerificationFailed", "CouldntGetTask"),
                *("PipelineValidationFailed", "ParameterMissing", "ParameterTypeMismatch"),
                *("CouldntGetPipeline", "InvalidWorkspaceBindings", "InvalidTaskRunSpecs"),
                *("InvalidPipelineResourceBindings", "ObjectParameterMissKeys"),
                *("ParamArrayIndexingInvalid", "PipelineInvalidGraph", "CELEvaluationFailed"),
                *("InvalidMatrixParameterTypes", "InvalidTaskResultReference"),
                *("RequiredWorkspaceMarkedOptional", "TaskRunResultLargerThanAllowedLimit"),
            )
        },
        kind=APPLICATION,
        reason=Take("kube.run.failed"),
        deterministic=True,
        confidence=LIKELY,
        message="{kube.run.failed}: {kube.owner.message}",
        because="The run's own definition is not valid, and stays so.",
        source=_PIPELINES,
        next_step="Correct what the message names.",
    ),
    Rule(
        id="kubernetes.run.failed",
        tier=Tier.NOTHING,
        when={"kube.run.failed": PRESENT},
        kind=UNKNOWN,
        reason=Take("kube.run.failed"),
        message="{kube.run.failed}: {kube.owner.message}",
        because="The run failed; its pod says why.",
        source=_TEKTON,
        next_step=_LOOK_AT_PODS,
    ),
    Rule(
        id="kubernetes.volcano.stopped",
        tier=Tier.CANCEL,
        when={"kube.owner.failed": "CommandIssued"},
        kind=MANUAL,
        reason="CommandIssued",
        confidence=LIKELY,
        message="{kube.owner.said}",
        because="Somebody gave Volcano a command for the job, such as to abort it.",
        source=_VOLCANO,
        next_step="Ask who gave the command: it is an object of the kind Command.",
    ),
    Rule(
        id="kubernetes.volcano.evicted",
        tier=Tier.DISRUPTION,
        when={"kube.owner.failed": "PodEvicted"},
        kind=INFRA,
        reason="PodEvicted",
        deterministic=False,
        confidence=LIKELY,
        message="{kube.owner.said}",
        because="A pod of the job was deleted or evicted while the job went on.",
        source=_VOLCANO,
        next_step="Look for who deleted the pod: a preemption, a drain, a person.",
    ),
    Rule(
        id="kubernetes.rayjob.invalid",
        tier=Tier.CONTAINER,
        when={"kube.owner.failed": "ValidationFailed"},
        kind=APPLICATION,
        reason="ValidationFailed",
        deterministic=True,
        confidence=CONFIRMED,
        started=Started.NO,
        message="{kube.owner.said}",
        because="KubeRay refused what the job's specification says.",
        source=_KUBERAY,
        next_step="Correct what the message names.",
    ),
)
