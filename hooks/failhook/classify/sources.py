"""All built-in sources of evidence. Within a tier, the rules of an earlier source go first."""

from __future__ import annotations

from typing import Final

from failhook.classify import (
    aws,
    azure_batch,
    condor,
    databricks,
    docker,
    gcp_batch,
    hadoop,
    kernel,
    kubernetes,
    nextflow,
    nomad,
    other,
    process,
    python,
    ray_states,
    slurm,
    systemd,
)
from failhook.classify.aws import sagemaker
from failhook.classify.ci import github, gitlab
from failhook.classify.hpc import grid_engine, lsf, pbs
from failhook.classify.source import Source

# What a supervisor saw comes last: a wait status says less than what explains it.
SOURCES: Final[tuple[Source, ...]] = (
    kubernetes.SOURCE,
    python.SOURCE,
    kernel.SOURCE,
    slurm.SOURCE,
    aws.SOURCE,
    sagemaker.SOURCE,
    docker.SOURCE,
    gcp_batch.SOURCE,
    azure_batch.SOURCE,
    hadoop.SOURCE,
    condor.SOURCE,
    lsf.SOURCE,
    pbs.SOURCE,
    grid_engine.SOURCE,
    nomad.SOURCE,
    systemd.SOURCE,
    databricks.SOURCE,
    github.SOURCE,
    gitlab.SOURCE,
    ray_states.SOURCE,
    nextflow.SOURCE,
    other.SOURCE,
    process.SOURCE,
)
