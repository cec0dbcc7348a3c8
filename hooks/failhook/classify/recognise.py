"""From a document of any known shape to evidence: an evidence document, or a bare native record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from failhook.classify.python.traceback_text import from_text
from failhook.classify.sources import SOURCES
from failhook.errors import EvidenceError
from failhook.evidence import Evidence


def recognise(document: object) -> Evidence:
    """Return the evidence that a document holds.

    It is an evidence document (``system``, ``evidence``, ``context``), a record that names itself
    (a Pod or List as ``kubectl get -o json`` prints it, an AWS Batch job, ...), also as the only
    one in an array, the text that a command such as sacct printed, or that of a Python traceback.

    Raises:
        EvidenceError: no source knows a document of this shape.
    """
    if isinstance(document, str):
        return _of_text(document)
    only = cast("list[object]", document) if isinstance(document, list) else [document]
    if len(only) != 1 or not isinstance(only[0], Mapping):
        what = _called(only[0]) if len(only) == 1 else f"a list of {len(only)}"
        msg = f"evidence is {what}; it must be an object or a text"
        raise EvidenceError(msg)
    record = cast("Mapping[str, Any]", only[0])
    if isinstance(record.get("evidence"), Mapping):
        return Evidence.from_dict(record)
    for source in SOURCES:
        for shape in source.shapes:
            evidence = shape(record)
            if evidence is not None:
                return evidence
    msg = (
        'no known shape; give {"system": ..., "evidence": {...}} or a native record, '
        f"not an object with {', '.join(sorted(map(str, record))[:8]) or 'nothing in it'}"
    )
    raise EvidenceError(msg)


def _called(value: object) -> str:
    """Return JSON's word for a value that is no object."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "a text in a list"


def _of_text(text: str) -> Evidence:
    for source in SOURCES:
        for shape in source.texts:
            evidence = shape(text)
            if evidence is not None:
                return evidence
    return from_text(text)
