"""Whatever is wrong about a call is one clear line, and exit code 2."""

from __future__ import annotations

import json
import os
import sqlite3

import pytest

from failhook.stores import open_store

WRONG = {
    "no-command": ([], "failhook: which command? One of run, "),
    "unknown-option": (["--jsn"], "failhook: --jsn is not an option here; see failhook --help"),
    "misspelt": (["clasify"], "failhook clasify: there is no such command; did you mean classify?"),
    "unlike": (["zzz"], "failhook zzz: there is no such command; there are run, "),
    "nothing-to-classify": (
        ["classify"],
        "failhook classify: standard input: there is nothing in it",
    ),
    "two-inputs": (["classify", "a", "--jsonl", "b"], "failhook classify: argument --jsonl: not a"),
    "too-many": (["classify", "a", "b"], "failhook classify: unrecognized arguments: b; see"),
    "abbreviated": (["classify", "--js", "x"], "failhook classify: unrecognized arguments: --js"),
    "no-file": (["classify", "gone.json"], "failhook classify: gone.json: No such file or dir"),
    "no-lines": (["classify", "--jsonl", "gone"], "failhook classify: gone: No such file or dir"),
    "folder": (["classify", "."], "failhook classify: .: Is a directory"),
    "folder-of-lines": (["classify", "--jsonl", "."], "failhook classify: .: Is a directory"),
    "bad-json": (
        ["classify", "bad.json"],
        "failhook classify: bad.json: not valid JSON: Expecting ':' delimiter (line 2, column 5)",
    ),
    "deep-json": (
        ["classify", "deep.json"],
        "failhook classify: deep.json: not valid JSON: nested",
    ),
    "huge-number": (["classify", "huge.json"], "failhook classify: huge.json: not valid JSON: Exc"),
    "not-utf-8": (["classify", "bytes"], "failhook classify: bytes: not UTF-8 (byte 2)"),
    "empty": (["classify", "empty"], "failhook classify: empty: there is nothing in it"),
    "no-evidence": (["classify", "other.json"], "failhook classify: other.json: no known shape"),
    "a-list": (["explain", "list.json"], "failhook explain: list.json: evidence is a number; it"),
    "nothing-to-explain": (["explain"], "failhook explain: standard input: there is nothing in it"),
    "no-label": (
        ["explain", "--label", "x", "f"],
        "failhook explain: argument --label: 'x' must",
    ),
    "plain-text": (
        ["classify", "hello"],
        "failhook classify: hello: neither JSON nor a Python traceback; for Kubernetes use -o json",
    ),
    "yaml": (["explain", "pod.yaml"], "failhook explain: pod.yaml: neither JSON nor a Python trac"),
    "explain-no-file": (["explain", "gone.json"], "failhook explain: gone.json: No such file"),
    "no-config": (
        ["classify", "--config", "gone.toml", "other.json"],
        "failhook classify: gone.toml: there is no such file to read settings from",
    ),
    "broken-config": (
        ["classify", "--config", "broken.toml", "other.json"],
        "failhook classify: broken.toml:2:9: not valid TOML: Expected '=' after a key",
    ),
    "wrong-setting": (
        ["run", "--config", "wrong.toml", "--", "true"],
        "failhook run: wrong.toml:2: policy.retries is -1; it must be a whole number, 0 or more",
    ),
    "wrong-plugin-setting": (
        ["run", "--config", "plugin.toml", "--", "true"],
        "failhook run: plugin.toml:3: plugins.log.format is 'xml'; allowed: text, json",
    ),
    "plugin-not-installed": (
        ["run", "--config", "absent.toml", "--", "true"],
        "failhook run: plugin 'carrier-pigeon'",
    ),
    "no-task": (["run"], "failhook run: which command? Write it after --: failhook run -- COMMAND"),
    "empty-command": (["run", "--"], "failhook run: which command? Write it after --"),
    "empty-word": (["run", "--", ""], "failhook run: which command? Write it after --"),
    "negative": (
        ["run", "--retries", "-1", "--", "true"],
        "failhook run: argument --retries: '-1' must be a whole number, 0 or more; see failhook",
    ),
    "not-whole": (["run", "--retries", "1.5", "--", "true"], "failhook run: argument --retries: '"),
    "no-time": (
        ["run", "--timeout", "soon", "--", "true"],
        "failhook run: argument --timeout: 'soon' must be seconds above 0, such as 90, 5m or 2h",
    ),
    "zero-time": (["run", "--timeout", "0", "--", "true"], "failhook run: argument --timeout: '0'"),
    "no-size": (
        ["run", "--memory-limit", "lots", "--", "true"],
        "failhook run: argument --memory-limit: 'lots' must be bytes above 0, such as 512M or 2G",
    ),
    "little-memory": (
        ["run", "--memory-limit", "1k", "--", "true"],
        "failhook run: memory_limit is 1024; it must be a whole number,",
    ),
    "no-value": (["run", "--name"], "failhook run: argument --name: expected one argument"),
    "run-option": (["run", "--retry", "3", "--", "true"], "failhook run: unrecognized arguments"),
    "empty-workflow": (
        ["run", "--workflow", "", "--", "true"],
        "failhook run: argument --workflow: it is empty; give a value, or leave the option out",
    ),
    "empty-name": (["run", "--name", "", "--", "true"], "failhook run: argument --name: it is emp"),
    "empty-run": (["run", "--run-id", " ", "--", "true"], "failhook run: argument --run-id: it is"),
    "empty-store": (["run", "--store", "", "--", "true"], "failhook run: argument --store: it is"),
    "empty-config": (["explain", "--config", "", "x"], "failhook explain: argument --config: it i"),
    "run-of-a-shell": (
        ["run", "--run-id", "r1", "--", "/usr/bin/python3.11", "-V"],
        "failhook run: --run-id needs --name here: other tasks of the run may be called python3.11",
    ),
    "store-scheme": (
        ["run", "--store", "redis://x", "--", "true"],
        "failhook run: store 'redis://...': it must be memory, a file name",
    ),
    "store-folder": (["run", "--store", "gone/f.db", "--", "true"], "failhook run: store "),
    "store-is-a-folder": (["run", "--store", "/", "--", "true"], "failhook run: store /: "),
    "no-store": (
        ["resolve", "--store", "bad.json", "a/b/c/d/1", "fail"],
        "failhook resolve: store",
    ),
    "foreign-store": (
        ["resolve", "--store", "foreign.db", "a/b/c/d/1", "fail"],
        "failhook resolve: store ",
    ),
    "no-resolution": (["resolve", "a/b/c/d/1"], "failhook resolve: the following arguments are r"),
    "unknown-value": (
        ["resolve", "a/b/c/d/1", "maybe"],
        "failhook resolve: argument resolution: invalid choice: 'maybe' (choose from",
    ),
    "unknown-task": (
        ["resolve", "--store", "empty.db", "a/b/c/d/1", "fail"],
        "failhook resolve: nothing of a/b/c/d/1 is on hold or lost: this store knows no s",
    ),
    "unlike-a-key": (
        ["resolve", "load", "fail"],
        "failhook resolve: load is no key; one looks like default/nightly/load/r1/1: namespace/wo",
    ),
    "resolve-no-store": (
        ["resolve", "--store", "typo.db", "a/b/c/d/1", "fail"],
        "failhook resolve: store typo.db: there is no such file; name a store with --store, FAIL",
    ),
    "resolve-in-memory": (
        ["resolve", "--store", ":memory:", "a/b/c/d/1", "fail"],
        "failhook resolve: a store in memory ends with its process: nothing to look at; name a s",
    ),
    "status-no-store": (["status", "--store", "typo.db"], "failhook status: store typo.db: there "),
    "status-foreign": (["status", "--store", "foreign.db"], "failhook status: store "),
    "slashes": (
        ["run", "--store", "sqlite:///gone/a.db", "--", "true"],
        "failhook run: store 'sqlite:///gone/a.db': there is no folder gone here; an absolute path",
    ),
}


