from __future__ import annotations

import traceback

import pytest

from failhook.classify import Classifier, recognise
from failhook.classify.python.traceback_text import START, last_error, read_error
from failhook.evidence import Evidence

CLASSIFIER = Classifier()


def chained() -> BaseException:
    """An error with a cause, and a context below that."""
    try:
        try:
            try:
                {}["k"]
            except KeyError:
                raise ConnectionResetError(104, "Connection reset by peer")  # noqa: B904 - implicit
        except OSError as error:
            raise RuntimeError("cannot load\nthe second line") from error
    except RuntimeError as error:
        return error


def test_a_printed_traceback_reads_back_with_its_chain():
    """Types, messages of several lines, causes and contexts come back as they were printed."""
    error = read_error("".join(traceback.format_exception(chained())))

    assert ("builtins.RuntimeError", "cannot load\nthe second line") == (error.type, error.message)
    assert "builtins.ConnectionResetError" == error.cause.type
    assert ("builtins.KeyError", "'k'") == (error.cause.context.type, error.cause.context.message)


def test_a_printed_traceback_has_the_verdict_of_the_live_exception():
    """`failhook classify` on the text says what it would have said of the exception."""
    live = CLASSIFIER.classify(None, Evidence.exception(chained()))

    read = CLASSIFIER.classify(None, recognise("".join(traceback.format_exception(chained()))))

    assert (live.kind, live.reason, live.rule) == (read.kind, read.reason, read.rule)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("ValueError: no", "builtins.ValueError", "no"),
        ("KeyboardInterrupt", "builtins.KeyboardInterrupt", ""),
        ("acme.exceptions.Forbidden: 403 POST x", "acme.exceptions.Forbidden", "403 POST x"),
        ("ray.RayTaskError(ValueError): x", "ray.RayTaskError(ValueError)", "x"),
        ("Error: something", "builtins.Error", "something"),
        ("Broken DAG: [x]", "builtins.str", "Broken DAG: [x]"),
        ("Pod failed because of None", "builtins.str", "Pod failed because of None"),
        ("", "builtins.str", ""),
    ],
)
def test_a_line_is_an_error_only_if_it_begins_with_a_class(text, kind, message):
    """What looks like a class and a message is read as such; all else stays text."""
    error = read_error(text)

    assert (kind, message) == (error.type, error.message)


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("INFO - fine\nModuleNotFoundError: No module named 'x'", "builtins.ModuleNotFoundError"),
        ("[2024] ERROR - requests.exceptions.ReadTimeout: slow", "requests.exceptions.ReadTimeout"),
        (f"{START}\n  File \"x\", line 1\nKeyError: 'k'\nINFO - bye", "builtins.KeyError"),
        ("INFO - nothing here", None),
        ("WARNING: not a class", None),
    ],
)
def test_the_last_error_of_a_log_is_found(log, kind):
    """A traceback's, or a line that begins with a class; a log level is none."""
    error = last_error(log)

    assert kind == (error and error.type)


@pytest.mark.parametrize("text", [START, f"{START}\n" * 999])
def test_a_broken_traceback_is_still_text(text):
    """A traceback that ends in nothing gives an error of no known class, and no exception."""
    assert CLASSIFIER.classify(None, recognise(text)).kind in ("application", "unknown")
