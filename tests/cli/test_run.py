"""`failhook run` and `failhook resolve`, with real commands."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time

import pytest

KILLS_ITSELF = ["sh", "-c", "kill -9 $$"]


def lines(answer):
    """Return what was told on standard error, without the prefix."""
    assert all(line.startswith("failhook: ") for line in answer.err.splitlines())
    return [line.removeprefix("failhook: ") for line in answer.err.splitlines()]


@pytest.mark.parametrize(
    ("options", "command", "code"),
    [
        ([], ["true"], 0),
        ([], ["sh", "-c", "exit 3"], 3),
        ([], ["sh", "-c", "exit 255"], 255),
        ([], KILLS_ITSELF, 137),
        ([], ["sh", "-c", "kill -TERM $$"], 143),
        (["--timeout", "0.2"], ["sleep", "30"], 124),
        ([], ["sh", "-c", "exit 124"], 124),
        (["--no-idempotent"], KILLS_ITSELF, 75),
        (["--no-idempotent"], ["sh", "-c", "exit 3"], 3),
        ([], ["no-such-command"], 127),
        ([], ["./no-such-command"], 127),
        ([], ["./not-executable"], 126),
        ([], ["./"], 126),
        ([], ["sh", "-c", "exit 126"], 126),
    ],
)
def test_the_exit_code_is_the_commands_own_or_says_what_happened(
    options, command, code, call, place
):
    """Scripts and CI see what a shell would show them, 124 for a timeout and 75 for a hold."""
    (place / "not-executable").write_text("")

    answer = call("run", *options, "--", *command)

    assert code == answer.code
    assert (1 if code else 0) == len(lines(answer))


def test_the_commands_own_streams_are_not_touched(call, process, place):
    """Input reaches it, output and error output come through byte for byte."""
    script = "cat; printf '\\377\\000out'; printf '\\377err' >&2"
    (place / "input").write_bytes(b"\xfein")

    with (place / "input").open("rb") as stdin:
        child = process("run", "--", "sh", "-c", script, stdin=stdin)
        out, err = child.communicate()

    assert (0, b"\xfein\xff\x00out", b"\xfferr") == (child.returncode, out, err)


def test_each_failure_is_one_line_with_verdict_payer_and_what_comes_next(call):
    """Kills are refunded, then charged, then final: three lines tell the story."""
    answer = call(
        *["run", "--workflow", "nightly", "--name", "load", "--retries", "1"],
        *["--max-infra-refunds", "1", "--", *KILLS_ITSELF],
    )

    first, second, third = lines(answer)
    assert first.startswith("nightly/load attempt 1 failed on ")
    assert "infra KilledBySignal" in first
    assert first.endswith("; retry as attempt 2, refunded (infra 1/1)")
    assert second.endswith("; retry as attempt 3, charged to the user (1/1)")
    assert "attempt 3 failed" in third
    assert "failed for good (RetriesExhausted)" in third


def test_a_recovery_is_told_too(call, place):
    """Who saw the failure sees that it is over."""
    answer = call("run", "--retries", "1", "--", "sh", "-c", "[ -e here ] || { >here; exit 3; }")

    assert answer.code == 0
    assert lines(answer)[-1].endswith(
        "attempt 2 succeeded: recovered from application NonZeroExit (confirmed)"
    )


def test_options_after_the_command_belong_to_the_command(call):
    """The dashes may be left out, and everything from the command on is its own."""
    for words in (
        ["sh", "-c", 'exit "$1"', "--", "4"],
        ["--", "sh", "-c", 'exit "$2"', "", "--", "4"],
    ):
        assert call("run", *words).code == 4


def test_settings_hold_and_options_win_over_them(call, place):
    """The policy of failhook.toml is the task's, but for what the command line says."""
    (place / "failhook.toml").write_text(
        'namespace = "prod"\nstore = "here.db"\n'
        "[policy]\nretries = 5\nmax_infra_refunds = 1\n"
        '[[policy.overrides]]\nmatch = ["workflow = nightly"]\nretries = 1\n'
    )

    for options, attempts in (
        (["--workflow", "nightly"], 3),
        (["--retries", "0"], 2),
        (["--retries", "0", "--max-infra-refunds", "0"], 1),
    ):
        assert attempts == len(lines(call("run", *options, "--", *KILLS_ITSELF)))
    assert (place / "here.db").exists()


