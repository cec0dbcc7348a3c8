"""An expression that could take exponential time is refused before any text is matched with it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.errors import ConfigError
from failhook.matchers import Matcher, parse_matcher
from failhook.regex_cost import exponential

SLOW = [
    "(a+)+$",
    "(a*)*b",
    "(a+b?)*c",
    "([a-z]+-?)+",
    "(a|a)*b",
    "(a|ab)+c",
    "(?:(?:x|y+)z?)*!",
    "(.*)*",
    "(.*,){11,}P",
    "((a{1,5})+)x",
    "(?=(a+)+)b",
    "(\\d+|x)*y",
    "(?>a|(b+)+)c",
]
QUICK = [
    "",
    "a|b",
    ".*foo.*",
    "team-[a-z]+",
    "(dev|prod)(-[0-9]+)?",
    "(ab|cd)*",
    "(a|b)*",
    "nightly.*|billing",
    "[A-Z]{2,8}-\\d+",
    "(?i)Data.*",
    "(abc)+",
    "(a+){2,3}",
]


@pytest.mark.parametrize("expression", SLOW)
def test_what_is_exponential_is_refused_with_a_way_out(expression):
    """Whoever wrote the matcher learns why."""
    with pytest.raises(ConfigError, match=r"it could take very long: .*; (write|take)"):
        Matcher("task", "=~", expression)


@pytest.mark.parametrize("expression", QUICK)
def test_what_people_write_is_taken(expression):
    """With the parts that its routes are made of."""
    assert "" == exponential(expression)
    assert Matcher("task", "!~", expression).matches({"task": "\n"})


@pytest.mark.filterwarnings("ignore::FutureWarning")
@given(st.text(alphabet="ab*+?|()[]{},.12\\^$", max_size=12))
def test_whatever_is_taken_is_quick(expression):
    """On the text that makes the most of every choice; a slow one would hang here."""
    try:
        if exponential(expression):
            return
        pattern = re.compile(expression)
    except (re.error, OverflowError):
        return

    for text in ("a" * 40 + "!", "ab" * 20 + "!", "b" * 40 + "!"):
        pattern.fullmatch(text)


def test_classes_mean_what_they_mean_to_alertmanager():
    """ASCII in RE2; what Python reads otherwise is refused."""
    assert not parse_matcher(r"job =~ \d+").matches({"job": "\u0663\u0664"})
    assert parse_matcher("job =~ gr.ße").matches({"job": "größe"})
    with pytest.raises(ConfigError, match=r"write \[A-Za-z\]"):
        parse_matcher("team =~ [[:alpha:]]+")


def test_quotes_are_read_as_alertmanager_reads_them():
    """A backslash stands for itself, but before a quote, another one and n."""
    read = {
        r'host =~ "web\d+\.prod"': r"web\d+\.prod",
        r'a = "say \"x\""': 'say "x"',
        r'a = "one\ntwo\\three\t"': "one\ntwo\\three\\t",
        r"a =~ web\d+": r"web\d+",
    }

    assert read == {text: parse_matcher(text).value for text in read}
    assert [*read.values()] == [parse_matcher(str(parse_matcher(text))).value for text in read]
