"""Explain a verdict: the rule, the facts, what else was considered, what to check next.

FILE is what `failhook classify` takes: evidence, a native record, or the text of a traceback. The
facts stand under the names that [[rules]] of your settings can match.

  failhook explain pod.json
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from failhook.cli.arguments import add_json
from failhook.cli.inquiry import Judge, Question, add_judge, judge_of, questions
from failhook.cli.terminal import lines_of
from failhook.cli.words import explanation_lines, unused_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take one document."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="one document; - is standard input")
    add_judge(parser)
    add_json(parser, "the explanation")


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation."""
    judge = judge_of(arguments)
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
    explanation = judge.classifier.explain(judge.task, question.evidence)
    lines = explanation_lines(explanation)
    return [*title, *judge.lines([*lines, *unused_line(question.unused)])]


def _document(judge: Judge, question: Question) -> dict[str, Any]:
    name = {"name": question.name} if question.name else {}
    if question.evidence is None:
        return {**name, "error": judge.shown(question.problem)}
    explanation = judge.classifier.explain(judge.task, question.evidence)
    not_used = {"not_used": list(question.unused)} if question.unused else {}
    return {**name, **judge.shown(explanation.to_dict()), **not_used}
