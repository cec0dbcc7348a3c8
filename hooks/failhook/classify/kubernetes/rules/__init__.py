"""The tables of Kubernetes, in their order; within a tier an earlier entry goes first."""

from __future__ import annotations

from typing import Final

from failhook.classify.kubernetes.rules.admission import ADMISSIONS
from failhook.classify.kubernetes.rules.api import ANSWERS
from failhook.classify.kubernetes.rules.deadlines import DEADLINES
from failhook.classify.kubernetes.rules.disruption import DISRUPTIONS
from failhook.classify.kubernetes.rules.ends import ENDS
from failhook.classify.kubernetes.rules.images import IMAGES
from failhook.classify.kubernetes.rules.leftovers import LEFTOVERS
from failhook.classify.kubernetes.rules.nodes import NODES
from failhook.classify.kubernetes.rules.owners import OWNERS
from failhook.classify.kubernetes.rules.removal import REMOVALS
from failhook.classify.kubernetes.rules.runs import RUNS
from failhook.classify.kubernetes.rules.sidecars import SIDECAR_ENDS
from failhook.classify.kubernetes.rules.starting import STARTS
from failhook.classify.kubernetes.rules.surroundings import SURROUNDINGS
from failhook.classify.kubernetes.rules.witnesses import WITNESSES
from failhook.classify.rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    *DEADLINES,
    *DISRUPTIONS,
    *NODES,
    *ADMISSIONS,
    *ANSWERS,
    *RUNS,
    *OWNERS,
    *WITNESSES,
    *REMOVALS,
    *IMAGES,
    *STARTS,
    *SURROUNDINGS,
    *ENDS,
    *SIDECAR_ENDS,
    *LEFTOVERS,
)
