"""From the words of a command line to an exit code; what went wrong is one line."""

from __future__ import annotations

import io
import os
import sys
import textwrap
from collections.abc import Sequence

from failhook.cli.arguments import NOT_STARTED, NotStarted, Parser, UsageError
from failhook.cli.commands import Command, find_command, overview, summary
from failhook.cli.stderr import log_told
from failhook.cli.terminal import one_line
from failhook.errors import FailhookError

_WIDTH = 80
EXIT_CODES = """\
exit codes: 0 done; 2 what was asked for cannot be done, and one line on standard
error says why; 130 interrupted. `failhook run` has more: see its own --help.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        argv: the words after ``failhook``; this process's own unless given.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    name = f"failhook {words[0]}" if words and not words[0].startswith("-") else "failhook"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with log_told():
            code = _run(words)
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is None where descriptor 1 is closed
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        _discard_output()
        return 128 + 13  # as a process that SIGPIPE ended
    except KeyboardInterrupt:
        return 130
    except NotStarted as error:
        return _wrong(name, str(error), NOT_STARTED)
    except FailhookError as error:
        return _wrong(name, str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _wrong(name, f"{place}{error.strerror or error}")


def _wrong(name: str, problem: str, code: int = 2) -> int:
    lines = (" ".join(line.split()) for line in problem.splitlines())
    print(one_line(f"{name}: {'; '.join(filter(None, lines))}"), file=sys.stderr)
    return code


def _run(words: list[str]) -> int:
    if not words:
        raise UsageError(f"which command? One of {', '.join(overview())}; see failhook --help")
    first, *rest = words
    if first in ("-h", "--help"):
        print(_help(), end="")
        return 0
    if first == "--version":
        from importlib.metadata import version  # slow, so nobody else waits for it

        print(f"failhook {version('failhook')}")
        return 0
    if first.startswith("-"):
        raise UsageError(f"{first} is not an option here; see failhook --help")
    return _call(first, find_command(first), rest)


def _call(name: str, command: Command, words: list[str]) -> int:
    parser = Parser(prog=f"failhook {name}", description=command.__doc__)
    command.add_arguments(parser)
    try:
        arguments = parser.parse_args(words)
    except SystemExit:  # --help was asked for, and given
        return 0
    return command.run(arguments)


def _help() -> str:
    lines = ["usage: failhook COMMAND ...", "", "Why a task failed, and who pays.", ""]
    commands = overview()
    width = max(map(len, commands))
    for name in commands:
        told = textwrap.wrap(summary(name), _WIDTH - width - 4)
        lines += [
            f"  {name:<{width}}  {told[0]}",
            *(f"{'':<{width + 4}}{more}" for more in told[1:]),
        ]
    lines += ["", "  --version prints the version; failhook COMMAND --help tells more.", ""]
    return "\n".join(lines) + "\n" + EXIT_CODES


def _discard_output() -> None:
    """Keep the interpreter from flushing into the broken pipe again at its exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
