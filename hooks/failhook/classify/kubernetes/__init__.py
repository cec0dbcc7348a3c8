"""Pods as the API or the Python client gives them, with what owned them and what was said of them.

`reader` puts a document down as facts (``pod.reason``, ``pod.ended``, ``kube.owner.failed``, ...),
`phrases` says what the platform's own texts mean, and `rules` holds the tables.
"""

from __future__ import annotations

from typing import Final

from failhook.classify.kubernetes.derived import DERIVED
from failhook.classify.kubernetes.reader import FIELDS, read
from failhook.classify.kubernetes.rules import RULES
from failhook.classify.kubernetes.shapes import SYSTEM, known
from failhook.classify.source import Source

SOURCE: Final = Source(
    name="kubernetes",
    systems=frozenset((SYSTEM,)),
    fields=FIELDS,
    read=read,
    rules=RULES,
    derived=DERIVED,
    shapes=(known,),
)
