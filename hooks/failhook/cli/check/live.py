"""Marked tests to every plugin and every receiver, one each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any, cast

from failhook.cli.check.plugins import Made
from failhook.cli.failures import event_of
from failhook.cli.simulation import simulate
from failhook.config import Config
from failhook.event import FailureEvent
from failhook.evidence import Evidence
from failhook.manager.outcome import error_line
from failhook.task import Task, new_run_id

LiveTests = Callable[[FailureEvent], Mapping[str, Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one test.

    Attributes:
        plugin: who was tried.
        receiver: whom it sent to; "" where it has no receivers.
        error: why it was not taken; "" where it was.
    """

    plugin: str
    receiver: str
    error: str

    @property
    def text(self) -> str:
        """Return it in one line."""
        who = f"{self.plugin}: {self.receiver}" if self.receiver else self.plugin
        return (
            f"{who} did not take the test: {self.error}" if self.error else f"{who} took the test"
        )

    def to_dict(self) -> Mapping[str, Any]:
        return {"plugin": self.plugin, "receiver": self.receiver, "error": self.error}


def try_all(config: Config, made: Made, timeout: float) -> list[Tried]:
    """Send the tests.

    A plugin with a method ``live_tests(event)`` says itself what there is to try: a function for
    each of its receivers, which sends a test and takes it back, or raises. Any other is told of a
    simulated failure and of its end.

    Args:
        config: the settings.
        made: the plugins.
        timeout: seconds for those that are told of a simulated failure.
    """
    task = Task("failhook", "check", run_id=f"check-{new_run_id()}", namespace=config.namespace)
    evidence = Evidence.verdict(
        "application", "UserException", message="A test: nothing has failed."
    )
    event = event_of(config, task, evidence, simulated=True)
    tried: list[Tried] = []
    apart: list[str] = []
    for name in made.manager.names():
        tests = getattr(made.manager.plugin(name), "live_tests", None)
        if callable(tests):
            apart.append(name)
            with redirect_stdout(sys.stderr):
                tried += _try(name, cast("LiveTests", tests), event, made)
    rest = replace(config, blocked=(*config.blocked, *apart))
    told = simulate(rest, task, evidence, timeout)
    return tried + [Tried(each.plugin, "", each.error) for each in told if each.hooks]


def _try(name: str, tests: LiveTests, event: FailureEvent, made: Made) -> list[Tried]:
    try:
        asked = tests(event)
    except Exception as error:  # noqa: BLE001 - as in `_error`
        return [Tried(name, "", error_line(error, made.redact))]
    return [Tried(name, to, _error(test, made.redact)) for to, test in asked.items()]


def _error(test: Callable[[], object], redact: Callable[[str], str]) -> str:
    """Send one test; return why it was not taken, or ""."""
    try:
        test()
    except Exception as error:  # noqa: BLE001 - whatever a plugin raises, the next one is tried
        return error_line(error, redact)
    return ""
