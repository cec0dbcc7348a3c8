"""A document as people read it."""

from __future__ import annotations

from failhook.cli.outline import outline


def test_a_document_is_told_line_by_line():
    """Each value stands below its name, long texts as they are, what says nothing is left out."""
    document = {
        "type": "failed",
        "error": {"traceback": "Traceback:\n  File x\n\nValueError: \x1b[31m", "message": ""},
        "budgets": {"user": {"used": 0, "limit": 1}},
        "evidence": [{"path": "signal", "value": 9}, {"nested": {"name": "x"}}, "text"],
        "final": True,
        "cleanup": False,
        "previous": None,
    }

    assert [
        "  type: failed",
        "  error",
        "    traceback",
        "      Traceback:",
        "        File x",
        "",
        r"      ValueError: \x1b[31m",
        "  budgets",
        "    user: used 0, limit 1",
        "  evidence",
        "    - path signal, value 9",
        "    -",
        "      nested",
        "        name: x",
        "    - text",
        "  final: true",
    ] == outline(document, 1)
