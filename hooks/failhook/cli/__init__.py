"""The command ``failhook``: one module per subcommand, loaded when it is called."""

from __future__ import annotations

from failhook.cli.entry import main

__all__ = ["main"]
