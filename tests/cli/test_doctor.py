"""`failhook doctor`: what needs somebody, and what helps."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from failhook import Evidence, Pipeline, Policy, Task
from failhook.clock import SystemClock
from failhook.manager import Manager
from failhook.outbox.port import Bounds
from failhook.stores import open_store
from tests.cli.stores import Refusing, dead_letters
from tests.cli.test_status import a_store_with_something_of_everything

FIRST_VERSION = Path(__file__).parents[1] / "stores" / "first_version.sql"


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


def test_a_store_that_others_can_read_is_noted(call, place):
    """It may be meant so: it is said, and needs nobody."""
    open_store(place / "here.db").close()
    assert not any(
        "can read" in text
        for _, text, _ in findings(call("doctor", "--json", "--store", "here.db"))
    )
    (place / "here.db").chmod(0o644)

    answer = call("doctor", "--json", "--store", "here.db")

    assert 0 == answer.code
    assert ["note"] == [level for level, text, _ in findings(answer) if "can read" in text]


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

    ((text, way_out),) = (
        (text, way_out) for level, text, way_out in findings(answer) if level == "act"
    )
    assert (1, True) == (
        answer.code,
        text.startswith("attempt 1 of default/nightly/load/r1/1 is open"),
    )
    assert text.partition("(")[0].endswith("is gone ")
    command = shlex.split(way_out.partition("; else ")[2].replace("retry|fail|succeeded", "fail"))
    assert 0 == call(*command[1:]).code
    assert 0 == call("doctor", "--store", "here.db").code


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


def test_secrets_deep_in_the_settings_are_hidden_too(call, place, package):
    """A plugin that repeats its settings in its refusal does not make the doctor print them."""
    package(
        "def pager(settings):\n    raise ValueError(str(settings))\n"
        "class Pager:\n    def __init__(self, settings): pager(settings)\n",
        "[failhook]\npager = acme:Pager\n",
    )
    word = "s3-deep-and-long"
    (place / "failhook.toml").write_text(f'[[plugins.pager.receivers]]\nkey = ["{word}"]\n')

    answer = call("doctor", "--json")

    assert any("pager" in text and "***" in text for text in acts(answer))
    assert word not in answer.out + answer.err


def test_a_password_in_the_name_of_a_store_is_hidden(call):
    """Neither the finding nor the command that helps has it, and it could not look: 2."""
    url = "postgresql://ops:hunter2hunter2@127.0.0.1:1/failhook?connect_timeout=1"

    answer = call("doctor", "--json", "--store", url)

    assert 2 == answer.code
    assert any("127.0.0.1" in text or "psycopg" in text for text in acts(answer))
    assert "hunter2" not in answer.out + answer.err


def test_looking_changes_nothing(call, place):
    """After doctor, status, history, stats and a list, a store holds what it held."""
    a_store_with_something_of_everything(place / "here.db")

    def held() -> list[str]:
        with closing(sqlite3.connect(place / "here.db")) as connection:
            return list(connection.iterdump())

    before = held()
    for words in (["doctor"], ["status"], ["history", "nightly/load"], ["stats"]):
        call(*words, "--store", "here.db")
    call("dead-letters", "list", "--store", "here.db")

    assert before == held()


def test_a_store_of_an_older_version_is_left_as_it_is(call, place):
    """Who only looks does not take it from the processes that still use it, and says so: 2."""
    with closing(sqlite3.connect(place / "here.db")) as connection:
        connection.executescript(FIRST_VERSION.read_text())

    answer = call("doctor", "--json", "--store", "here.db")
    status = call("status", "--store", "here.db")

    assert 2 == answer.code
    (text,) = acts(answer)
    assert "an older failhook wrote it (schema 1, this version needs " in text
    assert "an older failhook wrote it" in status.error
    with closing(sqlite3.connect(place / "here.db")) as connection:
        assert [(1,)] == connection.execute("PRAGMA user_version").fetchall()


@pytest.mark.requires_service("postgres")
def test_a_database_without_a_store_is_left_without_one(call, postgres_url):
    """A wrong schema in a URL is told, and not made: 2."""
    doctor = call("doctor", "--json", "--store", postgres_url)
    history = call("history", "nightly/load", "--store", postgres_url)

    (text,) = acts(doctor)
    assert (2, True) == (doctor.code, text.endswith("nothing has been written there yet"))
    assert history.error.endswith("nothing has been written there yet")


def test_a_store_that_is_named_and_not_there_needs_somebody(call, place):
    """A wrong name is told; that the default store was never needed is fine."""
    named, default = call("doctor", "--store", "gone.db"), call("doctor")

    assert (2, 0) == (named.code, default.code)
    assert "act   store" in named.out
    assert "gone.db: there is no such file" in named.out
    assert "note  store" in default.out
    assert not (place / "gone.db").exists()


def test_a_retry_that_never_began_is_told_once_patience_is_over(call, place):
    """Its scheduler may have died between decision and requeue."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        task = Task("nightly", "load", run_id="r1", policy=Policy(retries=1))
        pipeline.failed(task, Evidence.returncode(1))

    patient = call("doctor", "--json", "--store", "here.db")
    hasty = call("doctor", "--json", "--patience", "0.001", "--store", "here.db")

    assert (0, 1) == (patient.code, hasty.code)
    (text,) = acts(hasty)
    assert text.startswith("attempt 2 of default/nightly/load/r1/1 was granted and has not begun")


def test_what_was_dropped_is_told(call, place):
    """More than the bounds allow were waiting: somebody will never hear of it."""
    manager = Manager()
    manager.register(Refusing(), "refusing")
    store = open_store(place / "here.db", Bounds(events=1))
    with Pipeline(store, manager=manager, dispatch="none") as pipeline:
        for name in ("load", "sum"):
            pipeline.failed(Task("nightly", name), Evidence.returncode(1))

    answer = call("doctor", "--json", "--store", "here.db")

    assert any("plugin refusing will never get 1 event, 1 of them final" in e for e in acts(answer))


def test_a_plugin_that_is_refused_or_hangs_is_told_with_why(call, package, monkeypatch):
    """A misspelt hook, and a constructor that does not come back, are named."""
    monkeypatch.setattr("failhook.cli.doctor.installed.SECONDS", 0.2)
    package(
        "import threading\n"
        "from failhook.plugin import hookimpl\n"
        "class Misspelt:\n"
        "    @hookimpl\n"
        "    def on_task_faild(self, task): ...\n"
        "class Hangs:\n"
        "    def __init__(self):\n"
        "        threading.Event().wait(60)\n",
        "[failhook]\nmisspelt = acme:Misspelt\nhangs = acme:Hangs\n",
    )

    answer = call("doctor", "--json")

    assert 1 == answer.code
    assert any("on_task_faild" in text and "on_task_failed" in text for text in acts(answer))
    assert any("'hangs' does not come back" in text for text in acts(answer))


def _hook():
    from failhook.plugin import hookimpl

    @hookimpl
    def on_task_failed(self, event):
        """Take it."""

    return on_task_failed
