"""No text takes long: every expression is bounded by its structure, and users' are held to that."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.errors import ConfigError
from failhook.redact import DEFAULT, HIDDEN, Redactor
from failhook.redact.linear import problem, why_refused
from failhook.redact.scan import FREE, PLACE, READ
from tests.model.planted import PLANTED
from tests.model.strategies import foreign_texts

MOST_STEPS_OF_OURS = 150_000
"""At one place, of which the redactor tries so many as the length of the text allows. It is far
above what is taken: words that begin alike are counted as if all of them stood there."""

BOUNDED_BY_WORDS = {"rest of a private key"}
"""Shapes whose runs cannot go past the next sign, for a reason that single characters do not tell:
at most three words stand before a line of a key, and the mark of a cut has four."""


def whole(shape):
    """Yield the expressions of a shape, each with the signs after which it is tried."""
    yield f"(?x) {shape.regex}"
    if shape.behind:
        yield rf"(?x) (?: {shape.behind} ) \Z"
    for sign in shape.signs:
        yield f"(?x) {re.escape(sign)} (?= {shape.gate} )"


@pytest.mark.parametrize("shape", DEFAULT, ids=lambda shape: shape.name)
def test_every_built_in_expression_is_linear_by_its_structure(shape):
    """No repeat shares text with the next, none is read anew from within: whatever the text is."""
    found = {problem(expression, MOST_STEPS_OF_OURS) for expression in whole(shape)} - {""}

    assert (shape.name in BOUNDED_BY_WORDS) == bool(found)


@pytest.mark.parametrize(
    "expression",
    [
        *(r"ACME-\d+", r"badge (\w+) of (\w+)", r"\w{1,64}@acme\.com", r"(?<!\w)\w++@acme\.com"),
        *(r"\b\w+@acme", r"(?i)internal-[a-z]+", r"foo.*", r"token=(\S+)", r"[a-z]+", r"(a|b)*"),
        *(r'"secret":\s*"([^"\s]{1,80})"', r"^\w+:", r"(?=ab)abc", r"\d{3}-\d{2}-\d{4}"),
        *(r"BEGIN.{0,200}END", r"(?:\w{1,64} ){0,9}end", r"foo.{0,200}bar baz", r"a{0,30}a{0,30}b"),
        *(r"(?<=key )\w+", r"x(?!yz)\d+", r"(?>a+)b?", r"x{2,5}y", r"(?m)^pin \d+$", r"a(?:bc|d)+"),
    ],
)
def test_what_is_linear_is_accepted(expression):
    """Bounded and possessive repeats, lookaround, groups and anchors are fine."""
    assert "" == why_refused(expression)


@pytest.mark.parametrize(
    "expression",
    [
        *(r"(\w+)*@", r"(a+)+b", r"(a|a)*b", r"(a|aa)+$", r"\w+@acme", r"\w+\w+@", r"x\w+\d+@"),
        *(r".*secret", r"ghp_\w+@", r"(\w+\s?)*x", r"^(.*)*x$", r"a{0,1000}b", r"x(?=.*y)"),
        *(r"([a-z]+)+1", r"(.*,)*x", r"\s*#", r"(\w+)\1!", r"x[^y]*z.*w", r"(?:a{0,20}){20}b"),
        *(r"\w{1,99}\w{1,99}!", r"[\w ]{1,64}[\w ]{1,64}[\w ]{1,2}!", r"a{0,256}(?=a{0,99}b)c"),
        *(r"a{0,200}(?>a{0,200})b", r"a{0,200}a{0,200}+b", r"(a{0,99}a{0,99}b|c)d"),
        *(r"(?s)BEGIN.*?END", r"(?m)^[^x]*y", r"(?i:(k+)+)!", r"(?:(?:ab)+)+c", r"(\d+)-(\d+)"),
    ],
)
def test_what_may_take_long_is_refused(expression):
    """Nested, adjacent and leading repeats are refused, with the way to write them."""
    refused = why_refused(expression)

    assert refused.startswith("may take very long: ")
    assert "bound" in refused
    with pytest.raises(ConfigError, match="may take very long"):
        Redactor(extra=(expression,))


@pytest.mark.parametrize(
    ("seed", "least"),
    [
        ("token=x9 ", 2 * PLACE),
        ("('token','b') ", 2 * PLACE),
        ("://a:b@c ", 2 * PLACE),
        ("ghp_aaaaaaaaaaaa ", 2 * PLACE + 16 * READ),
        (f" auth={',a' * 58}", 2 * PLACE + 120 * READ),
        (f" sm_sat_={'a.' * 60}", 2 * PLACE + 120 * READ),
        ("-u=", PLACE),
        ("[... 1 characters cut ...]a ", 1_000),
    ],
)
def test_what_is_tried_is_paid_for_by_the_characters_that_are_read(seed, least):
    """Work is bounded by the length of the text, and what was not tried is not shown."""
    text = seed * (200_000 // len(seed))

    hidden = Redactor().redact(text)

    kept, _, rest = hidden.rpartition("[... ")
    assert rest.endswith(" characters left out ...]")
    shown = len(text) - int(rest.split()[0])
    assert shown <= (FREE + len(text)) / least * len(seed) + 2 * len(seed)
    assert seed not in kept or HIDDEN in kept or seed == "-u="


def test_text_with_more_colours_than_letters_is_left_out_from_there():
    """Colours are looked through as far as the length of the text allows."""
    text = "\x1b[0mx" * 100_000 + "token\x1b[0m=\x1b[0mq7ZrVx9"

    hidden = Redactor().redact(text)

    assert hidden.endswith(" characters left out ...]")
    assert "q7Zr" not in hidden


def test_a_dump_of_an_environment_is_within_the_bounds():
    """Even one whose every third variable is a secret, and longer than any text of an event."""
    entry = "VARIABLE=/usr/share/some/path\nNAME=value of it\nAPI_TOKEN_{}=q7ZrV{}\n"
    text = "".join(entry.format(number, number) for number in range(500))

    hidden = Redactor().redact(text)

    assert "left out" not in hidden
    assert "q7Zr" not in hidden
    assert 500 == hidden.count(HIDDEN)


@given(
    st.lists(
        st.one_of(foreign_texts, st.sampled_from(list(PLANTED.values())).map(lambda p: p.text))
    )
)
def test_what_was_seen_before_changes_nothing(pieces):
    """Lines that are remembered as plain do not save a secret among them, nor lose a line."""
    text = "\n".join(pieces)
    seasoned = Redactor()
    for piece in pieces:
        for line in piece.split("\n"):
            seasoned.redact(line)

    assert Redactor().redact(text) == seasoned.redact(text)
