"""Which engine's log a system can hold: a line of one engine means nothing on another."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import Not, is_not

_ENGINES: Final = (
    *("airflow", "prefect", "dagster", "rq", "ray", "dask", "celery", "dramatiq", "luigi"),
    *("temporal", "spark", "yarn", "slurm", "lsf", "pbs", "sge", "htcondor", "nomad"),
    *("aws-batch", "ecs", "gcp-batch", "azure-batch", "sagemaker", "databricks"),
    *("github-actions", "gitlab-ci", "nextflow"),
)


def not_elsewhere(*own: str) -> Not:
    """The system is not known to be another engine than these."""
    return is_not(*(name for name in _ENGINES if name not in own))


AIRFLOW_OR_BELOW: Final = not_elsewhere("airflow", "celery")
PREFECT: Final = not_elsewhere("prefect")
DAGSTER: Final = not_elsewhere("dagster")
RQ: Final = not_elsewhere("rq")

SAID: Final = (
    r"(?m)(?:^|\b(?:ERROR|WARNING|CRITICAL)(?: {0,4}\| [\w.]{1,60})? - "
    r"|\[(?:error|warning|critical) {0,4}\] )"
)
"""Where an engine's own sentence begins: at the start of a line, or after a logger's prefix."""
