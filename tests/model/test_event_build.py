"""An event is redacted first and cut then, keeps what matters, and is never above 64 KiB."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from failhook.capture import capture
from failhook.capture.stranger import MESSAGE_WINDOW, TRACEBACK_WINDOW
from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.details import Fact, FailureDetails, Kind
from failhook.error_info import ErrorInfo, Mark
from failhook.event import MAX_BYTES, EventType
from failhook.event_build import build_event, redacted_task
from failhook.event_build.rewrite import MESSAGE, SENTENCE, TRACEBACK
from failhook.phases import MAX_TRANSITIONS, PhaseHistory
from failhook.policy import Policy
from failhook.redact import HIDDEN, WITHHELD, Redactor
from failhook.redact.cuts import LONGEST_TOKEN
from failhook.task import MAX_NAME, Task
from failhook.text import clean
from tests.model.planted import PLANTED, Broken
from tests.model.strategies import NOW, foreign_texts, parts, texts
from tests.model.test_event_schema import STRICT

TASK = Task("nightly", "load", run_id="r1")
VERDICT = FailureDetails(kind=Kind.APPLICATION, reason="UserException")
DECISION = Decision(
    action=Action.FAIL,
    message="failed",
    charge=Charge.NONE,
    because=Because("gate.user", "no retries"),
    before=Counters(),
    after=Counters(),
    attempt=1,
    max_tries=1,
)

huge_texts = st.builds(
    lambda text, times: text * times,
    st.one_of(foreign_texts, st.text(st.sampled_from('\x01\x7f"\\😀é\n'), max_size=60)),
    st.sampled_from((1, 1, 1, 1, 1, 40, 1_000)),
)


def built(**more):
    """Build an event with these parts beside the usual ones."""
    return build_event(
        **{
            "type": EventType.FAILED,
            "task": TASK,
            "details": VERDICT,
            "observed_at": NOW,
            "redactor": Redactor(),
            **more,
        }
    )


def size(event):
    """Return the bytes that the event takes."""
    return len(event.to_json().encode())


@given(parts(huge_texts))
def test_whatever_comes_in_the_event_is_valid_and_small_enough(found):
    """Huge texts, escapes, surrogates, emoji: the JSON is valid UTF-8 and at most 64 KiB."""
    event = built(**found)

    document = event.to_json()
    assert MAX_BYTES >= len(document.encode())
    STRICT.validate(json.loads(document))
    assert event == type(event).from_json(document)
    assert (found["task"].attempt_key, found["revision"]) == (
        event.task.attempt_key,
        event.revision,
    )


@given(parts())
def test_building_again_changes_nothing(found):
    """What an event holds can be built into the next one, and stays as it is."""
    event = built(**found)

    again = built(
        **{
            **found,
            "task": event.task,
            "details": event.failure_details,
            "error": event.error,
            "decision": event.decision,
            "previous": event.previous,
            "first_failure": event.first_failure,
            "first_error": event.first_error,
            "phases": event.phases,
            "observer": event.observer,
        }
    )

    assert event == again


def worst(text, names, parts=40):
    """Return every part of an event, each with as much of the text as it can hold."""
    verdict = FailureDetails(
        kind=Kind.UNKNOWN,
        reason=text,
        message=text,
        rule=text,
        evidence=tuple(Fact(f"{text}{n}", text) for n in range(parts)),
        executor=text,
        node=text,
        code=text,
        actor=text,
    )
    history = PhaseHistory()
    for number in range(MAX_TRANSITIONS):
        history = history.then(f"{number}{text}", NOW + timedelta(seconds=number), text)

    def error(below, members=()):
        return ErrorInfo(
            type=text,
            message=text,
            traceback=text,
            mro=(text,) * parts,
            notes=(text,) * parts,
            attributes=MappingProxyType({f"{n}{text}": text for n in range(parts)}),
            cause=below,
            context=below,
            exceptions=members,
            mark=Mark(text, text, text, True, 1.0),
        )

    chain = error(None)
    for _ in range(6):
        chain = error(chain, (error(None),) * 3)
    return {
        "task": Task(
            names,
            names,
            namespace=names,
            run_id=names,
            owner=text,
            labels={f"{n}{text}": text for n in range(parts)},
            traceparent=text,
            log_url=text,
            executor=text,
            policy=Policy(non_retryable_codes=(text,) * parts),
        ),
        "details": verdict,
        "error": chain,
        "decision": replace(DECISION, message=text, because=Because("r", text), code=text),
        "previous": verdict,
        "first_failure": verdict,
        "first_error": text,
        "phases": history,
        "started_at": NOW,
        "ended_at": NOW,
        "observer": text,
    }


@pytest.mark.parametrize("character", ["a", "\x01", '"', "é", "\U0001f600", "\ud800", "\x00"])
def test_the_worst_event_still_fits(character):
    """Every field full of the characters that take most bytes: 64 KiB hold it."""
    event = built(
        **worst(character * 14_000, (character * MAX_NAME)[: MAX_NAME // len(clean(character))])
    )

    assert MAX_BYTES >= size(event)
    STRICT.validate(json.loads(event.to_json()))


FIELDS = {
    "error.message": lambda text: {"error": ErrorInfo(type="E", message=text)},
    "error.traceback": lambda text: {"error": ErrorInfo(type="E", traceback=text)},
    "error.notes": lambda text: {"error": ErrorInfo(type="E", notes=("a", text))},
    "error.cause": lambda text: {
        "error": ErrorInfo(type="E", cause=ErrorInfo(type="F", message=text))
    },
    "error.context": lambda text: {
        "error": ErrorInfo(type="E", context=ErrorInfo(type="F", notes=(text,)))
    },
    "error.member": lambda text: {
        "error": ErrorInfo(type="E", exceptions=(ErrorInfo(type="F", message=text),))
    },
    "error.attributes": lambda text: {
        "error": ErrorInfo(type="E", attributes=MappingProxyType({"reason": text}))
    },
    "error.mark.message": lambda text: {"error": ErrorInfo(type="E", mark=Mark(message=text))},
    "error.mark.code": lambda text: {"error": ErrorInfo(type="E", mark=Mark(code=text))},
    "details.message": lambda text: {"details": replace(VERDICT, message=text)},
    "details.reason": lambda text: {"details": replace(VERDICT, reason=text)},
    "details.evidence": lambda text: {
        "details": replace(VERDICT, evidence=(Fact("container.message", text),))
    },
    "details.code": lambda text: {"details": replace(VERDICT, code=text)},
    "details.node": lambda text: {"details": replace(VERDICT, node=text)},
    "details.actor": lambda text: {"details": replace(VERDICT, actor=text)},
    "previous.message": lambda text: {"previous": replace(VERDICT, message=text)},
    "first_failure.message": lambda text: {"first_failure": replace(VERDICT, message=text)},
    "first_error": lambda text: {"first_error": text},
    "decision.message": lambda text: {"decision": replace(DECISION, message=text)},
    "decision.because": lambda text: {"decision": replace(DECISION, because=Because("r", text))},
    "decision.code": lambda text: {"decision": replace(DECISION, code=text)},
    "phases": lambda text: {"phases": PhaseHistory().then("Queued", NOW, text)},
    "observer": lambda text: {"observer": text},
    "task.labels": lambda text: {"task": replace(TASK, labels={"command": text})},
    "task.log_url": lambda text: {"task": replace(TASK, log_url=text)},
    "task.executor": lambda text: {"task": replace(TASK, executor=text)},
}


@pytest.mark.parametrize("field", FIELDS)
def test_no_secret_leaves_in_any_field(field):
    """Each kind of secret in each text of an event: none of it is in the event's JSON."""
    for kind, (text, secret, _) in PLANTED.items():
        document = built(**FIELDS[field](text)).to_json()

        assert json.dumps(secret)[1:-1] not in document, kind
        assert HIDDEN in document
        STRICT.validate(json.loads(document))


