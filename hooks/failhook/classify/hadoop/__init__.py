"""YARN, MapReduce, and Spark's executors."""

from __future__ import annotations

from typing import Final

from failhook.classify.hadoop.containers import CONTAINERS
from failhook.classify.hadoop.executors import EXECUTORS
from failhook.classify.hadoop.reader import FIELDS, SPARK, YARN, read, shape
from failhook.classify.source import Source

SOURCE: Final = Source(
    name="hadoop",
    systems=YARN | SPARK,
    fields=frozenset(FIELDS),
    read=read,
    rules=(*CONTAINERS, *EXECUTORS),
    shapes=(shape,),
)
