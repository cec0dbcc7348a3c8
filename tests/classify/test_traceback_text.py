from __future__ import annotations

import traceback

import pytest

from failhook.classify import Classifier, recognise
from failhook.classify.python.traceback_text import START, last_error, read_error
from failhook.details import FailureDetails
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


def raised(error: Exception) -> Exception:
    """Return an error with a traceback."""
    try:
        raise error  # noqa: TRY301 - it is raised for its traceback
    except Exception as caught:  # noqa: BLE001 - as a task group collects them
        return caught


def a_group() -> BaseException:
    """A group with a cause, tracebacks of its members, and a group inside."""
    try:
        try:
            {}["k"]
        except KeyError as missing:
            members = [raised(ValueError("a\nb")), raised(OSError(28, "No space left on device"))]
            inner = ExceptionGroup("inner", [TypeError("t"), RuntimeError("r")])
            raise ExceptionGroup("several", [*members, inner]) from missing
    except ExceptionGroup as group:
        return group


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_printed_group_reads_back_with_its_members(wrapped):
    """Each member has its type and message, groups inside groups too, and the cause is kept."""
    group = a_group()
    if wrapped:
        outer = RuntimeError("outer")
        outer.__cause__ = group
        group = outer

    error = read_error("".join(traceback.format_exception(group)))
    error = error.cause if wrapped else error

    value, full, inner = error.exceptions
    assert ("builtins.ExceptionGroup", "several (3 sub-exceptions)") == (error.type, error.message)
    assert ("builtins.ValueError", "a\nb") == (value.type, value.message)
    assert ("builtins.OSError", "[Errno 28] No space left on device") == (full.type, full.message)
    assert ["t", "r"] == [member.message for member in inner.exceptions]
    assert "builtins.KeyError" == error.cause.type


@pytest.mark.parametrize("printed", [False, True])
def test_one_full_disk_in_a_group_excuses_nobody(printed):
    """Infrastructure is to blame for a group only if it is for every member, live or printed."""
    full, bug = OSError(28, "No space left on device"), ValueError("a")

    def judged(*members: Exception) -> FailureDetails:
        group = ExceptionGroup("several", list(members))
        text = "".join(traceback.format_exception(group))
        return CLASSIFIER.classify(None, recognise(text) if printed else Evidence.exception(group))

    assert ["application"] * 3 == [
        judged(full, bug).kind,
        judged(bug, full).kind,
        judged(ExceptionGroup("inner", [full]), bug).kind,
    ]
    assert ("infra", "infra") == (
        judged(full, OSError(28, "No space")).kind,
        judged(full).kind,
    )


def test_a_syntax_error_of_the_main_script_has_no_traceback_and_is_read():
    """What Python prints for a script that it cannot parse is an error, not plain text."""
    text = '  File "job.py", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'

    error = read_error(text)

    assert ("builtins.SyntaxError", "invalid syntax") == (error.type, error.message)
    assert CLASSIFIER.classify(None, recognise(text)).reason == "CodeLoadError"
