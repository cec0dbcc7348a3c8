"""What Python raised: by class along the MRO, chain, message and frames; nothing is imported."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import OneOf
from failhook.classify.python import derived
from failhook.classify.python.airflow import AIRFLOW
from failhook.classify.python.airflow import derived as airflow_derived
from failhook.classify.python.builtins import BUILTINS, FALLBACKS
from failhook.classify.python.celery import CELERY
from failhook.classify.python.clients import CLIENTS
from failhook.classify.python.cloud import CLOUD
from failhook.classify.python.dagster import DAGSTER
from failhook.classify.python.dask import DASK
from failhook.classify.python.database import DATABASE, PLATFORM
from failhook.classify.python.gpu import GPU
from failhook.classify.python.http import HTTP, STATUSES
from failhook.classify.python.log_lines import LOG_LINES
from failhook.classify.python.marks import MARKS
from failhook.classify.python.names import distinct_names
from failhook.classify.python.operating_system import OPERATING_SYSTEM
from failhook.classify.python.platform_frames import PLATFORM_FRAMES
from failhook.classify.python.pools import POOLS
from failhook.classify.python.prefect import PREFECT
from failhook.classify.python.queues import QUEUES
from failhook.classify.python.ray import RAY
from failhook.classify.python.reader import Reader
from failhook.classify.python.schemas import SCHEMAS
from failhook.classify.python.sentences import TEXTS
from failhook.classify.python.spark import SPARK
from failhook.classify.rule import Rule
from failhook.classify.source import Source

# Frameworks first: their classes often derive from a builtin that says less.
_TABLES: Final[tuple[tuple[Rule, ...], ...]] = (
    *(MARKS, GPU, AIRFLOW, PLATFORM, CELERY, DASK, RAY, PREFECT, DAGSTER, QUEUES, CLIENTS, SPARK),
    *(PLATFORM_FRAMES, POOLS, CLOUD, STATUSES, HTTP, DATABASE, SCHEMAS, TEXTS),
    *(BUILTINS, OPERATING_SYSTEM, FALLBACKS, LOG_LINES),
)

_RULES: Final = tuple(rule for table in _TABLES for rule in table)
_CLASSES: Final = tuple(
    name
    for rule in _RULES
    if isinstance(classes := rule.conditions.get("exception.is"), OneOf)
    for name in classes.values
    if isinstance(name, str)
)

SOURCE: Final = Source(
    name="python",
    read=Reader(distinct_names(_CLASSES)),
    rules=_RULES,
    derived={**derived.DERIVED, **airflow_derived.DERIVED},
)