def test_json_tells_events_and_outcome_one_a_line(call):
    """A program follows the run on standard error; the last line is the outcome."""
    answer = call("run", "--json", "--name", "load", "--run-id", "r1", "--", "sh", "-c", "exit 3")

    lines = answer.err.splitlines()
    assert not any('": ' in line for line in lines)  # all of them as compact as the first
    event, outcome = map(json.loads, lines)
    assert ("failed", "load") == (event["failhook"]["type"], event["failhook"]["task"]["name"])
    assert ("default/run/load/r1/1", "failed", 1, 3) == (
        outcome["task"],
        outcome["state"],
        outcome["attempt"],
        outcome["exit_code"],
    )
    assert ("NonZeroExit", "RetriesExhausted") == (
        outcome["failure_details"]["reason"],
        outcome["decision"]["code"],
    )


def test_a_blocked_log_sink_is_silent(call, place):
    """Who blocks the default sink hears nothing, and the exit code still tells."""
    (place / "failhook.toml").write_text('[plugins]\nblock = ["log"]\n')

    answer = call("run", "--", "sh", "-c", "exit 3")

    assert (3, "") == (answer.code, answer.err)


def test_a_memory_limit_holds(call):
    """A command that passes its limit cannot take more, and that is its own failure."""
    script = "x = bytearray(400 << 20)"

    answer = call("run", "--memory-limit", "200M", "--", sys.executable, "-c", script)

    assert answer.code != 0
    assert "application" in answer.err
    assert call("run", "--memory-limit", "1G", "--", sys.executable, "-c", script).code == 0


def test_a_hold_is_released_by_resolve(call):
    """Held, refused while held, resolved as retry, and then it runs again."""
    key = "default/run/charge/r1/1"
    options = ["run", "--no-idempotent", "--name", "charge", "--run-id", "r1", "--"]

    held = call(*options, *KILLS_ITSELF)
    assert f"on hold, since it may have done its work: failhook resolve {key} " in held.err
    again = call(*options, "true")
    assert again.code == 75
    refused, _ = lines(again)
    assert (
        "not started: on hold: it is not idempotent and may have done its work; "
        f"say what to do with: failhook resolve {key} retry|fail|succeeded"
    ) == refused
    refusal = json.loads(call("run", "--json", *options[1:], "true").err)
    assert refusal["refused"]["action"] == "hold"
    assert len(refusal["story"]) == 1

    resolved = call("resolve", key, "retry", "--actor", "ops")
    assert (0, "") == (resolved.code, resolved.err)
    assert resolved.out.startswith("retry: attempt 2 may start, as ops says (user 0/0, ")

    ran = call(*options, "true")
    assert ran.code == 0
    assert "attempt 2 succeeded: recovered from" in ran.err
    assert "nothing of default/run/charge/r1/1 is on hold" in call("resolve", key, "fail").error


def test_what_somebody_says_of_a_held_task_holds(call):
    """A success is told to listeners, and a failure is not started again; words say which."""
    for resolution, told, words in (
        ("succeeded", 1, "succeeded: ops says that its work was done\n"),
        ("fail", 0, "failed: closed by ops\n"),
    ):
        options = ["run", "--no-idempotent", "--name", "charge", "--run-id", resolution, "--"]
        call(*options, *KILLS_ITSELF)

        key = f"default/run/charge/{resolution}/1"
        answer = call("resolve", key, resolution, "--actor", "ops")
        assert words == answer.out
        assert told == len(lines(answer))
    assert [
        "not started: the task is closed (failed); to run it again use another --run-id"
    ] == lines(call(*options, "true"))[:1]
    assert call(*options, "true").code == 125


