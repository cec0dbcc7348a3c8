"""Tables: 80 columns hold what matters, a wider terminal more, a pipe everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.cli.table import Column, fitted, table_lines
from failhook.cli.terminal import width_of

KEY = "default/nightly/load/2026-03-29/1"


def columns(*whys: str) -> list[Column]:
    """Return columns of each sort, with as many rows as there are texts."""
    ids = [str(number * 7) for number in range(1, len(whys) + 1)]
    return [
        Column("id", ids, right=True),
        Column("task", [KEY for _ in whys], least=12, middle=True),
        Column("tries", ids, right=True, extra=True),
        Column("nothing", ["" for _ in whys]),
        Column("why", whys, least=10),
    ]


def test_a_pipe_gets_everything(capsys):
    """Nothing is cut and every column is there, but for one that has nothing to say."""
    why = "x" * 300

    head, row = table_lines(columns(why))

    assert ["id", "task", "tries", "why"] == head.split()
    assert ["7", KEY, "7", why] == row.split()


def test_a_wider_terminal_gets_more():
    """An extra column is there where nothing has to be cut for it, and gone first."""
    whole = len(f"id  {KEY}  tries  413 too large")

    (wide, _), (narrow, cut) = (fitted(columns("413 too large"), whole - less) for less in (0, 1))

    assert "tries" in wide[0]
    assert "tries" not in narrow[0]
    assert not cut


def test_what_is_cut_is_said_and_keeps_its_ends():
    """The longest cell gives way, down to what its column keeps at least."""
    lines, cut = fitted(columns("a long reason " * 10), 60)

    assert cut
    assert 60 == max(map(width_of, lines))
    assert lines[1].startswith(" 7  default/nig")
    assert lines[1].split()[1].endswith("/1")
    assert lines[1].endswith("…")


@pytest.mark.parametrize("width", [40, 80, 200])
@given(whys=st.lists(st.text(max_size=100), min_size=1, max_size=4))
def test_whatever_is_in_a_cell_the_table_fits_its_terminal(width, whys):
    """No line is wider than the terminal, breaks, or holds what does not print."""
    lines, _ = fitted(columns(*whys), width)

    assert len(whys) + 1 == len(lines)
    assert all(width_of(line) <= width for line in lines)
    assert all(line.replace("\u200e", "").isprintable() for line in lines)
