"""Say why a task failed: the verdict only.

FILE holds one document: evidence as {"system": ..., "evidence": {...}, "context": {...}} (see
docs/evidence.md), a native record that names itself (a Pod as kubectl -o json prints it, a batch
job), or the text of a Python traceback; without FILE it is read from standard input. A List of
several pods or jobs gets a verdict each. With --jsonl each line is one document, with an "id" if
you like, and each verdict is one line in the same order; a line that cannot be read gives
{"id", "error"}, and the rest goes on.

The built-in rules and those of your settings decide; plugins are not asked, no store is touched.

  kubectl get pod load-x7 -o json | failhook classify
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any, cast

from failhook.classify import recognise
from failhook.cli.arguments import add_json
from failhook.cli.documents import decoded, parse_json, read_lines
from failhook.cli.inquiry import Judge, Question, add_judge, judge_of, questions
from failhook.cli.terminal import lines_of
from failhook.cli.words import unused_line, verdict_lines
from failhook.errors import EvidenceError
from failhook.evidence import Evidence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take one document, or one a line."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument("file", metavar="FILE", nargs="?", help="one document; - is standard input")
    source.add_argument("--jsonl", metavar="FILE", help="one JSON object a line, in and out")
    add_judge(parser)
    add_json(parser, "the verdict")


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict, or one a line."""
    judge = judge_of(arguments)
    if arguments.jsonl is not None:
        for number, line in enumerate(read_lines(arguments.jsonl), 1):
            if line.strip():
                print(json.dumps(_answer(judge, number, line)), flush=True)
        return 0
    asked = questions(judge, arguments.file)
    if arguments.json:
        documents = [_document(judge, each) for each in asked]
        print(json.dumps(documents if len(asked) > 1 else documents[0], indent=2))
    else:
        told = "\n\n".join("\n".join(_lines(judge, each)) for each in asked)
        print("\n".join(lines_of(told)))
    return 0


def _lines(judge: Judge, question: Question) -> list[str]:
    title = [f"{question.name}:"] if question.name else []
    if question.evidence is None:
        return [*title, *judge.lines([f"no verdict: {question.problem}"])]
    lines = verdict_lines(judge.classifier.classify(judge.task, question.evidence))
    return [*title, *judge.lines([*lines, *unused_line(question.unused)])]


def _document(judge: Judge, question: Question) -> dict[str, Any]:
    name = {"name": question.name} if question.name else {}
    if question.evidence is None:
        return {**name, "error": judge.shown(question.problem)}
    details = judge.classifier.classify(judge.task, question.evidence)
    not_used = {"not_used": list(question.unused)} if question.unused else {}
    return {**name, **judge.shown(details.to_dict()), **not_used}


def _answer(judge: Judge, number: int, line: bytes) -> dict[str, Any]:
    identity: Any = None
    try:
        document = _object(parse_json(decoded(line)))
        identity = document.get("id")
        evidence: Evidence = recognise(document)
    except EvidenceError as error:
        return {"id": identity, "error": judge.shown(f"line {number}: {error}")}
    except Exception as error:  # noqa: BLE001 - whatever a line does to its reader, the rest goes on
        return {"id": identity, "error": judge.shown(f"line {number}: cannot be read: {error!r}")}
    details = judge.classifier.classify(judge.task, evidence)
    return {
        "id": identity,
        "kind": details.kind,
        "reason": judge.shown(details.reason),
        "deterministic": details.deterministic,
        "confidence": details.confidence,
        "started": details.started,
        "rule": details.rule,
    }


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise EvidenceError(f"it is a {type(value).__name__}; it must be an object")
    return cast("Mapping[str, Any]", value)