@pytest.fixture(autouse=True)
def files(place):
    """Have files with something wrong about each of them."""
    (place / "hello").write_text("hello world\n")
    (place / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nstatus:\n  reason: OOMKilled\n")
    (place / "bad.json").write_text('{"a": 1,\n"b" 2}')
    (place / "deep.json").write_text('{"a":' * 100_000)
    (place / "huge.json").write_text('{"a": ' + "9" * 5_000 + "}")
    (place / "bytes").write_bytes(b"{}\xff")
    (place / "empty").write_bytes(b" \n")
    (place / "other.json").write_text('{"a": 1}')
    (place / "list.json").write_text("[1]")
    (place / "broken.toml").write_text("[policy]\nretries 3")
    (place / "wrong.toml").write_text("[policy]\nretries = -1")
    (place / "plugin.toml").write_text("[plugins.log]\nstream = 'stderr'\nformat = 'xml'")
    (place / "absent.toml").write_text("[plugins.carrier-pigeon]\nloft = 3")
    open_store(place / "empty.db").close()
    with sqlite3.connect(place / "foreign.db") as connection:
        connection.execute("CREATE TABLE songs (title)")
    connection.close()


@pytest.mark.parametrize(("words", "expected"), WRONG.values(), ids=list(WRONG))
def test_a_wrong_call_gets_one_line_and_exit_code_2(words, expected, call):
    """The line names the command, the thing and what to do; nothing else is printed."""
    assert expected == call(*words).error[: len(expected)]


def test_a_line_of_text_is_one_line_whatever_is_in_the_name(call):
    """A name with line breaks or bytes that are no text cannot break the line."""
    for name in ("no\nsuch\nfile", os.fsdecode(b"\xff\xfe")):
        assert "No such file or directory" in call("classify", name).error


def test_bytes_that_are_no_text_are_no_crash(call):
    """Names from another encoding are kept as escapes, wherever they go."""
    name = os.fsdecode(b"\xff")

    assert call("resolve", name, "fail", "--actor", name).error.startswith(
        "failhook resolve: \\udcff is no key"
    )
    answer = call("run", "--name", name, "--workflow", name, "--run-id", name, "--", "false")
    assert answer.err.startswith("failhook: \\udcff/\\udcff attempt 1 failed")


def test_a_home_that_cannot_be_written_is_said_with_the_way_out(call, place, monkeypatch):
    """Where the default store cannot be, the line tells how to name another."""
    (place / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "file"))

    error = call("run", "--", "true").error

    assert error.startswith("failhook run: no folder for the default store: ")
    assert error.endswith(
        "name a store with --store, FAILHOOK_STORE or `store` in failhook.toml; "
        "the command was not started"
    )


