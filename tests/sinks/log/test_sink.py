"""Where the lines go."""

from __future__ import annotations

import json
import logging
from importlib.metadata import entry_points

import pytest

from failhook.errors import ConfigError, Undelivered
from failhook.event import EventType, FailureEvent
from failhook.policy import Policy
from failhook_sinks.log import LogSink
from tests.sinks.log.events import BROKEN, LOST, event


def tell(sink, told):
    """Hand an event to the hook that it is for."""
    if told.type is EventType.FAILED:
        sink.on_task_failed(told)
    elif told.type is EventType.RECOVERED:
        sink.on_task_recovered(told)
    elif told.type is EventType.AMENDED:
        sink.on_failure_amended(told)
    else:
        sink.on_suspect_success(told)


@pytest.mark.parametrize(
    ("told", "level"),
    [
        (event(), logging.WARNING),
        (event(details=BROKEN, policy=Policy()), logging.ERROR),
        (event(EventType.RECOVERED), logging.INFO),
        (event(EventType.AMENDED, previous=LOST), logging.INFO),
        (event(EventType.SUSPECT_SUCCESS), logging.WARNING),
    ],
    ids=["retry", "final", "recovered", "amended", "suspect"],
)
def test_a_record_carries_the_line_and_the_whole_event(told, level, caplog, capsys):
    """Handlers and log pipelines get text for people and structure for machines."""
    caplog.set_level(logging.INFO, "failhook.events")

    tell(LogSink({}), told)

    (record,) = caplog.records
    assert ("failhook.events", level) == (record.name, record.levelno)
    assert record.getMessage().startswith("nightly/load attempt 1")
    assert told.without_exception() == FailureEvent.from_dict(record.failhook)
    assert capsys.readouterr() == ("", "")


def test_a_level_that_nobody_listens_to_costs_no_record(caplog):
    """Logging set to errors hears errors only."""
    caplog.set_level(logging.ERROR, "failhook.events")

    tell(LogSink({}), event())

    assert [] == caplog.records


def test_a_dead_letter_of_another_plugin_is_an_error(caplog):
    """The record names the plugin that will never hear of the event, and why."""
    LogSink({}).on_delivery_failed(event(), "slack", "HTTP 404")

    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert {"plugin": "slack", "error": "HTTP 404"} == record.failhook_delivery
    assert "plugin slack was not told" in record.getMessage()


def test_no_handler_is_added_and_no_level_set():
    """A library leaves the host's logging alone."""
    logger = logging.getLogger("failhook.events")
    before = (list(logger.handlers), logger.level, logger.propagate)

    LogSink({})
    LogSink({"stream": "stderr"})

    assert before == (list(logger.handlers), logger.level, logger.propagate)


def test_standard_error_gets_text_only_where_that_was_configured(caplog, capsys):
    """With stream = stderr the line is there, once, and not in logging as well."""
    tell(LogSink({"stream": "stderr"}), event())

    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("failhook: nightly/load attempt 1 failed: infra")
    assert written.err.endswith("(infra 1/3)\n")
    assert [] == caplog.records


def test_json_on_standard_error_is_one_document_a_line(capsys):
    """Every line parses by itself and holds level, text and event."""
    sink = LogSink({"stream": "stderr", "format": "json"})
    told = event(details=BROKEN, policy=Policy())
    tell(sink, told)
    sink.on_delivery_failed(told, "slack", "HTTP 404")

    failed, dead = map(json.loads, capsys.readouterr().err.splitlines())
    assert failed["level"] == "error"
    assert failed["message"].startswith("nightly/load attempt 1 failed")
    assert told == FailureEvent.from_dict(failed["failhook"])
    assert dead["failhook_delivery"] == {"plugin": "slack", "error": "HTTP 404"}


def test_without_a_standard_error_the_event_is_a_dead_letter_at_once(monkeypatch):
    """A daemon without streams is told so, and nothing is tried again and again."""
    sink = LogSink({"stream": "stderr"})
    monkeypatch.setattr("sys.stderr", None)

    with pytest.raises(Undelivered) as caught:
        tell(sink, event())

    assert caught.value.retryable is False


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"sream": "stderr"},
            "plugins.log.sream is not a setting; did you mean plugins.log.stream?",
        ),
        ({"stream": "stdout"}, "plugins.log.stream is 'stdout'; allowed: stderr"),
        ({"stream": "stderr", "format": "xml"}, "plugins.log.format is 'xml'; allowed: text, json"),
        ({"format": "json"}, 'plugins.log.format needs stream = "stderr" beside it'),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(settings, message):
    """Whoever configures the sink learns what to write."""
    with pytest.raises(ConfigError) as caught:
        LogSink(settings)

    assert message == str(caught.value)[: len(message)]


def test_it_registers_as_any_strangers_plugin_does():
    """The installed distribution offers the sink in the group that all plugins use."""
    (found,) = entry_points(group="failhook", name="log")

    assert LogSink is found.load()