WINDOWS = {
    "error.message": MESSAGE,
    "error.traceback": TRACEBACK,
    "details.message": SENTENCE,
    "decision.message": SENTENCE,
}


@given(
    field=st.sampled_from(sorted(WINDOWS)),
    plant=st.sampled_from(list(PLANTED.values())),
    edge=st.sampled_from(("head", "tail", "window head", "window tail")),
    back=st.integers(0, 400),
)
@example(field="error.message", plant=PLANTED["JWT"], edge="window tail", back=20)
def test_no_piece_of_a_secret_survives_where_a_cut_falls(field, plant, edge, back):
    """Wherever a text is cut, coarsely or in the end, a secret there leaves nothing behind."""
    limit = WINDOWS[field] + (2 * LONGEST_TOKEN if edge.startswith("window") else 0)
    filler = "lorem ipsum dolor " * 4_000
    at = max(0, limit // 2 - back)
    text = f"{filler[:at]} {plant.text} {filler}"
    if edge.endswith("tail"):
        text = f"{filler} {plant.text} {filler[:at]}"

    document = built(**FIELDS[field](text)).to_json()

    length = 6 if len(plant.secret) > 12 else 4
    secret = json.dumps(plant.secret)[1:-1]
    pieces = {secret[at : at + length] for at in range(len(secret) - length + 1)}
    assert set() == {piece for piece in pieces if piece in document}


@pytest.mark.parametrize("where", [0.25, 0.5])
@pytest.mark.parametrize("kind", ["password", "JWT", "private key", "DSN", "password, quoted"])
def test_no_secret_survives_the_cut_of_a_live_exception(kind, where):
    """An exception with a huge message is cut when it is captured: a secret there goes too."""
    text, secret, _ = PLANTED[kind]
    filler = "lorem ipsum dolor " * 20_000
    for window in (MESSAGE_WINDOW, TRACEBACK_WINDOW):
        for offset in range(0, len(text), max(7, len(text) // 12)):
            at = window // 2 - offset
            error = capture(ValueError(f"{filler[:at]} {text} {filler}"))
            document = built(error=error).to_json()
            pieces = {secret[i : i + 6] for i in range(len(secret) - 5)}
            assert set() == {piece for piece in pieces if json.dumps(piece)[1:-1] in document}


def test_a_cut_keeps_both_ends_and_says_how_much_went():
    """Of a long message the beginning and the end stay, and the mark counts all that is gone."""
    message = "begin " + "lorem ipsum " * 100_000 + " end"

    event = built(error=capture(ValueError(message)))

    assert event.error is not None
    kept = event.error.message
    assert kept.startswith("begin lorem")
    assert kept.endswith("ipsum  end")
    (gone,) = re.findall(r"\[\.\.\. (\d+) characters left out \.\.\.\]", kept)
    told = len(kept) - len(f"[... {gone} characters left out ...]") + int(gone)
    assert len(message) == pytest.approx(told, abs=10)  # words at the coarse cut are withheld


def test_a_large_event_keeps_its_root_cause():
    """Where many errors with long texts do not fit, the first cause of all stays, readable."""
    error = ErrorInfo(type="builtins.OSError", message="the root: disk is full")
    for level in range(60):
        error = ErrorInfo(
            type="builtins.ValueError", message=f"level {level} " + "x y " * 2_000, cause=error
        )
    error = replace(error, traceback="frame\n" * 20_000)

    event = built(error=error)

    assert MAX_BYTES >= size(event)
    assert event.error is not None
    assert "the root: disk is full" == event.error.root.message
    assert event.error.message.startswith("level 59")
    kept = list(event.error.walk())
    left_out = sum(int(note.split()[1]) for each in kept for note in each.notes)
    assert 61 == len(kept) + left_out


def test_left_out_facts_and_labels_are_counted():
    """Of a thousand facts and labels some stay, and one more says how many went."""
    event = built(
        details=replace(VERDICT, evidence=tuple(Fact(f"f{n}", n) for n in range(1_000))),
        task=replace(TASK, labels={f"l{n}": "x" * 3_000 for n in range(1_000)}),
    )

    facts = event.failure_details.evidence
    assert Fact("f0", 0) == facts[0]
    assert Fact("left_out", 1_001 - len(facts)) == facts[-1]
    labels = event.task.labels
    assert "left_out" == list(labels)[-1]
    assert 1_001 - len(labels) == int(labels["left_out"])
    assert MAX_BYTES >= size(event)


def test_a_plain_event_keeps_its_very_objects():
    """Where there is nothing to hide and little to carry, nothing is copied."""
    error = capture(ValueError("no such table: sales"))
    task = replace(TASK, labels={"team": "sales"}, log_url="https://logs.example/r1")

    event = built(task=task, error=error, decision=DECISION)

    assert task is event.task
    assert error is event.error
    assert VERDICT is event.failure_details
    assert DECISION is event.decision


def test_no_attempt_ends_before_it_began():
    """Where the clock was set back during an attempt, it ends when it began; else as told."""
    earlier, later = NOW - timedelta(hours=1), NOW + timedelta(hours=1)

    assert NOW == built(started_at=NOW, ended_at=earlier).ended_at
    assert NOW == built(started_at=NOW, ended_at=earlier.replace(tzinfo=None)).ended_at
    assert later == built(started_at=NOW, ended_at=later).ended_at
    assert earlier == built(ended_at=earlier).ended_at


def test_the_live_exception_stays_until_it_is_stripped():
    """The first delivery has the live exception, though the texts about it were redacted."""
    live = ValueError(PLANTED["password"].text)

    event = built(error=capture(live))

    assert event.error is not None
    assert PLANTED["password"].hidden == event.error.message
    assert live is event.error.exception
    stripped = event.without_exception()
    assert stripped.error is not None
    assert stripped.error.exception is None


def test_what_finds_and_routes_an_event_is_not_redacted():
    """A task's names, and with them its id, and its owner are the same before and after."""
    task = Task("password=a", "token=b", namespace="secret=c", run_id="api_key=d", owner="key=e@f")

    event = built(task=replace(task, labels={"x": "password=y"}))

    assert (task.attempt_key, task.owner) == (event.task.attempt_key, event.task.owner)
    assert {"x": "password=***"} == dict(event.task.labels)


def test_a_task_can_be_redacted_before_there_is_an_event():
    """What a store keeps of an open attempt is what an event would carry of its task."""
    task = replace(TASK, labels={"dsn": PLANTED["DSN"].text}, log_url="https://u:p@logs.example/")

    redacted = redacted_task(task, Redactor())

    assert built(task=task).task == redacted
    assert {"dsn": PLANTED["DSN"].hidden} == dict(redacted.labels)
    assert "https://***@logs.example/" == redacted.log_url
    assert TASK is redacted_task(TASK, Redactor())


def test_a_value_is_hidden_where_its_name_tells():
    """A label, an attribute or a fact that is named like a secret is hidden as a whole."""
    event = built(
        task=replace(TASK, labels={"db_password": "all of it"}),
        error=ErrorInfo(type="E", attributes=MappingProxyType({"api_key": "all of it"})),
        details=replace(VERDICT, evidence=(Fact("env.TOKEN", "all of it"),)),
    )

    assert {"db_password": HIDDEN} == dict(event.task.labels)
    assert event.error is not None
    assert {"api_key": HIDDEN} == dict(event.error.attributes)
    assert (Fact("env.TOKEN", HIDDEN),) == event.failure_details.evidence


def test_where_redaction_fails_the_event_goes_without_the_text():
    """A pattern that raises costs the texts that it was to look at, and nothing else."""
    redactor = Redactor(extra=(Broken(),))

    event = built(
        redactor=redactor,
        error=ErrorInfo(type="E", message="fragile", notes=("sound",)),
        decision=DECISION,
    )

    assert event.error is not None
    assert (WITHHELD, ("sound",)) == (event.error.message, event.error.notes)
    assert DECISION is event.decision


@pytest.mark.parametrize("field", FIELDS)
def test_no_pattern_sees_more_than_a_window(field):
    """Of a text without end only windows are looked at, so that redaction takes bounded time."""
    seen = []

    class Watching:
        def spans(self, text):
            seen.append(len(text))
            return ()

    redactor = Redactor(extra=(Watching(),))

    built(redactor=redactor, **FIELDS[field]("lorem ipsum " * 100_000))

    assert seen
    assert max(seen) <= TRACEBACK + 2 * LONGEST_TOKEN + 100
    assert sum(seen) <= 100_000


def test_errors_nested_without_end_are_pruned():
    """A chain that somebody nested by hand, deeper than Python recurses, makes an event too."""
    error = ErrorInfo(type="R", message="the root")
    for _ in range(5_000):
        error = ErrorInfo(type="E", message="nested", cause=error)

    event = built(error=error)

    assert MAX_BYTES >= size(event)
    assert event.error is not None
    assert "the root" == event.error.root.message


@pytest.mark.parametrize(
    ("number", "kept"),
    [(float("nan"), None), (float("inf"), None), (10**5_000, None), (-(2**70), None), (7.5, 7.5)],
    ids=["nan", "inf", "endless", "long", "sound"],
)
def test_numbers_that_no_json_reader_takes_are_dropped(number, kept):
    """Infinity, NaN and endless integers have no JSON: the field is then not known."""
    event = built(
        details=replace(VERDICT, retry_after=number, elapsed=number),
        error=ErrorInfo(type="E", mark=Mark(retry_after=number)),
    )

    json.loads(event.to_json(), parse_constant=pytest.fail)
    details, error = event.failure_details, event.error
    assert error is not None
    assert error.mark is not None
    assert (kept, kept, kept) == (details.retry_after, details.elapsed, error.mark.retry_after)


def test_a_fact_with_such_a_number_tells_it_in_words():
    """What was seen is told though no JSON number can hold it."""
    facts = (Fact("a", float("inf")), Fact("b", 10**5_000), Fact("c", None), Fact("d", True))

    event = built(details=replace(VERDICT, evidence=facts))

    assert ["inf", "a number of 16610 bits", None, True] == [
        fact.value for fact in event.failure_details.evidence
    ]


@given(texts)
def test_text_of_few_characters_is_never_cut(text):
    """A text that is short and holds no secret arrives as it was."""
    event = built(details=replace(VERDICT, message=text))

    if Redactor().redact(text) == text and "\x00" not in text:
        assert text == event.failure_details.message
