"""Planted secrets in every text that can be handed over: no piece of one is anywhere afterwards."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from failhook import Evidence, Pipeline, Task
from failhook.cli import main
from failhook.details import Fact, FailureDetails, Kind
from failhook.manager import Manager
from failhook.plugin import Undelivered, hookimpl
from failhook.stores import open_store
from failhook_sinks.log import LogSink
from tests.model.planted import planted
from tests.redaction.carriers import evidence, pod, task
from tests.redaction.leaks import leaked, pieces

PLANTS = [plant for number, plant in enumerate(planted(2).values()) if number % 3]
"""Two of three kinds: each is told alone in tests/model, and here they have one way to go."""
PIECES = pieces(PLANTS)


class Listening:
    """Keeps what a plugin is given, as text."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    @hookimpl
    def on_task_failed(self, task, error, failure_details, decision, event):
        self.heard += map(repr, (task, failure_details, decision, event))
        self.heard += (event.to_json(), json.dumps(error.to_dict() if error else None))

    @hookimpl
    def on_failure_amended(self, task, failure_details, previous, event):
        self.heard += map(repr, (task, failure_details, previous, event))

    @hookimpl
    def on_task_recovered(self, event):
        self.heard.append(repr(event))

    @hookimpl
    def on_delivery_failed(self, event, plugin, error):
        self.heard += map(repr, (event, plugin, error))


class Leaky:
    """A plugin whose errors and answers quote what it should not."""

    def __init__(self) -> None:
        self.turn = 0
        self.plant = PLANTS[0]

    @hookimpl
    def classify_failure(self):
        self.turn += 1
        if self.turn % 3 == 0:
            raise ValueError(self.plant.text)
        if self.turn % 3 == 1:
            text = self.plant.text
            return FailureDetails(
                kind=Kind.UNKNOWN, reason=text, message=text, evidence=(Fact("fact", text),)
            )
        return None

    @hookimpl
    def on_task_failed(self):
        raise Undelivered(self.plant.text, retryable=self.turn % 2 == 0)


class Raising:
    """A plugin that raises what it should not say."""

    def __init__(self) -> None:
        self.plant = PLANTS[0]

    @hookimpl
    def on_task_failed(self):
        raise RuntimeError(self.plant.text) from KeyError(self.plant.text)


class Left(NamedTuple):
    """What is left after all was reported.

    Attributes:
        store: the database.
        stored: its bytes, while it was open.
        logged: what was logged, at every level.
        heard: what a plugin was given.
    """

    store: Path
    stored: bytes
    logged: str
    heard: str