def test_a_resolution_as_json_says_what_was_asked_for(call):
    """A program reads who said what of which task beside the decision."""
    key = "default/run/charge/r1/1"
    call("run", "--no-idempotent", "--name", "charge", "--run-id", "r1", "--", *KILLS_ITSELF)

    answer = json.loads(call("resolve", "--json", key, "succeeded", "--actor", "ops").out)

    assert ("succeeded", "ops", key) == (answer["resolution"], answer["actor"], answer["task"])


def test_a_hold_on_a_store_of_its_own_is_released_there(call):
    """The command that a refusal shows can be pasted: it names the store that was used."""
    where = ["--store", "my store.db"]
    words = ["--no-idempotent", "--name", "charge", "--run-id", "r1", "--"]
    call("run", *where, *words, *KILLS_ITSELF)

    refused, _ = lines(call("run", *where, *words, "true"))

    shown = refused.partition("say what to do with: ")[2].replace("retry|fail|succeeded", "fail")
    assert "failhook resolve --store 'my store.db' default/run/charge/r1/1 fail" == shown
    assert call(*shlex.split(shown)[1:]).code == 0


def test_a_run_that_has_succeeded_runs_again_unless_it_must_not(call):
    """The same run id counts on after a success; what may not run twice is refused, with a way."""
    words = ["--name", "load", "--run-id", "r1", "--", "true"]

    assert [0, 0] == [call("run", *words).code for _ in range(2)]
    refused, _ = lines(call("run", "--no-idempotent", *words))[:2]
    assert (
        "not started: the task has succeeded and must not run twice; "
        "to run it again use another --run-id"
    ) == refused


def wait_for(path):
    """Wait until a file is there."""
    while not path.exists():
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [
        (signal.SIGINT, 130, "manual Cancelled"),
        (signal.SIGTERM, 143, "infra WorkerShutdown"),
        (signal.SIGHUP, 129, "infra WorkerShutdown"),
    ],
)
def test_a_signal_ends_the_command_first_and_is_told(number, code, reason, process, place):
    """Ctrl-C is somebody's cancel, a SIGTERM is the end of the worker; the command is gone."""
    child = process(
        "run", "--retries", "3", "--", "sh", "-c", "echo $$ >pid.new; mv pid.new pid; sleep 60"
    )
    wait_for(place / "pid")
    command = int((place / "pid").read_text())

    child.send_signal(number)
    _, err = child.communicate()

    assert code == child.returncode
    with pytest.raises(ProcessLookupError):
        os.kill(command, 0)
    (line,) = err.decode().splitlines()
    assert reason in line


def test_a_run_that_dies_with_its_supervisor_every_time_is_refused_in_the_end(process, place):
    """Cap 2 and no retries: killed three times, the fourth start tells the whole story."""
    command = "echo >>starts; >here; sleep 60"
    words = ["run", "--name", "load", "--run-id", "r1", "--max-infra-refunds", "2", "--"]

    for _ in range(3):
        child = process(*words, "sh", "-c", command)
        wait_for(place / "here")
        child.kill()
        child.wait()
        (place / "here").unlink()
    child = process(*words, "sh", "-c", command)
    _, err = child.communicate()

    assert child.returncode == 125
    assert (place / "starts").read_text().count("\n") == 3
    *told, refusal, first, second, third = err.decode().splitlines()
    assert "attempt 3 failed" in told[-1]
    assert refusal.startswith("failhook: not started: all 2 infra refunds are used")
    assert refusal.endswith("; to run it again use another --run-id")
    assert first.startswith("failhook:   attempt 1: infra WorkerLost")
    assert "retry as attempt 2" in first
    assert "retry as attempt 3" in second
    assert third.startswith("failhook:   attempt 3: infra WorkerLost")


def test_an_event_that_cannot_go_out_yet_is_told_and_kept(call, package):
    """The command ends all the same, and says where the event waits."""
    package(
        "from failhook.plugin import Undelivered, hookimpl\n"
        "class Sink:\n"
        "    @hookimpl\n"
        "    def on_task_failed(self, event):\n"
        "        raise Undelivered('busy', retry_after=3600)\n",
        "[failhook]\nbusy = acme:Sink\n",
    )

    answer = call("run", "--store", "here.db", "--", "sh", "-c", "exit 3")

    assert answer.code == 3
    assert answer.err.splitlines()[-1] == (
        "failhook: 1 event was not delivered to plugin busy yet (busy); it waits in here.db "
        "for the next process, or for failhook deliver"
    )
    (lost,) = call("run", "--store", "memory", "--", "sh", "-c", "exit 3").err.splitlines()[1:]
    assert lost == (
        "failhook: 1 event was not delivered to plugin busy (busy) "
        "and lost, since a store in memory ends with its process"
    )


