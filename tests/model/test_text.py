"""Text is made valid and cut so that both ends stay, and the mark tells the truth."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from failhook.text import CUT_MARK, clean, cut, cut_redacted
from tests.model.strategies import foreign_texts

MARK = re.compile(r"\[\.\.\. (\d+) characters (?:cut|left out) \.\.\.\]")


@given(foreign_texts)
def test_clean_text_can_be_written_anywhere(text):
    """Whatever a task printed becomes text that UTF-8 and every database take."""
    cleaned = clean(text)

    assert cleaned == cleaned.encode().decode()
    assert "\x00" not in cleaned
    assert cleaned == clean(cleaned)


@given(st.text())
def test_valid_text_is_not_touched(text):
    """Text that was valid before is the very same object afterwards."""
    if "\x00" not in text:
        assert text is clean(text)


def test_what_cannot_be_written_is_told_as_an_escape():
    """A lone surrogate and a NUL stay readable."""
    assert r"a\ud800b\x00c\x00é" == clean("a\ud800b\x00c\x00é")


@given(text=foreign_texts, limit=st.integers(0, 80), head=st.floats(0, 1))
def test_a_cut_keeps_its_ends_and_counts_the_rest(text, limit, head):
    """What stays is a beginning and an end of the text, and the mark counts all between them."""
    short = cut(text, limit, head=head)

    if len(text) <= limit:
        assert text is short
    else:
        (mark,) = MARK.finditer(short)
        first, last = short[: mark.start()], short[mark.end() :]
        assert limit == len(first) + len(last)
        assert len(text) == len(first) + len(last) + int(mark[1])
        assert text.startswith(first)
        assert text.endswith(last)
        assert CUT_MARK.search(short)


@given(
    text=st.text(st.sampled_from("ab é"), min_size=200, max_size=400),
    first=st.integers(60, 150),
    then=st.integers(0, 150),
)
def test_a_cut_of_a_cut_counts_what_both_took(text, first, then):
    """Cut again, also through its mark, a text still says how much of the original is gone."""
    once = cut(text, first)
    twice = cut_redacted(once, min(first, then))

    (mark,) = MARK.finditer(twice)
    first_part, last_part = twice[: mark.start()], twice[mark.end() :]
    assert len(text) == len(first_part) + len(last_part) + int(mark[1])
    assert text.startswith(first_part)
    assert text.endswith(last_part)
    assert twice == cut_redacted(twice, min(first, then))


def test_the_mark_of_redacted_text_withholds_nothing():
    """Redaction looks for coarse cuts only: what was cut after redaction needs no second look."""
    text = cut_redacted("x" * 100, 10)

    assert "xxxxx[... 90 characters left out ...]xxxxx" == text
    assert CUT_MARK.search(text) is None


def test_a_cut_never_leaves_half_a_mark():
    """Where the edge of a cut falls into an earlier mark, all of that mark goes, and is counted."""
    once = cut("a" * 500 + "b" * 500, 100)
    mark = once.index("[")

    in_its_head = cut_redacted(once, len(once) - 1, head=(mark + 5) / (len(once) - 1))
    in_its_tail = cut_redacted(once, len(once) - 12, head=(mark - 10) / (len(once) - 12))

    assert "a" * 50 + "[... 900 characters left out ...]" + "b" * 50 == in_its_head
    assert "a" * 40 + "[... 910 characters left out ...]" + "b" * 50 == in_its_tail
