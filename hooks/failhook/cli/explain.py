"""Explain a verdict: the rule, the facts, what else was considered, what to check next.

FILE is what `failhook classify` takes: evidence, a native record, or the text of a traceback.
"""

from __future__ import annotations

import argparse
import json

from failhook.cli.arguments import add_config, add_json
from failhook.cli.documents import read_evidence
from failhook.cli.settings import classifier
from failhook.cli.words import explanation_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take one document."""
    parser.add_argument("file", metavar="FILE", help="one document; - is standard input")
    add_config(parser)
    add_json(parser, "the explanation")


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation."""
    explanation = classifier(arguments).explain(None, read_evidence(arguments.file))
    if arguments.json:
        print(json.dumps(explanation.to_dict(), indent=2))
    else:
        print("\n".join(explanation_lines(explanation)))
    return 0
