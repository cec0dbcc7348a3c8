"""Text that a task's author can write never passes for what the platform did."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from failhook.classify import Classifier
from failhook.details import Kind
from failhook.evidence import Evidence
from tests.score.cases import load

CLASSIFIER = Classifier()
SYSTEMS = ("python", "airflow", "celery", "prefect", "dagster", "rq", "ray", "dask", "process")
PLAIN = {
    "type": "builtins.ValueError",
    "mro": ["builtins.ValueError", "builtins.Exception", "builtins.BaseException"],
}
OF_ITS_OWN = {
    "type": "acme.errors.UpstreamError",
    "mro": ["acme.errors.UpstreamError", "builtins.Exception", "builtins.BaseException"],
}


def texts(document: object) -> Iterator[str]:
    """Every text of a document, at any depth."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for value in document.values():
            yield from texts(value)
    elif isinstance(document, list):
        for value in document:
            yield from texts(value)


PHRASES = sorted(
    {
        text
        for case in load()
        if case["expected"]["kind"] == "infra"
        for text in texts(case["evidence"])
        if len(text) > 4
    }
)

PLACES = {
    "the message of a plain exception": lambda text: {"exception": {**PLAIN, "message": text}},
    "the middle of its message": lambda text: {
        "exception": {**PLAIN, "message": f"bad row: {text}"}
    },
    "the message of a class of the user's own": lambda text: {
        "exception": {**OF_ITS_OWN, "message": text}
    },
    "a log beside a plain exception": lambda text: {
        "exception": {**PLAIN, "message": "bad row"},
        "log_tail": ["INFO reading", text, "ValueError: bad row"],
    },
    "a log beside exit code 1": lambda text: {
        "exit_code": 1,
        "log_tail": [f"[app] INFO upstream said: {text}", "exiting"],
    },
    "a record of the user's exception": lambda text: {
        "state": {"exc_info": f"Traceback (most recent call last):\nValueError: {text}"}
    },
    "a state that quotes the user's exception": lambda text: {
        "state": {
            "state_type": "FAILED",
            "message": f"Flow run encountered an exception. ValueError: {text}",
        }
    },
    "an argument of a command that failed": lambda text: {
        "exception": {
            "type": "subprocess.CalledProcessError",
            "message": f"Command '['echo', '{text}']' returned non-zero exit status 1.",
        }
    },
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("place", PLACES)
def test_what_a_platform_says_means_nothing_where_a_user_can_write_it(place: str, system: str):
    """No phrase of any infra case makes infra of it in a place that the user controls."""
    documents = {text: PLACES[place](text) for text in PHRASES}

    kinds = {
        text: CLASSIFIER.classify(None, Evidence.from_dict({"system": system, "evidence": seen}))
        for text, seen in documents.items()
    }

    assert {} == {
        text: f"{details.rule}: {json.dumps(documents[text])}"
        for text, details in kinds.items()
        if details.kind is Kind.INFRA
    }


def test_a_line_of_the_engine_decides_where_nothing_of_the_task_contradicts_it():
    """The same line that gives way to an exception or an exit code decides when it is alone."""
    line = "{scheduler_job_runner.py:2110} ERROR - Detected zombie job: {'task': 'load'}"

    def kind(**beside: object) -> Kind:
        seen = {"log_tail": [line], **beside}
        return CLASSIFIER.classify(
            None, Evidence.from_dict({"system": "airflow", "evidence": seen})
        ).kind

    assert Kind.INFRA is kind()
    assert Kind.INFRA is kind(signal=15)
    assert Kind.APPLICATION is kind(exit_code=1)
    assert Kind.APPLICATION is kind(exception={**PLAIN, "message": "bad row"})


def test_what_a_task_printed_is_not_what_its_engine_says():
    """Airflow marks what a command or container printed; that is not read as its own words."""
    output = "{pod_manager.py:400} INFO - [base] Detected zombie job: x"

    details = CLASSIFIER.classify(
        None, Evidence.from_dict({"system": "airflow", "evidence": {"log_tail": [output]}})
    )

    assert Kind.UNKNOWN is details.kind
