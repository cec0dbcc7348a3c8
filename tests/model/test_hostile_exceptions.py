"""Exceptions that break who looks at them: an event comes of each, whole and small enough."""

from __future__ import annotations

import builtins
import json
import pickle
import sys
import threading
from types import FunctionType

import pytest

from failhook.capture import capture
from failhook.classify import Classifier
from failhook.details import Kind, Started
from failhook.error_info import ErrorInfo
from failhook.event import MAX_BYTES, EventType
from failhook.event_build import build_event
from failhook.evidence import Evidence
from failhook.redact import Redactor
from failhook.task import Task
from tests.model.strategies import NOW
from tests.model.test_event_schema import STRICT

TASK = Task("nightly", "load", run_id="r1")
CLASSIFIER = Classifier()


class ArgumentsRequiredError(Exception):
    def __init__(self, table, column):
        super().__init__(f"{table}.{column} is missing")


class KeywordOnlyError(Exception):
    def __init__(self, *, table):
        super().__init__(f"no table {table}")


class HoldsALockError(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.lock = threading.Lock()
        self.again = lambda: self


class StrRaisesError(Exception):
    def __str__(self):
        raise RuntimeError("no text for you")


class StrExitsError(Exception):
    def __str__(self):  # noqa: PLE0307 - that is what is hostile about it
        sys.exit("out")


class StrIsNoneError(Exception):
    def __str__(self):
        return None  # noqa: PLE0307 - that is what is hostile about it


class ReprRaisesError(Exception):
    def __repr__(self):
        raise RuntimeError


class ReduceRaisesError(Exception):
    def __reduce__(self):
        raise RuntimeError


class GetattrRaisesError(Exception):
    def __getattribute__(self, name):
        raise KeyboardInterrupt(name)


class PropertiesRaiseError(Exception):
    @property
    def errno(self):
        raise RuntimeError

    @property
    def __cause__(self):
        raise RuntimeError

    @property
    def __notes__(self):
        raise RuntimeError

    @property
    def response(self):
        raise RuntimeError

    status_code = 503


class LyingMeta(type):
    @property
    def __name__(cls):
        raise RuntimeError

    @property
    def __module__(cls):
        raise RuntimeError

    def __eq__(cls, other):
        raise RuntimeError

    __hash__ = type.__hash__


class HostileClassError(Exception, metaclass=LyingMeta):
    @property
    def __class__(self):
        raise RuntimeError


class TextOfAnotherKind(str):
    __slots__ = ()

    def __str__(self):
        raise RuntimeError

    def __len__(self):
        raise RuntimeError

    def encode(self, *_):
        raise RuntimeError


class SaysAnotherKindError(Exception):
    def __str__(self):
        return TextOfAnotherKind("said by a subclass of str")


class HugeNumbersError(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.errno = 10**10_000
        self.status = float("nan")
        self.retry_after = float("inf")
        self.code = TextOfAnotherKind("E42")
        self.returncode = True
        self.signal = 9


class BadNotesError(Exception):
    __notes__ = 5


class NotAnException(BaseException):
    pass


def _with_notes():
    error = ValueError("noted")
    error.__notes__ = ["a note", 5, StrRaisesError(), None]
    return error


def _cyclic():
    first, second = ValueError("first of a cycle"), KeyError("second of a cycle")
    first.__cause__, second.__cause__ = second, first
    return first


def _deep(levels=200):
    error = ConnectionError("the root of them all")
    for level in range(levels):
        above = ValueError(f"level {level}")
        above.__cause__ = error
        error = above
    return error


def _groups():
    inner = ExceptionGroup("inner", [ValueError("in the inner"), StrRaisesError("mute")])
    return ExceptionGroup("outer", [inner, ExceptionGroup("other", [inner, KeyError("k")])])


def _wide():
    return BaseExceptionGroup("very wide", [ValueError(f"member {n}") for n in range(5_000)])


def _deep_groups():
    error = ValueError("at the bottom")
    for level in range(500):
        error = ExceptionGroup(f"group {level}", [error])
    return error


def _chains_in_a_group():
    return ExceptionGroup("many chains", [_deep(40) for _ in range(20)])


def _gone_class():
    """Raise what the other side of a pipe cannot import."""
    return type("Gone", (Exception,), {"__module__": "nowhere.at.all"})("class is gone")


def _no_module():
    """Make a class where the globals do not say of which module they are."""

    def make():
        return type("Homeless", (Exception,), {})("has no module")

    return FunctionType(make.__code__, {"__builtins__": builtins})()


HOSTILE = {
    "arguments required": (ArgumentsRequiredError("t", "c"), "t.c is missing"),
    "keyword only": (KeywordOnlyError(table="t"), "no table t"),
    "lock inside": (HoldsALockError("holds a lock"), "holds a lock"),
    "str raises": (StrRaisesError("said at birth"), "said at birth"),
    "str raises, no arguments": (StrRaisesError(), "its text raises builtins.RuntimeError"),
    "str exits": (StrExitsError("still here"), "still here"),
    "str is none": (StrIsNoneError("not None"), "not None"),
    "repr raises": (ReprRaisesError("has a text"), "has a text"),
    "reduce raises": (ReduceRaisesError("cannot be pickled"), "cannot be pickled"),
    "getattr raises": (GetattrRaisesError("reached anyhow"), "reached anyhow"),
    "properties raise": (PropertiesRaiseError("with properties"), "with properties"),
    "hostile class": (HostileClassError("lies about itself"), "lies about itself"),
    "text of another kind": (SaysAnotherKindError(), "said by a subclass of str"),
    "huge numbers": (HugeNumbersError("beyond all readers"), "beyond all readers"),
    "lone surrogates": (ValueError("bad \ud800 text \udfff"), "bad \\ud800 text \\udfff"),
    "nul": (ValueError("a\x00b"), "a\\x00b"),
    "10 MB": (ValueError("head " + "x" * 10_000_000 + " tail"), "head xxx"),
    "huge arguments": (ValueError(*["y" * 100_000] * 50), "('yyy"),
    "cyclic cause": (_cyclic(), "first of a cycle"),
    "200 deep": (_deep(), "level 199"),
    "class gone": (_gone_class(), "class is gone"),
    "no module": (_no_module(), "has no module"),
    "a group of groups": (_groups(), "outer"),
    "wide group": (_wide(), "very wide"),
    "deep groups": (_deep_groups(), "group 499"),
    "chains in a group": (_chains_in_a_group(), "many chains"),
    "notes of wrong types": (_with_notes(), "noted"),
    "notes of a wrong type": (BadNotesError("notes are no list"), "notes are no list"),
    "no Exception": (NotAnException("base only"), "base only"),
    "exit": (SystemExit(3), "3"),
    "interrupt": (KeyboardInterrupt("stop"), "stop"),
    "long name": (type("N" * 100_000, (Exception,), {})("long name"), "long name"),
}


@pytest.fixture(params=HOSTILE, ids=str)
def hostile(request):
    """A live exception, raised and caught, and what its message must say."""
    error, text = HOSTILE[request.param]
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - each is another
        raise error
    return caught.value, text


def _event_of(error):
    return build_event(
        type=EventType.FAILED,
        task=TASK,
        details=CLASSIFIER.classify(TASK, Evidence.exception(error)),
        error=error,
        observed_at=NOW,
        redactor=Redactor(),
    )


def test_an_event_comes_of_it(hostile):
    """The event is valid and at most 64 KiB, and has the error's type, text and traceback."""
    live, text = hostile

    event = _event_of(capture(live))

    document = event.to_json()
    STRICT.validate(json.loads(document))
    assert MAX_BYTES >= len(document.encode())
    assert event.error is not None
    assert text in event.error.message
    name = type.__dict__["__qualname__"].__get__(type(live))
    assert name[:100] in event.error.type
    assert "test_hostile_exceptions.py" in event.error.traceback
    assert event.error.exception is live
    assert event == type(event).from_json(document)


def test_its_verdict_is_right(hostile):
    """The code raised it, so it is the application's, but for an exit and an interrupt."""
    live, _ = hostile

    verdict = CLASSIFIER.classify(TASK, Evidence.exception(live))

    kind, reason = {
        SystemExit: (Kind.APPLICATION, "UserExit"),
        KeyboardInterrupt: (Kind.MANUAL, "Interrupted"),
        PropertiesRaiseError: (Kind.APPLICATION, "RemoteTransient"),  # its status is 503
    }.get(type(live), (Kind.APPLICATION, "UserException"))
    assert (kind, reason, Started.YES) == (verdict.kind, verdict.reason, verdict.started)


def test_what_was_captured_can_be_sent_anywhere(hostile):
    """What is captured is plain data: it survives pickle and JSON, and leaves the object behind."""
    live, _ = hostile

    captured = capture(live)

    assert captured == pickle.loads(pickle.dumps(captured))  # noqa: S301 - our own bytes
    assert captured == ErrorInfo.from_dict(json.loads(json.dumps(captured.to_dict())))


def test_the_root_of_a_deep_chain_stays():
    """200 causes do not fit, so some are left out and counted; the first cause of all stays."""
    captured = capture(_deep())
    event = _event_of(captured)

    for error in (captured, event.error):
        assert error is not None
        assert "the root of them all" == error.root.message
        assert "builtins.ConnectionError" == error.root.type
        kept = sum(1 for _ in error.walk())
        left_out = [int(note.split()[1]) for each in error.walk() for note in each.notes]
        assert 201 == kept + sum(left_out)


def test_a_wide_group_says_how_many_members_went():
    """Of 5,000 members the first ones stay, and a note counts the others."""
    error = _event_of(capture(_wide())).error

    assert error is not None
    assert "member 0" == error.exceptions[0].message
    left_out = sum(int(note.split()[1]) for note in error.notes)
    assert 5_000 == len(error.exceptions) + left_out


def test_a_cycle_ends():
    """A cause that leads back to itself is told once."""
    captured = capture(_cyclic())

    assert ["first of a cycle", "'second of a cycle'"] == [e.message for e in captured.walk()]


def test_numbers_that_no_reader_takes_are_left_out():
    """What is no JSON number is dropped, and what sits beside it stays."""
    attributes = capture(HugeNumbersError("x")).attributes

    assert {"code": "E42", "returncode": True, "signal": 9} == dict(attributes)


def test_a_property_that_raises_hides_no_other():
    """An attribute that can be read is read, though one beside it raises."""
    assert {"status_code": 503} == dict(capture(PropertiesRaiseError("x")).attributes)


def test_notes_that_can_be_read_are_kept():
    """A list of notes is told item by item, whatever the items are."""
    notes = capture(_with_notes()).notes

    assert ("a note", "5") == notes[:2]
    assert "its text raises builtins.RuntimeError" in notes[2]
    assert "None" == notes[3]
    assert ("<notes that cannot be read>",) == capture(BadNotesError("x")).notes
