"""An exception is described whole, a mark is found however deep, and plain input is taken too."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections import UserDict
from concurrent.futures import Future
from types import MappingProxyType

import pytest
from tenacity import RetryError, retry, stop_after_attempt, wait_none

from failhook.capture import capture, find_mark, headline
from failhook.error_info import MAX_DEPTH, ErrorInfo, Mark
from failhook.errors import TaskError
from tests.model.planted import PLANTED

MARK = TaskError("no such table", code="NoTable", kind="application", deterministic=True)


def caught(function):
    """Return what the function raises."""
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - whatever it is
        return error
    raise AssertionError


def _chained():
    try:
        {}["key"]
    except KeyError as error:
        raise ValueError("no value") from error


def test_the_traceback_is_pythons_own():
    """The text is what Python prints for the exception, without the marks under columns."""
    live = caught(_chained)

    expected = "".join(traceback.format_exception(live)).splitlines()
    expected = [line for line in expected if set(line.strip()) - {"^", "~"} or not line.strip()]
    assert expected == capture(live).traceback.splitlines()


def test_types_bases_and_chains_are_told():
    """The error, what it was raised from, and the names of their classes are all there."""
    captured = capture(caught(_chained))

    assert ("builtins.ValueError", "no value") == (captured.type, captured.message)
    assert "ValueError" == captured.name
    assert ("builtins.ValueError", "builtins.Exception", "builtins.BaseException") == captured.mro
    assert captured.cause is not None
    assert ("builtins.KeyError", "'key'") == (captured.cause.type, captured.cause.message)
    assert captured.context is None
    assert captured.cause is captured.root


def test_a_suppressed_context_is_not_told():
    """`raise ... from None` hides what was being handled, as Python does."""

    def hiding():
        try:
            {}["key"]
        except KeyError:
            raise ValueError("only this") from None

    def showing():
        try:
            {}["key"]
        except KeyError:
            raise ValueError("and that")  # noqa: B904 - the context is what is tested

    assert ["builtins.ValueError"] == [each.type for each in capture(caught(hiding)).walk()]
    assert "builtins.KeyError" == capture(caught(showing)).root.type


def test_what_an_exception_knows_of_itself_is_kept():
    """Numbers, codes and statuses of common exceptions and HTTP clients become attributes."""

    class HttpError(Exception):
        class response:  # noqa: N801 - as clients name it
            status_code = 429
            headers = MappingProxyType({"Retry-After": "30"})

    class AwsError(Exception):
        response = MappingProxyType(
            {
                "Error": {"Code": "ThrottlingException"},
                "ResponseMetadata": {"HTTPStatusCode": 400},
            }
        )

    class OddError(Exception):
        response = 7

    failed = caught(lambda: subprocess.run([sys.executable, "-c", "exit(3)"], check=True))

    assert {"errno": 2} == dict(capture(FileNotFoundError(2, "No such file")).attributes)
    assert {"returncode": 3} == dict(capture(failed).attributes)
    assert {"code": 3} == dict(capture(SystemExit(3)).attributes)
    assert {"status_code": 429, "retry_after": "30"} == dict(capture(HttpError()).attributes)
    assert {"error_code": "ThrottlingException", "status_code": 400} == dict(
        capture(AwsError()).attributes
    )
    assert {} == dict(capture(OddError()).attributes)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ErrorInfo(type="builtins.Exception")),
        ("plain text", ErrorInfo(type="builtins.str", message="plain text")),
        (7, ErrorInfo(type="builtins.str", message="7")),
        ({"type": "a.B", "message": "m"}, ErrorInfo(type="a.B", message="m")),
        (UserDict(type="a.B"), ErrorInfo(type="a.B")),
        (ErrorInfo(type="a.B"), ErrorInfo(type="a.B")),
    ],
)
def test_what_is_no_exception_is_taken_too(given, expected):
    """A text, a record of an error, or nothing at all: each has its description."""
    assert expected == capture(given)


def test_a_mapping_that_raises_is_taken_as_text():
    """A stranger's mapping that cannot be read costs its fields, never the caller."""

    class Broken(UserDict):
        def get(self, *_):
            raise RuntimeError

    assert ErrorInfo(type="builtins.Exception", message="{'a': 1}") == capture(Broken(a=1))


def test_a_headline_is_one_line():
    """Type and text of an exception in one line, for where no traceback fits."""
    assert "ValueError: two lines" == headline(ValueError("two\nlines"))
    assert "two lines" == headline(ValueError("two\nlines"), named=False)
    assert "ValueError" == headline(ValueError(), named=False)


def wrapped(mark, times, link):
    """Wrap the mark so many times."""
    error = mark
    for _ in range(times):
        error = link(error)
    return error


def _by_cause(below):
    error = RuntimeError("wrapped")
    error.__cause__ = below
    return error


def _by_context(below):
    error = RuntimeError("wrapped")
    error.__context__ = below
    error.__suppress_context__ = True
    return error


def _by_group(below):
    return ExceptionGroup("group", [ValueError("beside"), below])


def _by_argument(below):
    return RuntimeError("wrapped", below)


def _by_future(below):
    future: Future[None] = Future()
    future.set_exception(below)

    class LastAttemptError(Exception):
        last_attempt = future

    return LastAttemptError()


@pytest.mark.parametrize("link", [_by_cause, _by_context, _by_group, _by_argument, _by_future])
@pytest.mark.parametrize("times", [0, 1, 20, MAX_DEPTH * 3])
def test_a_mark_is_found_however_deep(link, times):
    """What the task said of its failure survives wrapping, also deeper than errors are kept."""
    mark = capture(wrapped(MARK, times, link)).mark

    assert Mark("no such table", "NoTable", "application", True, None) == mark


