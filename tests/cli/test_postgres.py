"""The command on a PostgreSQL store."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from tests.postgres import PASSWORD

pytestmark = pytest.mark.requires_service("postgres")


@pytest.fixture
def store(postgres_server, postgres_url):
    """A URL with a password, of a store that has one failed task."""
    return f"{postgres_server.tcp()}?{postgres_url.rpartition('&')[2]}"


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
def test_no_command_tells_the_password_of_its_store(call, store, more):
    """Whatever is asked, and whatever is wrong, the URL is shown without its password."""
    answers = [
        call("run", "--store", store, *more, "--", "sh", "-c", "exit 3"),
        *(
            call(*words, "--store", store, *more)
            for words in (
                ("status",),
                ("history", "unknown"),
                ("stats",),
                ("dead-letters", "list"),
                ("deliver", "--once"),
                ("resolve", "unknown", "fail"),
                ("doctor",),
            )
        ),
        call("status", "--store", store.replace("/postgres?", "/gone?"), *more),
    ]

    said = "".join(answer.out + answer.err for answer in answers)
    assert "postgresql://failhook@127.0.0.1:" in said
    assert "***@" not in said
    assert PASSWORD not in said
    assert quote(PASSWORD, safe="") not in said
    assert "Traceback" not in said


def test_what_one_command_wrote_the_others_read(call, store):
    """A failed run is in the history and in the counts, and nothing is left to deliver."""
    assert 3 == call("run", "--store", store, "--name", "load", "--", "sh", "-c", "exit 3").code

    (attempt,) = json.loads(call("history", "load", "--store", store, "--json").out)["attempts"]
    (counts,) = json.loads(call("stats", "--store", store, "--json").out)["rows"]
    assert "NonZeroExit" == attempt["failure_details"]["reason"]
    assert ("application", 1) == (counts["value"], counts["failures"])
    assert 0 == call("doctor", "--store", store).code
