"""`failhook dead-letters`: list, show, replay, drop."""

from __future__ import annotations

import json
import sqlite3

import pytest

from failhook.stores import open_store
from tests.cli.stores import dead_letters


def ids(path) -> list[int]:
    """Return the ids of the dead letters in a store."""
    return [letter.id for letter in open_store(path).dead_letters()]


def test_list_shows_each_with_its_cause(call, place):
    """A row for each: id, plugin, tries, attempt, why."""
    keys = dead_letters(place / "here.db")

    lines = call("dead-letters", "list", "--store", "here.db").out.splitlines()

    assert "3 dead letters in here.db: refusing 3" == lines[0]
    for line, key in zip(lines[3:], keys, strict=True):
        assert key in line
        assert line.endswith("413 too large")


def test_json_gives_one_object_a_line(call, place):
    """What the table shows, and the whole event with show."""
    keys = dead_letters(place / "here.db")

    listed = call("dead-letters", "list", "--json", "--store", "here.db").out.splitlines()
    shown = call("dead-letters", "show", "--all", "--json", "--store", "here.db").out.splitlines()

    assert ids(place / "here.db") == [json.loads(line)["id"] for line in listed]
    assert [key.rpartition("/")[0] for key in keys] == [json.loads(line)["task"] for line in shown]
    assert ["failed"] * 3 == [json.loads(line)["event"]["type"] for line in shown]


def test_replay_puts_back_what_it_is_told_to(call, place):
    """These ids wait again; the others stay dead."""
    dead_letters(place / "here.db")
    first, *rest = ids(place / "here.db")

    answer = call("dead-letters", "replay", str(first), "--store", "here.db")

    assert 0 == answer.code
    assert "1 dead letter put back into the outbox: refusing 1" == answer.out.splitlines()[0]
    assert (rest, 1) == (ids(place / "here.db"), open_store(place / "here.db").pending())


def test_drop_forgets_for_good(call, place):
    """What is dropped is in no list and no queue any more."""
    dead_letters(place / "here.db")

    answer = call("dead-letters", "drop", "--all", "--store", "here.db")

    assert (0, []) == (answer.code, ids(place / "here.db"))
    assert 0 == open_store(place / "here.db").pending()


def test_an_id_that_is_none_is_named_and_the_others_are_done(call, place):
    """Exit code 1, and nothing is lost by a slip of the finger."""
    dead_letters(place / "here.db")
    first, *rest = ids(place / "here.db")

    answer = call("dead-letters", "drop", str(first), "4711", "--store", "here.db")

    assert (1, rest) == (answer.code, ids(place / "here.db"))
    assert "4711 is no dead letter" in answer.err


@pytest.mark.parametrize("words", [["list"], ["replay", "--all"], ["drop", "--all", "--json"]])
def test_a_plugin_of_no_name_is_told_with_the_one_that_was_meant(words, call, place):
    """Exit code 1: a slip in --plugin is not taken for a plugin without dead letters."""
    dead_letters(place / "here.db")

    answer = call("dead-letters", *words, "--plugin", "refusin", "--store", "here.db")
    empty = [
        call("dead-letters", *each, "--plugin", "refusing", "--store", "here.db").code
        for each in (["drop", "--all"], words)
    ]

    assert (1, [0, 0]) == (answer.code, empty)
    assert "for a plugin refusin here; did you mean refusing?" in answer.err


def test_drop_without_ids_drops_nothing(call, place):
    """Neither ids nor --all: refused, and said how to name them."""
    dead_letters(place / "here.db")

    error = call("dead-letters", "drop", "--store", "here.db").error

    assert "drop which? Give ids" in error
    assert 3 == len(ids(place / "here.db"))


def test_one_that_cannot_be_read_is_listed_and_shown(call, place):
    """A damaged row is a dead letter like any other: it says that it cannot be read."""
    dead_letters(place / "here.db", 1)
    with sqlite3.connect(place / "here.db") as connection:
        connection.execute("UPDATE events SET body = '{'")
    connection.close()

    listed = call("dead-letters", "list", "--store", "here.db")
    shown = call("dead-letters", "show", "--all", "--store", "here.db")

    assert (0, 0) == (listed.code, shown.code)
    assert "413 too large" in listed.out
    assert "cannot be read" in shown.out