@contextmanager
def logged() -> Iterator[list[str]]:
    """Keep all that is logged, with what stands in the records beside the message."""
    lines: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            extra = {name: value for name, value in vars(record).items() if name not in usual}
            lines.append(f"{self.format(record)} {extra!r}")

    usual = vars(logging.makeLogRecord({})).keys()
    logger = logging.getLogger("failhook")
    level, handler = logger.level, Keeping()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def dump(path: Path) -> bytes:
    """Return all bytes of an SQLite database, those of its log too."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """Report everything once for each secret, to plugins that listen, log, refuse and raise."""
    place = tmp_path_factory.mktemp("planted")
    store = place / "store.db"
    listening, leaky, raising = Listening(), Leaky(), Raising()
    manager = Manager()
    for name, plugin in {"ear": listening, "leaky": leaky, "raising": raising}.items():
        manager.register(plugin, name)
    manager.register(LogSink({}), "log")
    number = 0
    with (
        logged() as lines,
        Pipeline(open_store(store), manager=manager, dispatch="inline") as pipeline,
    ):
        for plant in PLANTS:
            leaky.plant = raising.plant = plant
            for seen in evidence(plant, place):
                number += 1
                pipeline.failed(pipeline.started(task(plant, number)), seen)
            last = pipeline.started(task(plant, number := number + 1))
            pipeline.failed(last, Evidence.returncode(1))
            pipeline.failed(last, Evidence.pod(pod(plant.text)))
            again = pipeline.started(last.next_attempt())
            pipeline.succeeded(again, Evidence.pod(pod(plant.text)))
        stored = dump(store)
    return Left(store, stored, "\n".join(lines), "\n".join(listening.heard))


def test_no_piece_of_a_secret_is_in_store_log_or_plugin(reported):
    """64 secrets of as many kinds, in every text: none in ledger, outbox, counts, log, plugins."""
    assert len(PLANTS) >= 60
    for left in (reported.stored, reported.logged.encode(), reported.heard.encode()):
        assert left.count(b"***") > 1_000
        assert [] == leaked(PIECES, left)


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("history", "planted/task-1"),
        ("history", "planted/task-9"),
        ("stats", "--by", "node"),
        ("stats", "--by", "reason"),
        ("dead-letters", "list"),
        ("doctor",),
    ],
)
def test_no_command_tells_a_secret(reported, capfd, monkeypatch, words):
    """What the command says of such a store, to people and to machines, holds none of them."""
    monkeypatch.chdir(reported.store.parent)

    main((*words, "--store", "store.db"))
    main((*words, "--store", "store.db", "--json"))

    out, err = capfd.readouterr()
    assert out
    assert [] == leaked(PIECES, (out + err).encode())


def documents(plant):
    """Return records that name themselves, with the text wherever they have one."""
    return [
        pod(plant.text),
        {"system": "python", "evidence": {"exception": {"type": "X", "message": plant.text}}},
        {"system": "process", "evidence": {"exit_code": 1, "log": plant.text}},
        {"system": "aws_batch", "evidence": {"status": "FAILED", "statusReason": plant.text}},
        {"system": plant.text, "evidence": {"verdict": {"kind": plant.text}}},
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("classify", "list.json"),
        ("classify", "--json", "list.json"),
        ("classify", "--jsonl", "lines.json"),
        ("explain", "list.json"),
        ("explain", "--json", "list.json"),
    ],
)
def test_no_command_tells_a_secret_of_what_it_is_asked(words, capfd, monkeypatch, tmp_path):
    """Verdicts on documents that are full of secrets are printed without them."""
    monkeypatch.chdir(tmp_path)
    pods = {"kind": "List", "items": [pod(plant.text) for plant in PLANTS]}
    (tmp_path / "list.json").write_text(json.dumps(pods))
    lines = [json.dumps(each) for plant in PLANTS for each in documents(plant)]
    (tmp_path / "lines.json").write_text("\n".join(lines))

    main(words)

    out, err = capfd.readouterr()
    assert out.count("***") >= len(PLANTS)
    assert [] == leaked(PIECES, (out + err).encode())


def test_a_command_that_cannot_run_gives_its_secret_away_nowhere(capfd, monkeypatch, tmp_path):
    """`failhook run` tells of a failure without the arguments, in words and as JSON."""
    monkeypatch.chdir(tmp_path)
    for plant in PLANTS[::6]:
        word = plant.text.replace("\0", "")
        main(("run", "--store", "s.db", "--name", "n", "--", f"./none {word}", word))
        main(("run", "--json", "--store", "s.db", "--name", "n", "--", "false", word))
        main(("status", "--store", "s.db", "--json"))

    out, err = capfd.readouterr()
    assert "***" in err
    assert [] == leaked(PIECES, (out + err).encode() + dump(tmp_path / "s.db"))


def test_who_resolves_a_task_is_told_without_secrets(tmp_path):
    """An actor is a text like any other."""
    store = tmp_path / "store.db"
    with Pipeline(open_store(store), dispatch="none") as pipeline:
        for number, plant in enumerate(PLANTS):
            task = Task("held", f"t-{number}", run_id="r", idempotent=False)
            opened = pipeline.started(task)
            assert pipeline.failed(opened, Evidence.heartbeat(timeout=1.0)).action == "hold"
            pipeline.resolve(task, "succeeded", actor=plant.text)
        stored = dump(store)

    assert [] == leaked(PIECES, stored)
