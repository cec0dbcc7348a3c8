"""Cuts that fall into a secret: coarse ones before it is looked for, exact ones after."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from failhook.capture import capture
from failhook.capture.stranger import MESSAGE_WINDOW, TRACEBACK_WINDOW
from failhook.classify.facts import HEAD, TAIL, window
from failhook.classify.verdict import FACT_LIMIT, REASON_LIMIT
from failhook.details import Fact, FailureDetails, Kind
from failhook.event import EventType
from failhook.event_build import build_event
from failhook.event_build.rewrite import LINE, MESSAGE, SENTENCE, TOKEN, TRACEBACK
from failhook.redact import Redactor
from failhook.redact.cuts import LONGEST_TOKEN
from failhook.task import Task
from failhook.text import cut
from tests.model.planted import planted
from tests.model.strategies import NOW
from tests.redaction.leaks import leaked, pieces

PLANTS = list(planted(4).values())
PIECES = pieces(PLANTS)
REDACTOR = Redactor()
FILLER = "lorem ipsum dolor sit " * 6_000
TASK = Task("cut", "here", run_id="r")


def around(plant, edge, share, side):
    """Return a long text whose cut at `edge` characters from one end falls into the secret.

    Args:
        plant: what is planted.
        edge: characters of the text on that side of the cut.
        share: how far into the secret the cut falls, 0 to 1.
        side: ``head`` or ``tail``.
    """
    at = plant.text.index(plant.secret) + int(share * len(plant.secret))
    before, after = (at, len(plant.text) - at)
    if side == "head":
        return f"{FILLER[: edge - before]}{plant.text}{FILLER}"
    return f"{FILLER}{plant.text}{FILLER[: edge - after]}"


def limits(limit):
    """Return where a text of an event is cut: before it is redacted, and in the end."""
    return ((limit + 2 * LONGEST_TOKEN) // 2, limit // 2)


@pytest.mark.parametrize("side", ["head", "tail"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_no_piece_of_a_secret_survives_any_cut(side, share):
    """Every kind of secret, cut near its begin, in its middle and near its end, in every window."""
    for number, plant in enumerate(PLANTS):
        turn = (number + int(share * 2.5)) % 2  # each kind meets each cut at some share

        def text(limit, plant=plant, turn=turn):
            return around(plant, limits(limit)[turn], share, side)

        details = FailureDetails(
            kind=Kind.UNKNOWN,
            reason=text(TOKEN),
            message=text(SENTENCE),
            evidence=(Fact("log", text(LINE)),),
        )
        error = capture({"type": "E", "message": text(MESSAGE), "traceback": text(TRACEBACK)})
        task = replace(TASK, labels=MappingProxyType({"note": text(LINE)}))
        event = build_event(
            type=EventType.FAILED,
            task=task,
            details=details,
            error=error,
            observed_at=NOW,
            redactor=REDACTOR,
        )
        assert [] == leaked(PIECES, event.to_json().encode())


@pytest.mark.parametrize("limit", [SENTENCE, MESSAGE])
def test_head_and_tail_of_a_text_stay_and_where_either_ends_no_secret_is_shown(limit):
    """A longer head alone would lose the tail, and end in the beginning of a secret."""

    def message(text):
        details = FailureDetails(kind=Kind.UNKNOWN, reason="R", message=text)
        error = capture({"type": "E", "message": text})
        event = build_event(
            type=EventType.FAILED,
            task=TASK,
            details=details,
            error=error,
            observed_at=NOW,
            redactor=REDACTOR,
        )
        assert event.error is not None
        return (event.failure_details if limit == SENTENCE else event.error).message

    kept = message(f"begin {FILLER} the end")
    assert kept.startswith("begin lorem")
    assert kept.endswith(" the end")
    assert " characters left out ...]" in kept
    for plant in PLANTS:
        shown = message(around(plant, limit + 2 * LONGEST_TOKEN, 0.5, "head"))
        assert [] == leaked(PIECES, shown.encode())


@pytest.mark.parametrize("side", ["head", "tail"])
def test_no_piece_survives_the_windows_of_capture_and_classification(side):
    """Live exceptions, logs, facts and reasons are cut before they are redacted: with a mark."""
    windows = (
        (lambda text: capture(ValueError(text)).message, MESSAGE_WINDOW // 2),
        (lambda text: capture(ValueError(text)).traceback, TRACEBACK_WINDOW // 2),
        (window, HEAD if side == "head" else TAIL),
        (lambda text: cut(text, FACT_LIMIT), FACT_LIMIT // 2),
        (lambda text: cut(text, REASON_LIMIT), REASON_LIMIT // 2),
    )
    for plant in PLANTS:
        for look, edge in windows:
            seen = look(around(plant, max(edge, len(plant.text)), 0.5, side))
            assert [] == leaked(PIECES, REDACTOR.redact(seen).encode())
