"""Tables that fit: 80 columns hold what matters, a wider terminal more, a pipe everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from failhook.cli.terminal import one_line, padded, shortened, terminal_width, width_of

_GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        title: stands above it.
        cells: from top to bottom.
        right: numbers are set to the right.
        least: columns that it keeps where space is short; None is never cut.
        extra: shown only where the whole table has room for it.
        middle: cut in the middle, so that the end of a key stays.
    """

    title: str
    cells: Sequence[str]
    right: bool = False
    least: int | None = None
    extra: bool = False
    middle: bool = False

    @property
    def width(self) -> int:
        """Return the columns that it takes uncut."""
        return max(map(width_of, (self.title, *self.cells)))


def table_lines(columns: Sequence[Column], indent: str = "") -> list[str]:
    """Return a table as wide as standard output shows it; a last line says what was cut.

    A column without any text is left out. Where standard output is no terminal nothing is cut.

    Args:
        columns: with as many cells each.
        indent: stands before each line.
    """
    width = terminal_width()
    lines, cut = fitted(columns, None if width is None else width - len(indent))
    if cut:
        lines.append(f"(cut to {width} columns; a pipe gets everything, and so does --json)")
    return [f"{indent}{line}" for line in lines]


def fitted(columns: Sequence[Column], width: int | None) -> tuple[list[str], bool]:
    """Return the lines of a table, and whether a cell of it is cut.

    Args:
        columns: with as many cells each.
        width: columns that a line may take; None sets no limit.
    """
    shown = [
        replace(column, cells=[one_line(cell) for cell in column.cells])
        for column in columns
        if any(column.cells)
    ]
    widths = [column.width for column in shown]
    while width is not None and _line_width(widths) > width and any(each.extra for each in shown):
        last = max(at for at, column in enumerate(shown) if column.extra)
        del shown[last], widths[last]
    while width is not None and _line_width(widths) > width:
        loose = [at for at, column in enumerate(shown) if widths[at] > (column.least or widths[at])]
        if not loose:
            break
        widths[max(loose, key=widths.__getitem__)] -= 1
    cut = any(given < column.width for given, column in zip(widths, shown, strict=True))
    rows = zip(*((column.title, *column.cells) for column in shown), strict=True)
    return [_line(row, shown, widths) for row in rows], cut


def _line_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _line(row: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    cells = [
        padded(shortened(cell, width, middle=column.middle), width, right=column.right)
        for cell, column, width in zip(row, columns, widths, strict=True)
    ]
    return _GAP.join(cells).rstrip(" ")
