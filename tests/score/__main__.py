"""Prints how right the verdicts are on the real failures in tests/cases: ``make score``."""

from __future__ import annotations

import sys

from tests.score.report import HEAD, rows


def main() -> int:
    """Score and print."""
    table = [HEAD, *rows()]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
