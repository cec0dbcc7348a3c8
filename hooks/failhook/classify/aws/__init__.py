"""AWS Batch, ECS and Fargate; `sagemaker` is a source of its own."""

from __future__ import annotations

from typing import Final

from failhook.classify.aws.stops import ENDS, STOPS
from failhook.classify.aws.tasks import BATCH, ECS, FIELDS, batch_shape, ecs_shape, read
from failhook.classify.source import Source

SOURCE: Final = Source(
    name="aws",
    systems=BATCH | ECS,
    fields=frozenset(FIELDS),
    read=read,
    rules=(*STOPS, *ENDS),
    shapes=(batch_shape, ecs_shape),
)
