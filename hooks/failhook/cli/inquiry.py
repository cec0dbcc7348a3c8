"""What `classify` and `explain` are asked: documents, each with the task that it is about."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from failhook.classify import Classifier, read_user_rules, recognise
from failhook.cli.arguments import UsageError, add_config, given, label
from failhook.cli.documents import called, read_document
from failhook.cli.members import members_of
from failhook.cli.not_failed import why_no_failure
from failhook.cli.unused import unused
from failhook.config import Config, load_config
from failhook.details import Kind
from failhook.errors import EvidenceError
from failhook.evidence import Evidence
from failhook.redact import Redactor
from failhook.redact.sources import open_redactor
from failhook.task import Task

_YAML: Final = re.compile(r"(?m)^(?:apiVersion|kind|items): ?")


@dataclass(frozen=True, slots=True)
class Question:
    """One document.

    Attributes:
        name: what it is called where there are several.
        evidence: what it holds; None where it holds no failure.
        problem: why it holds none.
        unused: keys that nothing read.
    """

    name: str
    evidence: Evidence | None = None
    problem: str = ""
    unused: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Judge:
    """The rules, the task, and what is secret.

    Attributes:
        classifier: with the rules of the configuration.
        task: whom the rules of users may ask about; None where nothing is known of it.
        redactor: takes secrets out of what is printed.
    """

    classifier: Classifier
    task: Task | None
    redactor: Redactor

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Return lines without secrets, those of more than one line too."""
        return self.redactor.redact("\n".join(lines)).split("\n")

    def shown(self, value: Any) -> Any:
        """Return a JSON value without secrets."""
        if isinstance(value, str):
            return self.redactor.redact(value)
        if isinstance(value, Mapping):
            document = {k: self.shown(v) for k, v in cast("Mapping[str, Any]", value).items()}
            path, fact = document.get("path"), document.get("value")
            if isinstance(path, str) and isinstance(fact, str):
                document["value"] = self.redactor.redact_value(path, fact)
            return document
        if isinstance(value, list | tuple):
            return [self.shown(each) for each in cast("Sequence[Any]", value)]
        return value


def add_judge(parser: argparse.ArgumentParser) -> None:
    """Add what decides beside the document: the settings, and the task for users' rules."""
    group = parser.add_argument_group("the task, for rules of yours that ask for it")
    group.add_argument("--namespace", type=given, metavar="NAME", help="task.namespace")
    group.add_argument("--workflow", type=given, metavar="NAME", help="task.workflow")
    group.add_argument("--name", type=given, metavar="NAME", help="task.name")
    group.add_argument("--owner", type=given, metavar="NAME", help="task.owner")
    group.add_argument(
        "--label", type=label, metavar="NAME=VALUE", action="append", help="label.NAME"
    )
    add_config(parser)


def judge_of(arguments: argparse.Namespace) -> Judge:
    """Return who judges.

    Raises:
        ConfigError: a setting is wrong.
    """
    config = load_config(arguments.config)
    return Judge(
        Classifier(read_user_rules(config.rules)),
        _task(arguments, config),
        open_redactor(config.redact, config.redact_sources),
    )


def questions(judge: Judge, name: str | None) -> Sequence[Question]:
    """Read a document and take it apart.

    Raises:
        UsageError: it cannot be read, or nothing in it shows a failure.
    """
    return questions_in(judge, read_document(name), name)


def questions_in(judge: Judge, document: object, name: str | None) -> Sequence[Question]:
    """Take a document apart that was read from the file `name`.

    Raises:
        UsageError: nothing in it shows a failure.
    """
    asked = [_question(judge, title, each) for title, each in members_of(document)]
    if all(each.evidence is None for each in asked):
        problems = dict.fromkeys(each.problem for each in asked)
        raise UsageError(f"{called(name)}: {'; '.join(problems)}")
    return asked


def _question(judge: Judge, name: str, document: object) -> Question:
    problem = why_no_failure(document)
    if problem:
        return Question(name, problem=problem)
    try:
        evidence = recognise(document)
    except EvidenceError as error:
        return Question(name, problem=str(error))
    if isinstance(document, str) and _says_nothing(judge, evidence, document):
        what = "neither JSON nor a Python traceback; for Kubernetes use -o json"
        return Question(name, problem=what)
    return Question(name, evidence, unused=unused(judge.classifier, judge.task, document))


def _says_nothing(judge: Judge, evidence: Evidence, text: str) -> bool:
    """Return whether a text is neither a traceback nor words that a rule knows."""
    if evidence.error is None or evidence.error.type != "builtins.str":
        return False
    verdict = judge.classifier.classify(judge.task, evidence)
    return verdict.kind is Kind.UNKNOWN or _YAML.search(text) is not None


def _task(arguments: argparse.Namespace, config: Config) -> Task | None:
    names = ("namespace", "workflow", "name", "owner", "label")
    if not any(getattr(arguments, name) for name in names):
        return None
    return Task(
        arguments.workflow or "-",
        arguments.name or "-",
        namespace=arguments.namespace or config.namespace,
        owner=arguments.owner,
        labels=dict(arguments.label or ()),
    )