def test_what_failhook_logs_is_told_with_its_name(call, package):
    """Whoever reads a job's log can tell failhook's lines from the command's own."""
    package(
        "from failhook.plugin import hookimpl\n"
        "class Sink:\n"
        "    @hookimpl\n"
        "    def on_task_failed(self, event):\n"
        "        raise RuntimeError('no disk')\n",
        "[failhook]\nbroken = acme:Sink\n",
    )

    told = lines(call("run", "--", "sh", "-c", "exit 3"))

    assert any("broken" in line and "no disk" in line for line in told)


def test_an_installed_plugin_without_its_settings_is_named_and_left_out(call, package):
    """Nobody asked for it: one line says which plugin and why, and the command runs on."""
    package(
        "from failhook.plugin import ConfigError, hookimpl\n"
        "class Sink:\n"
        "    def __init__(self, settings):\n"
        "        raise ConfigError('plugins.tickets.folder is missing; name a folder')\n"
        "    @hookimpl\n"
        "    def on_task_failed(self, event): ...\n",
        "[failhook]\ntickets = acme:Sink\n",
    )

    answer = call("run", "--", "true")

    assert answer.code == 0
    assert [
        "plugin 'tickets': plugins.tickets.folder is missing; name a folder; it is left out"
    ] == lines(answer)


def deadly(package, hook):
    """Install a plugin that ends its process, and a good one that is called after it."""
    package(
        "import ctypes, os, time\n"
        "from failhook.plugin import hookimpl\n"
        "class Deadly:\n"
        "    @hookimpl\n"
        "    def on_task_failed(self, event):\n"
        f"        {hook}\n"
        "class Good:\n"
        "    @hookimpl\n"
        "    def on_task_failed(self, event):\n"
        "        time.sleep(0.2)\n"
        "        open('good', 'a').write(f'{event.task.attempt}\\n')\n",
        "[failhook]\ndeadly = acme:Deadly\ngood = acme:Good\n",
    )


@pytest.mark.parametrize("hook", ["os._exit(9)", "ctypes.string_at(0)"])
def test_a_plugin_that_ends_its_process_does_not_end_the_command(hook, call, package, place):
    """It keeps its exit code and its retry, others hear of it, and the doctor names the plugin."""
    deadly(package, hook)
    once = "[ -e here ] && exit 3; >here; sleep 0.5; exit 4"

    answer = call("run", "--store", "here.db", "--retries", "1", "--", "sh", "-c", once)
    later = call("doctor", "--json", "--store", "here.db")

    assert 3 == answer.code
    assert {"1", "2"} == set((place / "good").read_text().split())
    assert "the process that calls plugins ended with" in answer.err
    assert any(
        "to plugin deadly yet (the process ended during the call); they wait in here.db" in line
        for line in lines(answer)
    )
    (found,) = (each for each in json.loads(later.out)["findings"] if "in a row" in each["text"])
    assert ("act", True) == (found["level"], found["text"].startswith("plugin deadly: 2 waiting"))


def test_labels_and_owner_are_the_tasks(call):
    """Overrides and routes of alerts match them."""
    assert 0 == call("run", "--store", "t.db", "--name", "n", "--owner", "data", "--", "true").code
    answer = call(
        *("run", "--store", "t.db", "--name", "n", "--json", "--owner", "data"),
        *("--label", "env=prod", "--label", "team=a=b", "--", "sh", "-c", "exit 3"),
    )

    told = next(line for line in answer.err.splitlines() if '"labels"' in line)
    assert '"owner":"data"' in told.replace(" ", "")
    assert '"env":"prod"' in told.replace(" ", "")
    assert '"team":"a=b"' in told.replace(" ", "")
