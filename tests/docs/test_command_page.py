"""The page on the command knows every command."""

from __future__ import annotations

from pathlib import Path

from failhook.cli.commands import BUILT_IN

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text("utf-8")


def test_every_command_has_its_line():
    """A reader finds what each command is for."""
    assert [] == [name for name in BUILT_IN if f"\n| `{name}` |" not in PAGE]
