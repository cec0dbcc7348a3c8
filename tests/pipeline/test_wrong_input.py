"""What a host passes by mistake: one error that says what is wrong, and how it is done."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from failhook.clock import SystemClock
from failhook.errors import ConfigError
from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.pipeline import Pipeline
from failhook.policy import Backoff, Policy
from failhook.task import Task


def _word(part: object) -> str:
    """Name an argument without the addresses of objects, so that every process names it alike."""
    return re.sub(r" object at 0x[0-9a-f]+", "", str(part))


class NaiveClock:
    """Forgets the zone."""

    def now(self) -> datetime:
        return datetime(2026, 3, 29)  # noqa: DTZ001 - the slip itself

    def monotonic(self) -> float:
        return 0.0


class TextClock(SystemClock):
    """Gives seconds as text."""

    def monotonic(self) -> Any:
        return "0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"store": "x.db"}, r"open it first: failhook\.stores\.open_store\('x\.db'\)"),
        ({"dispatch": "bogus"}, "takes one of thread, inline, none, not 'bogus'"),
        ({"dispatch": None}, "takes one of thread, inline, none, not None"),
        ({"clock": 5}, r"clock=\.\.\.\) takes an object with now\(\) and monotonic\(\), not int"),
        ({"clock": SystemClock}, "not the class SystemClock"),
        ({"clock": NaiveClock()}, "it must be an aware datetime in UTC"),
        ({"clock": TextClock()}, r"monotonic\(\) returned '0'; it must be seconds"),
        ({"random": 0.5}, r"random=\.\.\.\) takes a callable without arguments, not float"),
        ({"rules": "rules"}, r"rules=\.\.\.\) takes a list of Rule, not str"),
        ({"rules": [{"kind": "infra"}]}, r"not dict; failhook\.classify\.read_user_rules\(\)"),
        ({"rules": None}, "not NoneType"),
        ({"executor": 5}, r"executor=\.\.\.\) takes a string, not int"),
        ({"inline_timeout": "5"}, r"inline_timeout=\.\.\.\) takes a number of seconds.*not '5'"),
        ({"inline_timeout": -1}, "a number of seconds, 0 or more and a year at most, not -1"),
        ({"inline_timeout": math.nan}, "not nan"),
        ({"inline_timeout": math.inf}, "not inf"),
    ],
    ids=_word,
)
def test_a_pipeline_refuses_a_wrong_part(arguments: dict[str, Any], message: str) -> None:
    """It says so when it is made, and not when the first task fails."""
    with pytest.raises(ConfigError, match=message):
        Pipeline(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": 5}, r"from_config\(\) takes the path of a file or a Config, not int"),
        (
            {"store": 5},
            r"from_config\(store=\.\.\.\) takes where the store is, .*not int",
        ),
        ({"dispatch": "bogus"}, "takes one of thread, inline, none, not 'bogus'"),
        ({"executor": 5}, r"from_config\(executor=\.\.\.\) takes a string, not int"),
    ],
    ids=str,
)
def test_from_config_refuses_a_wrong_argument(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is opened."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=message):
        Pipeline.from_config(**{"store": "here.db", **arguments})
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, t: p.failed(t, ValueError("x")), r"takes Evidence, such as Evidence\.exception"),
        (lambda p, t: p.succeeded(t, ValueError("x")), r"succeeded\(\) takes Evidence"),
        (lambda p, t: p.started("load"), r"started\(\) takes a Task, not str"),
        (lambda p, t: p.resolve(t, "bogus"), "takes one of retry, fail, succeeded, not 'bogus'"),
        (lambda p, t: p.resolve(t, "retry", actor=5), r"actor=\.\.\.\) takes a string, not int"),
        (lambda p, t: p.attach(t, "x"), r"attach\(\) takes the number of a process.*not 'x'"),
        (lambda p, t: p.attach(t, 0), "1 or more, not 0"),
        (lambda p, t: p.attach(t, True), "not True"),
        (lambda p, t: p.flush("x"), r"flush\(\) takes a number of seconds.*not 'x'"),
        (lambda p, t: p.flush(1e300), r"flush\(\) takes a number of seconds.*a year at most"),
        (lambda p, t: p.close(None), r"close\(\) takes a number of seconds.*not None"),
    ],
)
def test_a_call_refuses_a_wrong_argument(
    call: Callable[[Pipeline, Task], object], message: str
) -> None:
    """The error names the call and what it takes, and nothing is written."""
    with Pipeline(dispatch="none") as pipeline:
        task = pipeline.started(Task("nightly", "load"))
        with pytest.raises(ConfigError, match=message):
            call(pipeline, task)
        with pipeline.store.transaction() as ledger:
            (attempt,) = ledger.attempts(task.key)
    assert ("open", 0) == (attempt.state, attempt.owner.child if attempt.owner else None)


def raising() -> float:
    """Break."""
    raise OSError("no entropy")


@pytest.mark.parametrize(
    ("random", "said"),
    [
        (lambda: "0.3", "returned '0.3'"),
        (lambda: None, "returned None"),
        (lambda: math.nan, "returned nan"),
        (lambda: 1.5, "returned 1.5"),
        (lambda: -1, "returned -1"),
        (raising, r"raised OSError\('no entropy'\)"),
    ],
)
def test_a_broken_source_of_chance_costs_the_jitter_and_nothing_else(
    random: Callable[[], Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Reports go on with half of the backoff, and what is wrong is logged once."""
    policies = Policies(Policy(retries=9, backoff=Backoff(initial=8.0, factor=1.0)))
    with (
        caplog.at_level(logging.ERROR, "failhook"),
        Pipeline(policies=policies, random=random, dispatch="none") as pipeline,
    ):
        task = Task("nightly", "load")
        delays = [
            pipeline.failed(task.at_attempt(number), Evidence.returncode(3)).delay
            for number in (1, 2)
        ]

    assert [4.0, 4.0] == delays
    (line,) = [record.getMessage() for record in caplog.records]
    assert re.search(said, line)


def test_whole_numbers_are_chances_too() -> None:
    """No jitter is 0 or 1, and needs no float."""
    policies = Policies(Policy(retries=1, backoff=Backoff(initial=8.0)))
    with Pipeline(policies=policies, random=lambda: 1, dispatch="none") as pipeline:
        assert 8.0 == pipeline.failed(Task("nightly", "load"), Evidence.returncode(3)).delay
