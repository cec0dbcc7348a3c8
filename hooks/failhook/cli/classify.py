"""Say why a task failed: the verdict only.

FILE holds one document: evidence as {"system": ..., "evidence": {...}, "context": {...}}, a
native record that names itself (a Pod as kubectl prints it, a batch job), or the text of a Python
traceback. With --jsonl each line is one, with an "id" if you like, and each verdict is one line in
the same order; a line that cannot be read gives {"id", "error"}, and the rest goes on.

The built-in rules and those of your settings decide; plugins are not asked, no store is touched.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any, cast

from failhook.classify import Classifier, recognise
from failhook.cli.arguments import add_config, add_json
from failhook.cli.documents import decoded, parse_json, read_evidence, read_lines
from failhook.cli.settings import classifier
from failhook.cli.words import verdict_lines
from failhook.errors import EvidenceError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take one document, or one a line."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("file", metavar="FILE", nargs="?", help="one document; - is standard input")
    source.add_argument("--jsonl", metavar="FILE", help="one JSON object a line, in and out")
    add_config(parser)
    add_json(parser, "the verdict")


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict, or one a line."""
    judge = classifier(arguments)
    if arguments.jsonl is not None:
        for number, line in enumerate(read_lines(arguments.jsonl), 1):
            if line.strip():
                print(json.dumps(_answer(judge, number, line)), flush=True)
        return 0
    details = judge.classify(None, read_evidence(arguments.file))
    if arguments.json:
        print(json.dumps(details.to_dict(), indent=2))
    else:
        print("\n".join(verdict_lines(details)))
    return 0


def _answer(judge: Classifier, number: int, line: bytes) -> dict[str, Any]:
    identity: Any = None
    try:
        document = _object(parse_json(decoded(line)))
        identity = document.get("id")
        evidence = recognise(document)
    except EvidenceError as error:
        return {"id": identity, "error": f"line {number}: {error}"}
    except Exception as error:  # noqa: BLE001 - whatever a line does to its reader, the rest goes on
        return {"id": identity, "error": f"line {number}: cannot be read: {error!r}"}
    details = judge.classify(None, evidence)
    return {
        "id": identity,
        "kind": details.kind,
        "reason": details.reason,
        "deterministic": details.deterministic,
        "confidence": details.confidence,
        "started": details.started,
        "rule": details.rule,
    }


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise EvidenceError(f"it is a {type(value).__name__}; it must be an object")
    return cast("Mapping[str, Any]", value)
