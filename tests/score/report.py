"""The scores as a table."""

from __future__ import annotations

from collections.abc import Sequence

from tests.score.cases import LEVELS, Classify, Score, at_level, load, score
from tests.score.classifiers import failhook, keywords

HEAD = ("classifier", "labels", "cases", "kind", "reason", "unsafe refunds", "deterministic")


def rows() -> list[Sequence[str]]:
    """Return one row per classifier and confidence of the label."""
    cases = load()
    scored: tuple[tuple[str, Classify], ...] = (
        ("failhook", failhook()),
        ("naive keywords", keywords),
    )
    return [
        _row(name, level, score(at_level(cases, level), classify))
        for name, classify in scored
        for level in LEVELS
    ]


def _row(name: str, level: str, result: Score) -> Sequence[str]:
    return (
        name,
        level,
        str(result.cases),
        _percent(result.kind, result.cases),
        _percent(result.reason, result.cases),
        f"{result.unsafe} of {result.not_infra}",
        _percent(result.deterministic, result.labelled),
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"
