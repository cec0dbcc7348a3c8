"""Somebody else's text on a terminal: harmless, measured, and still readable."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.cli.terminal import lines_of, one_line, padded, quoted, shortened, width_of

HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202egnp\u202c\u2066\x9b2J\u200b\x00\ud800"


@given(st.text())
def test_no_text_reaches_the_terminal_that_does_not_print(text):
    """Control characters, bidirectional controls, surrogates: each is shown as an escape."""
    assert one_line(text).isprintable()
    assert all(line.isprintable() for line in lines_of(text))


def test_what_is_hidden_is_shown_as_an_escape():
    """A reader sees what is there, so that two names that look alike do not."""
    assert r"\x1b[31mred\x1b]0;title\x07\u202egnp\u202c\u2066\x9b2J\u200b\x00\ud800" == one_line(
        HOSTILE
    )
    assert ["a   b", r"c\x1b"] == lines_of("a\tb\r\nc\x1b")


@pytest.mark.parametrize(
    ("text", "columns"),
    [("load", 4), ("报告", 4), ("e\u0301te\u0301", 3), ("דוח", 3), ("", 0)],
)
def test_columns_are_counted_as_a_terminal_does(text, columns):
    """Wide characters take two, combining ones none."""
    assert columns == width_of(text)


@given(st.text(alphabet="ab\u62a5\u0301 \u05d3", max_size=30), st.integers(1, 20), st.booleans())
def test_a_cut_line_fits_and_says_that_it_is_cut(text, columns, middle):
    """It never takes more than its columns, and what is gone has left an ellipsis."""
    cut = shortened(text, columns, middle=middle)

    assert width_of(cut) <= columns
    assert (cut == text) is (width_of(text) <= columns)
    assert ("…" in cut) is (cut != text)


def test_a_key_keeps_its_end():
    """Run and attempt are at the end of a key, and are what tells two apart."""
    assert "default/ni…ad/r1/1/4" == shortened("default/nightly/load/r1/1/4", 20, middle=True)


def test_right_to_left_letters_end_with_their_cell():
    """A mark after them keeps the next column where it is; it takes no room."""
    assert "דוח\u200e  " == padded("דוח", 5)
    assert "  7" == padded("7", 3, right=True)


@pytest.mark.parametrize("word", ["plain", "it's", "a b", r"it's \x1b", "\x1b[31m'\\\n", "é\u202e"])
def test_a_word_in_a_command_that_is_shown_can_be_copied(word):
    """A shell makes the same word of it, whatever is in it, and it prints."""
    assert quoted(word).isprintable()
    told = subprocess.run(
        ["bash", "-c", f"printf %s {quoted(word)}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    assert word == told.stdout.decode()