def test_nothing_is_made_by_a_command_that_only_looks(call, place, tmp_path):
    """A misspelt store stays misspelt: no file and no folder appears."""
    before = sorted(place.iterdir())

    call("resolve", "--store", "typo.db", "a/b/c/d/1", "fail")
    call("status", "--store", "sqlite:///typo.db")
    call("status")

    assert before == sorted(place.iterdir())
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("home", ["", "relative"])
def test_a_home_that_is_none_is_not_the_root_folder(home, call, monkeypatch):
    """An empty HOME, as cron and containers have it, gets a line with the way out."""
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", home)

    assert call("run", "--", "true").error.startswith(
        "failhook run: there is no home directory for the default store; name a store with --store"
    )


def test_a_wrong_call_in_a_real_process_has_the_exit_code(process):
    """What main returns is what the shell sees."""
    child = process("classify", "gone.json")
    out, err = child.communicate()

    assert (child.returncode, out) == (2, b"")
    assert err == b"failhook classify: gone.json: No such file or directory\n"


def test_no_document_however_strange_is_a_crash(call, place):
    """Valid JSON of any shape gives a verdict or one line."""
    strange = [None, True, 0, "", "x", [], {}, {"a": []}, [[]], -1e308, "\ud800", {"kind": []}]
    documents = [{"system": one, "evidence": {"x": two}} for one in strange for two in strange]
    documents += [{"evidence": {name: one}} for name in ("exception", "signal") for one in strange]
    documents += [{"evidence": {}, "context": one} for one in strange]
    documents += [{"evidence": one} for one in strange]
    (place / "strange.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))

    answer = call("classify", "--jsonl", "strange.jsonl")
    answers = [json.loads(line) for line in answer.out.splitlines()]

    assert (answer.code, len(documents)) == (0, len(answers))
    assert all("cannot be read" not in each.get("error", "") for each in answers)
    for number, document in enumerate(documents):
        (place / "one.json").write_text(json.dumps(document))
        assert call("explain", "one.json").code == (2 if "error" in answers[number] else 0)
