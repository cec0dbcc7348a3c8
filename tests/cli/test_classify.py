"""`failhook classify` and `failhook explain`."""

from __future__ import annotations

import json
import subprocess

import pytest

LOST = {"system": "process", "evidence": {"lost": {"host": "h", "pid": 3, "why": "process_gone"}}}
TRACEBACK = """Traceback (most recent call last):
  File "job.py", line 3, in <module>
    load()
ValueError: bad input
"""


def test_lines_get_verdicts_in_the_same_order(call):
    """Each answer carries the id of its question, whatever JSON that is, and the seven fields."""
    lines = [
        {"id": "a", "system": "process", "evidence": {"exit_code": 3}, "context": {}},
        {"id": 7, **LOST},
        {"evidence": {"signal": 11}},
    ]
    answer = call("classify", "--jsonl", "-", stdin="\n".join(map(json.dumps, lines)).encode())

    first, second, third = map(json.loads, answer.out.splitlines())
    assert (answer.code, answer.err) == (0, "")
    assert first == {
        "id": "a",
        "kind": "application",
        "reason": "NonZeroExit",
        "deterministic": None,
        "confidence": "confirmed",
        "started": "maybe",
        "rule": "process.exit.nonzero",
    }
    assert ("infra", "WorkerLost", 7) == (second["kind"], second["reason"], second["id"])
    assert ("NativeCrash", None) == (third["reason"], third["id"])


def test_a_line_that_cannot_be_read_says_so_and_the_rest_goes_on(call):
    """One bad line costs one answer, which names the line and the problem."""
    stdin = b'{bad\n\n\xff\n[1]\n{"id": {"a": 1}, "x": 2}\n{"id": 9, "evidence": {"exit_code": 3}}'

    answer = call("classify", "--jsonl", "-", stdin=stdin)

    json_error, bytes_error, list_error, shape_error, verdict = map(
        json.loads, answer.out.splitlines()
    )
    assert (answer.code, answer.err) == (0, "")
    assert json_error["error"].startswith("line 1: not valid JSON: Expecting property name")
    assert bytes_error == {"id": None, "error": "line 3: not UTF-8 (byte 0)"}
    assert list_error["error"] == "line 4: it is a list; it must be an object"
    assert shape_error["id"] == {"a": 1}
    assert shape_error["error"].startswith("line 5: no known shape")
    assert (9, "NonZeroExit") == (verdict["id"], verdict["reason"])


def test_a_line_that_trips_its_reader_costs_only_itself(call, monkeypatch):
    """A bug in the reading of one line never takes the others' answers away."""
    monkeypatch.setattr("failhook.cli.classify.recognise", lambda document: 1 // 0)

    answer = call("classify", "--jsonl", "-", stdin=b'{"id": 1}\n{"id": 2}\n')

    first, second = map(json.loads, answer.out.splitlines())
    assert (1, 2) == (first["id"], second["id"])
    assert "line 1: cannot be read: ZeroDivisionError" in first["error"]


def test_lines_are_answered_as_they_come(process):
    """A pipe gets its answer before it sends the next question."""
    child = process("classify", "--jsonl", "-", stdin=subprocess.PIPE)

    for number in range(3):
        child.stdin.write(json.dumps({"id": number, **LOST}).encode() + b"\n")
        child.stdin.flush()
        assert number == json.loads(child.stdout.readline())["id"]
    child.stdin.close()

    assert child.wait() == 0


def test_one_document_gets_a_verdict_in_words(call, place):
    """A person reads kind, reason, confidence, message, whether it had started, and the rule."""
    (place / "lost.json").write_text(json.dumps(LOST))

    answer = call("classify", "lost.json")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "infra WorkerLost (likely)",
        "  Whoever supervised the attempt (process 3 on h) is gone.",
        "  a retry may or may not help; its code may have started",
        "  rule process.lost",
    ]


def test_one_document_gets_its_details_as_json(call):
    """A program reads the whole verdict."""
    answer = call("classify", "--json", "-", stdin=json.dumps(LOST).encode())

    details = json.loads(answer.out)
    assert ("infra", "WorkerLost") == (details["kind"], details["reason"])
    assert {"path": "lost", "value": True} in details["evidence"]


@pytest.mark.parametrize("as_json", [False, True])
def test_the_text_of_a_traceback_is_a_document_too(as_json, call):
    """What a log shows can be piped in as it is, or as a JSON string."""
    text = json.dumps(TRACEBACK) if as_json else f"\ufeff{TRACEBACK}"

    answer = call("classify", "--json", "-", stdin=text.encode())

    assert answer.code == 0
    assert json.loads(answer.out)["kind"] == "application"


def test_a_log_that_begins_with_a_bracket_is_text(call):
    """A time stamp in brackets is not mistaken for broken JSON."""
    answer = call("classify", "-", stdin=f"[2026-01-01 10:00] ERROR\n{TRACEBACK}".encode())

    assert (answer.code, answer.err) == (0, "")


def test_rules_of_the_settings_come_first(call, place):
    """The verdict is the one that a pipeline with the same settings gives."""
    (place / "failhook.toml").write_text(
        '[[rules]]\nid = "acme"\nmatch = ["exit_code = 3"]\nkind = "infra"\nreason = "AcmeBusy"\n'
    )

    answer = call("classify", "--json", "-", stdin=b'{"evidence": {"exit_code": 3}}')

    details = json.loads(answer.out)
    assert ("infra", "AcmeBusy", "acme") == (details["kind"], details["reason"], details["rule"])


def test_an_explanation_has_rule_facts_rivals_and_the_next_step(call):
    """Whoever doubts a verdict can follow it to the documents that it rests on."""
    stdin = b'{"system": "process", "evidence": {"signal": 9, "oom_host": 0}}'

    text = call("explain", "-", stdin=stdin).out
    document = json.loads(call("explain", "--json", "-", stdin=stdin).out)

    assert text.startswith("infra KilledBySignal (likely)\n")
    for part in (
        f"\nRule {document['details']['rule']} (evidence: signal)\n  {document['because']}\n",
        f"\n  It matches: {document['matched']}\n",
        "\nFacts\n  system    process\n  signal    9\n  oom_host  0\n",
        "\nAlso matched, with evidence that weighs less\n",
        f"rule {document['considered'][0]['rule']} (",
        f"\nNext\n  {document['next_step']}\n",
        f"\nMore\n  {document['source']}\n  {document['docs']} in failhook's repository\n",
    ):
        assert part in text
    assert "None" not in text


def test_what_nothing_decides_is_explained_as_well(call):
    """No evidence is no crash: the verdict is unknown, and the next step says what to do."""
    answer = call("explain", "-", stdin=b'{"system": "acme", "evidence": {"colour": "red"}}')

    assert answer.code == 0
    assert answer.out.startswith("unknown Unknown (guess)\n")
    assert "\nNext\n" in answer.out
    assert "None" not in answer.out


def test_no_store_is_touched(call, tmp_path):
    """A verdict leaves nothing behind."""
    call("classify", "-", stdin=json.dumps(LOST).encode())
    call("explain", "-", stdin=json.dumps(LOST).encode())

    assert not (tmp_path / "state").exists()
