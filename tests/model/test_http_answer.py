"""What plugins that send over HTTP need to know of an answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from failhook.plugin import (
    Secrets,
    may_pass,
    origin_of,
    read_retry_after,
    secrets_in_url,
    status_line,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SOON = format_datetime(NOW + timedelta(seconds=90), usegmt=True)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("30", 30.0),
        (" 0 ", 0.0),
        ("9" * 400, 999_999_999.0),
        (SOON, 90.0),
        (SOON.replace("GMT", "-0000"), 90.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        ("-1", None),
        ("nan", None),
        ("\u0663", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(said, seconds):
    """What nobody can read asks for nothing."""
    assert seconds == read_retry_after(said, NOW)


def test_what_is_busy_or_broken_may_pass():
    """A later try may be answered otherwise; all else stays as it is."""
    assert {408, 425, 429, 500, 503, 599} == {
        status
        for status in (301, 400, 401, 404, 408, 413, 425, 429, 500, 503, 599)
        if may_pass(status)
    }


def test_a_status_has_its_name_where_it_has_one():
    """For messages."""
    assert ["429 Too Many Requests", "299"] == [status_line(429), status_line(299)]


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://ann:s3cr3t@host:8443/in?token=x", "https://host:8443"),
        ("http://host", "http://host"),
        ("http://host:port/", "there"),
        ("", "there"),
        (None, "there"),
    ],
)
def test_a_message_names_no_more_of_a_url_than_its_origin(url, origin):
    """No user, no password, no path, no query."""
    assert origin == origin_of(url, "there")


def test_the_secrets_of_a_url_are_hidden_as_written_and_as_read():
    """The longer one first, so that nothing of it is left; short ones stand in every text."""
    secrets = Secrets(secrets_in_url("https://ann:p%40ss-word@host/in?token=t%2Fok&n=1"))

    said = "ann:p%40ss-word and p@ss-word got t%2Fok, or t/ok, of ann, 1"
    assert "*** and *** got ***, or ***, of ann, 1" == secrets.hide(said)
