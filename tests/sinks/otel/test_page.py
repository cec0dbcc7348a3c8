"""What docs/otel.md shows is what the sink does."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from failhook.clock import SystemClock
from failhook.config import load_config
from failhook.details import Fact, Hint
from failhook.error_info import ErrorInfo
from failhook.event import EventType
from failhook.manager.provisions import VolatileState
from failhook_sinks.otel import OtelSink, words
from tests.sinks.otel.conftest import BROKEN, LOST, TASK, an_event

PAGE = (Path(__file__).parents[3] / "docs" / "otel.md").read_text("utf-8")
FULL = {
    "actor": "ann",
    "code": "c",
    "deterministic": False,
    "evidence": (Fact("signal", 9),),
    "executor": "local",
    "exit_code": 1,
    "hint": Hint.OTHER_NODE,
    "node": "n1",
    "rule": "r",
    "signal": 9,
}


@pytest.mark.parametrize("block", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_settings_that_the_page_shows_are_taken(block, tmp_path):
    """A reader can copy any block as it stands."""
    path = tmp_path / "failhook.toml"
    path.write_text(block)

    OtelSink(load_config(path, {}).plugins["otel"], VolatileState(), SystemClock())


def test_every_attribute_is_named():
    """Nobody has to send something to learn what there is."""
    error = ErrorInfo(type="builtins.ValueError", message="m", traceback="t")
    task = replace(TASK, map_index=1, log_url="https://logs.example.org", labels={})
    failed = an_event(details=replace(LOST, **FULL), task=task, error=error, simulated=True)
    failed = replace(failed, first_failure=BROKEN, first_error="ValueError: m")
    final = an_event(details=replace(BROKEN, code="NonRetryable", deterministic=True))
    amended = an_event(EventType.AMENDED, previous=BROKEN, succeeded=True)
    found = {
        *words.record(failed),
        *words.record(final),
        *words.record(amended),
        *words.numbers(failed),
    }

    named = set(re.findall(r"`([\w.]+)`", PAGE))
    named |= {name.replace(".user.", f".{each}.") for name in named for each in ("infra", "system")}
    assert ["failhook.label.tier"] == sorted(found - named)  # `failhook.label.NAME`
    assert {"exception.type", "failhook.retry.code", "failhook.succeeded"} <= found
