"""The page on the command knows every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from failhook.cli import main
from failhook.cli.commands import BUILT_IN

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text("utf-8")
VERBS = ("list", "show", "replay", "drop")


def test_every_command_has_its_line():
    """A reader finds what each command is for."""
    assert [] == [name for name in BUILT_IN if f"\n| `{name}` |" not in PAGE]


def test_every_option_of_the_page_is_one_of_a_command(capsys):
    """What the page tells to type is taken by some command."""
    for words in (*([name] for name in BUILT_IN), *(["dead-letters", verb] for verb in VERBS)):
        main([*words, "--help"])
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))

    assert [] == [each for each in re.findall(r"--[a-z][a-z-]+", PAGE) if each not in options]


@pytest.mark.parametrize("name", sorted({*BUILT_IN} - {"demo", "explain"}))
def test_every_command_is_shown_with_its_output(name):
    """But for the demo, which the README shows, and explain, whose answer is long."""
    assert re.search(rf"(?m)^\$ .*failhook {name}\b.*\n[^$`]", PAGE)
