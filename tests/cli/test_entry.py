"""The command as a whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

GREETING = '''
"""Greet somebody."""

def add_arguments(parser):
    parser.add_argument("whom")
    parser.add_argument("--json", action="store_true")

def run(arguments):
    print("hello", arguments.whom)
    return 7
'''


def test_help_lists_every_command_with_one_line(call):
    """A newcomer sees what there is to call."""
    answer = call("--help")

    assert answer.code == 0
    for line in (
        "  run           Run a command as a task and retry it as the gate decides.",
        "  classify      Say why a task failed: the verdict only.",
        "  explain       Explain a verdict: the rule, the facts,",
        "  resolve       Release a task that is on hold, or close one left open.",
    ):
        assert line in answer.out


@pytest.mark.parametrize(
    "name",
    [
        *("run", "demo", "classify", "explain", "status", "resolve"),
        *("history", "stats", "deliver", "doctor"),
    ],
)
def test_each_command_has_help_and_takes_json(name, call):
    """--help and --json mean the same everywhere, and help has an example to copy."""
    answer = call(name, "--help")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"usage: failhook {name}")
    assert "--json" in answer.out
    assert re.search(rf"(?m)^  .*failhook {name}\b", answer.out)


def test_the_help_of_run_says_what_a_run_id_does(call):
    """What counts on, what a success and a memory limit mean, what becomes of children."""
    told = " ".join(call("run", "--help").out.split())

    for words in (
        "Attempts and budgets of a run count on.",
        "one that has succeeded runs again as its next attempt, unless it is --no-idempotent",
        "bytes of address space",
        "processes that it left in the background are ended too",
    ):
        assert words in told


def test_the_version_is_the_distributions(call):
    """What is printed can be compared with what was installed."""
    assert call("--version").out == f"failhook {version('failhook')}\n"


def test_console_script_and_module_are_the_same_command():
    """Both ways to call it give the same answer."""
    script = Path(sys.executable).with_name("failhook")

    first, second = (
        subprocess.run([*command, "--version"], capture_output=True, check=True).stdout
        for command in ([script], [sys.executable, "-m", "failhook"])
    )

    assert first == second


def test_a_package_can_bring_a_command(call, package):
    """Commands of sinks come through an entry-point group and are listed like our own."""
    package(GREETING, "[failhook.commands]\ngreet = acme\n")

    answer = call("greet", "world")

    assert (answer.code, answer.out) == (7, "hello world\n")
    assert "  greet         Greet somebody.\n" in call("--help").out
    assert "the following arguments are required: whom; see failhook greet" in call("greet").error


def test_a_broken_command_of_somebody_else_breaks_nothing_but_itself(call, package):
    """Help goes on, and a call says what could not be loaded."""
    package("raise OSError('no licence')", "[failhook.commands]\nbroken = acme\nempty = json\n")

    assert call("broken").error == ("failhook broken: acme cannot be loaded: OSError('no licence')")
    assert "json is no command: it needs add_arguments(parser) and run()" in call("empty").error
    assert "  broken        (acme cannot be loaded" in call("--help").out


def test_nobody_takes_the_place_of_our_own_command(call, package):
    """A package that offers `classify` does not change what classify does."""
    package("raise SystemExit('taken over')", "[failhook.commands]\nclassify = acme\n")

    assert call("classify", "--help").code == 0


def test_a_reader_that_goes_away_is_no_error(process, tmp_path):
    """`failhook classify --jsonl FILE | head -1` prints its line and nothing else."""
    path = tmp_path / "many.jsonl"
    path.write_text(json.dumps({"evidence": {"exit_code": 3}}) + "\n")
    path.write_text(path.read_text() * 20_000)
    child = process("classify", "--jsonl", path)

    child.stdout.readline()
    child.stdout.close()

    assert child.stderr.read() == b""
    assert child.wait() == 141


def test_an_interrupt_ends_it_silently(process):
    """Ctrl-C at a command that waits for input is 130, without a traceback."""
    child = process("classify", "--jsonl", "-", stdin=subprocess.PIPE)
    child.stdin.write(b'{"evidence": {"exit_code": 3}}\n')
    child.stdin.flush()
    child.stdout.readline()

    child.send_signal(2)

    assert child.wait() == 130
    assert child.stderr.read() == b""


def test_a_closed_standard_output_is_no_crash():
    """A daemon without streams can call it, and gets the exit code."""
    result = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m failhook --version >&-"],
        stderr=subprocess.PIPE,
        check=False,
    )

    assert (result.returncode, result.stderr) == (0, b"")