def test_a_mark_is_found_in_tenacitys_retry_error():
    """A library that retries and gives up hands on the mark of the last attempt."""

    @retry(stop=stop_after_attempt(2), wait=wait_none())
    def work():
        raise MARK

    error = caught(work)

    assert isinstance(error, RetryError)
    assert "NoTable" == (find_mark(error) or Mark()).code


def test_the_nearest_mark_wins():
    """Where two marks are wrapped in each other, the outer one is what the task said last."""
    outer = TaskError("outer", code="Outer")
    outer.__cause__ = TaskError("inner", code="Inner")

    assert "Outer" == (capture(_by_cause(outer)).mark or Mark()).code
    assert find_mark(_by_cause(ValueError("unmarked"))) is None


def test_a_cycle_ends_the_search():
    """Causes that lead back to themselves hold no mark, and no caller."""
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first

    assert find_mark(first) is None


def test_a_cycle_below_all_that_is_kept_ends_too():
    """Where a chain is deeper than is kept and ends in a cycle, the last one new stands as root."""
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first

    captured = capture(wrapped(first, MAX_DEPTH + 5, _by_cause))

    assert "b" == captured.root.message
    assert ("[... 6 errors left out ...]",) == captured.root.notes


def test_a_future_that_holds_no_exception_is_no_wrapper():
    """An attribute that only looks like tenacity's future is passed over."""

    class LooksLikeItError(Exception):
        class last_attempt:  # noqa: N801 - as tenacity names it
            _exception = "text"

    assert find_mark(LooksLikeItError()) is None


def test_an_object_whose_text_raises_is_named():
    """What is neither an exception nor a text, and cannot say what it is, is told by its type."""

    class Mute:
        def __str__(self):
            raise RuntimeError

    message = capture(Mute()).message

    assert message.startswith("<")
    assert message.endswith("Mute: its text raises builtins.RuntimeError>")


def test_a_mark_with_wrong_values_keeps_what_is_right():
    """A field of a mark that has the wrong type counts as not said."""
    wrong = TaskError("m", code=5, kind="infra", deterministic="yes", retry_after=float("nan"))
    negative = TaskError("m", retry_after=-5)
    truth = TaskError("m", retry_after=True)

    assert Mark("m", None, "infra", None, None) == capture(wrong).mark
    assert Mark("m", retry_after=0.0) == capture(negative).mark
    assert Mark("m") == capture(truth).mark


def test_what_cannot_be_described_is_still_named(monkeypatch):
    """Where even describing fails, as without memory, the type and the object remain."""

    def out_of_memory(_):
        raise MemoryError

    monkeypatch.setattr("failhook.capture.describe.find_mark", out_of_memory)
    live = ValueError("x")
    captured = capture(live)

    assert live is captured.exception
    assert "builtins.ValueError" == captured.type
    assert "(it cannot be described: builtins.MemoryError)" == captured.message


def test_frames_are_told_though_the_exception_cannot_be_formatted():
    """An exception that breaks Python's own formatting keeps its frames, type and text."""

    class NotesRaiseError(Exception):
        @property
        def __notes__(self):
            raise RuntimeError

    def raising():
        raise NotesRaiseError("the text")

    lines = capture(caught(raising)).traceback.splitlines()

    assert "Traceback (most recent call last):" == lines[0]
    assert '    raise NotesRaiseError("the text")' in lines
    assert lines[-1].endswith("NotesRaiseError: the text")


def test_frames_of_a_broken_loader_cost_the_frames_alone(monkeypatch):
    """Source lines come from a stranger's loader: one that raises leaves type and text."""

    def broken(*_args, **_kwargs):
        raise RuntimeError

    monkeypatch.setattr("failhook.capture.describe.TracebackException", broken)
    monkeypatch.setattr("failhook.capture.describe.StackSummary.extract", broken)

    assert [
        "(the frames cannot be formatted: builtins.RuntimeError)",
        "ValueError: x",
    ] == capture(ValueError("x")).traceback.splitlines()


def test_a_recorded_error_leaves_out_what_has_the_wrong_shape():
    """A record of an error from elsewhere is read as far as it can be."""
    found = ErrorInfo.from_dict(
        {
            "type": None,
            "message": 5,
            "mro": "a",
            "notes": ["n", 7],
            "attributes": {"a": 1, "b": [1], 3: "c"},
            "cause": "text",
            "exceptions": [{"type": "M"}, 5],
            "mark": {"code": 5, "kind": "infra", "deterministic": 1, "retry_after": True},
        }
    )

    assert (
        ErrorInfo(
            type="builtins.Exception",
            message="5",
            notes=("n", "7"),
            attributes={"a": 1, "3": "c"},
            exceptions=(ErrorInfo(type="M"),),
            mark=Mark(kind="infra"),
        )
        == found
    )


def test_a_recorded_chain_is_read_to_a_bounded_depth():
    """A record nested without end is read as deep as errors are kept."""
    document = {"type": "E"}
    for _ in range(MAX_DEPTH * 2):
        document = {"type": "E", "cause": document, "exceptions": []}

    assert MAX_DEPTH + 1 == len(list(ErrorInfo.from_dict(document).walk()))


def test_a_secret_of_the_planted_kind_is_captured_as_it_is():
    """Capturing does not redact: rules look at the text as the task wrote it."""
    assert PLANTED["DSN"].text == capture(ValueError(PLANTED["DSN"].text)).message
