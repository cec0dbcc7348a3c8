"""`failhook doctor`: what needs somebody, and what helps."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from datetime import timedelta

from failhook import Evidence, Pipeline, Task
from failhook.clock import SystemClock
from failhook.manager import Manager
from failhook.stores import open_store
from tests.cli.stores import dead_letters
from tests.cli.test_status import a_store_with_something_of_everything


def findings(answer) -> list[tuple[str, str, str]]:
    """Return level, text and help of each finding of a --json answer."""
    return [
        (each["level"], each["text"], each["help"]) for each in json.loads(answer.out)["findings"]
    ]


def acts(answer) -> list[str]:
    """Return the texts of what needs somebody."""
    return [text for level, text, _ in findings(answer) if level == "act"]


def test_a_quiet_store_needs_nobody(call, place):
    """Nothing to act on: exit code 0, and it says what it looked at."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        pipeline.succeeded(pipeline.started(Task("nightly", "load")))

    answer = call("doctor", "--store", "here.db")

    assert (0, "Nothing needs anybody.") == (answer.code, answer.out.splitlines()[-1])
    assert "schema" in answer.out


def test_what_needs_somebody_comes_with_the_command_that_helps(call, place):
    """A hold, a lost attempt and dead letters are named, each with what helps: exit code 1."""
    a_store_with_something_of_everything(place / "here.db")

    answer = call("doctor", "--json", "--store", "here.db")

    assert (1, True) == (answer.code, json.loads(answer.out)["needs_somebody"])
    helped = {text: way_out for level, text, way_out in findings(answer) if level == "act"}
    (hold,) = (text for text in helped if "on hold" in text)
    assert helped[hold].startswith("failhook resolve --store here.db default/billing/charge/r1/1")
    (given_up,) = (text for text in helped if "plugin refusing did not take 1 event" in text)
    assert "failhook dead-letters list --plugin refusing --store here.db" == helped[given_up]


def test_an_open_attempt_whose_supervisor_died_is_told(call, place):
    """A real process that was killed in the middle of an attempt is missed."""
    code = (
        "import os, signal\n"
        "from failhook import Pipeline, Task\n"
        "from failhook.stores import open_store\n"
        "Pipeline(open_store('here.db')).started(Task('nightly', 'load', run_id='r1'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)

    answer = call("doctor", "--json", "--store", "here.db")

    (text,) = acts(answer)
    assert (1, True) == (answer.code, text.startswith("default/nightly/load/r1/1/1 is open"))
    assert text.partition("(")[0].endswith("is gone ")


def test_it_tells_where_and_when_a_hook_last_ran(call, place):
    """Plugin, hook, process, host and counts of what ran anywhere on this store."""
    dead_letters(place / "here.db")

    answer = call("doctor", "--json", "--store", "here.db")

    (text,) = (text for _, text, _ in findings(answer) if "refusing is not held here" in text)
    assert f"process {os.getpid()} on {os.uname().nodename}" in text


def test_a_broken_configuration_is_a_finding(call, place):
    """It names file and line, looks at the rest all the same, and exits with 2."""
    (place / "failhook.toml").write_text("[policy]\nretires = 3\n")

    answer = call("doctor", "--json")

    assert (2, False) == (answer.code, json.loads(answer.out)["complete"])
    (text,) = acts(answer)
    assert "failhook.toml:2" in text
    assert "did you mean policy.retries" in text


def test_a_broken_store_is_a_finding(call, place):
    """A file that is no database is told with the way out: exit code 2."""
    (place / "here.db").write_text("not a database at all, and longer than a header\n" * 40)

    answer = call("doctor", "--json", "--store", "here.db")

    assert 2 == answer.code
    (text,) = acts(answer)
    assert "here.db" in text


def test_a_damaged_file_is_told(call, place):
    """Pages that are overwritten are found by the store's own check."""
    dead_letters(place / "here.db", 40)
    with (place / "here.db").open("r+b") as file:
        file.seek(4096 * 4)
        file.write(b"\xff" * 4096 * 3)

    answer = call("doctor", "--json", "--store", "here.db")

    assert answer.code in (1, 2)
    assert any("damaged" in text or "malformed" in text for text in acts(answer))


def test_a_plugin_that_is_configured_and_missing_names_its_extra(call, place, monkeypatch):
    """A sink without its client says what to install."""
    monkeypatch.setitem(sys.modules, "openlineage", None)
    monkeypatch.setitem(sys.modules, "openlineage.client", None)
    (place / "failhook.toml").write_text("[plugins.openlineage]\n")

    answer = call("doctor", "--json")

    assert 1 == answer.code
    assert any(
        "failhook[openlineage]" in text + way_out
        for level, text, way_out in findings(answer)
        if level == "act"
    )


def test_events_that_nobody_holds_are_told(call, place):
    """Rows of a plugin that no process has called for long need somebody."""
    manager = Manager()
    manager.register(type("Ghost", (), {"on_task_failed": _hook()}), "ghost")
    with Pipeline(open_store(place / "here.db"), manager=manager, dispatch="none") as pipeline:
        pipeline.failed(Task("nightly", "load"), Evidence.returncode(1))

    answer = call("doctor", "--json", "--store", "here.db")

    assert 1 == answer.code
    assert any("ghost" in text and "nobody ever called it" in text for text in acts(answer))


def test_a_record_from_the_future_is_told(call, place):
    """A clock that jumped leaves records ahead of now."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        pipeline.failed(Task("nightly", "load"), Evidence.returncode(1))
    ahead = SystemClock().now() + timedelta(hours=2)
    micros = int(ahead.timestamp() * 1_000_000)
    with sqlite3.connect(place / "here.db") as connection:
        connection.execute("UPDATE attempts SET closed_at = ?", (micros,))
    connection.close()

    answer = call("doctor", "--json", "--store", "here.db")

    assert 1 == answer.code
    assert any("future" in text or "clock" in text for text in acts(answer))


def test_no_secret_of_the_settings_is_shown(call, place):
    """What a plugin's table holds is hidden wherever it turns up."""
    word = "hunter2-but-longer"
    (place / "failhook.toml").write_text(f'[plugins.ghost]\ntoken = "{word}"\n')

    answer = call("doctor", "--json")

    assert word not in answer.out + answer.err


def _hook():
    from failhook.plugin import hookimpl

    @hookimpl
    def on_task_failed(self, event):
        """Take it."""

    return on_task_failed
