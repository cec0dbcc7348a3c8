"""No text takes long: every expression is bounded by its structure, and users' are held to that."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.errors import ConfigError
from failhook.redact import DEFAULT, HIDDEN, Redactor
from failhook.redact.linear import problem, why_refused
from failhook.redact.scan import FREE, PER_PLACE
from tests.model.planted import PLANTED
from tests.model.strategies import foreign_texts

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
    found = {problem(expression) for expression in whole(shape)} - {""}

    assert (shape.name in BOUNDED_BY_WORDS) == bool(found)


@pytest.mark.parametrize(
    "expression",
    [
        *(r"ACME-\d+", r"badge (\w+) of (\w+)", r"\w{1,64}@acme\.com", r"(?<!\w)\w++@acme\.com"),
        *(r"\b\w+@acme", r"(?i)internal-[a-z]+", r"foo.*", r"token=(\S+)", r"[a-z]+", r"(a|b)*"),
        *(r'"secret":\s*"([^"\s]{1,80})"', r"^\w+:", r"(?=ab)abc", r"\d{3}-\d{2}-\d{4}"),
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
    "seed",
    [
        "token=x9 ",
        "('token','b') ",
        "://a:b@c ",
        "ghp_aaaaaaaaaaaa ",
        "[... 1 characters cut ...]a ",
    ],
)
def test_text_with_more_secrets_than_text_has_is_left_out_from_there(seed):
    """What is tried is bounded by the length, and what was not tried is not shown."""
    text = seed * 10_000

    hidden = Redactor().redact(text)

    places = FREE + len(text) // PER_PLACE
    assert hidden.count(HIDDEN) <= 2 * places
    kept, _, rest = hidden.rpartition("[... ")
    assert rest.endswith(" characters left out ...]")
    assert len(text) - int(rest.split()[0]) <= (places + 1) * len(seed)
    assert HIDDEN in kept


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
