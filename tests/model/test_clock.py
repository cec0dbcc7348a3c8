"""Times are told in UTC, in one shape, and the machine's clock keeps its promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.clock import SystemClock, as_utc, from_rfc3339, to_rfc3339

EAST = timezone(timedelta(hours=14))


@given(
    st.datetimes(
        datetime(2, 1, 1),  # noqa: DTZ001 - the strategy adds the offset
        datetime(9998, 1, 1),  # noqa: DTZ001 - as above
        timezones=st.sampled_from((UTC, EAST, timezone(-timedelta(hours=3, minutes=30)))),
    )
)
def test_a_time_survives_being_written(moment):
    """A time of any offset is written in UTC, and read back it is the same moment."""
    text = to_rfc3339(moment)

    assert text.endswith("Z")
    assert moment == from_rfc3339(text)
    assert UTC is from_rfc3339(text).tzinfo


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-04T05:06:07Z", "2026-03-04T05:06:07.000000Z"),
        ("2026-03-04T05:06:07.5+02:00", "2026-03-04T03:06:07.500000Z"),
        ("2026-03-04T05:06:07", "2026-03-04T05:06:07.000000Z"),
        ("2026-03-04", "2026-03-04T00:00:00.000000Z"),
    ],
)
def test_times_of_other_writers_are_read(text, expected):
    """An offset is respected, and a time without one is taken as UTC."""
    assert expected == to_rfc3339(from_rfc3339(text))


def test_a_time_without_an_offset_is_utc():
    """A naive time is never taken for the local time of whoever reads it."""
    naive = datetime(2026, 3, 4, 5, 6, 7)  # noqa: DTZ001 - that is the point

    assert "2026-03-04T05:06:07.000000Z" == to_rfc3339(naive)
    assert naive.replace(tzinfo=UTC) == as_utc(naive)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_refused(text):
    """A text that is not a time, or that UTC has no year for, raises ValueError."""
    with pytest.raises(ValueError, match=r"isoformat|month|outside the years"):
        from_rfc3339(text)


def test_the_machines_clock_is_in_utc_and_never_goes_back():
    """`now` is aware and in UTC; `monotonic` does not decrease."""
    clock = SystemClock()

    assert UTC is clock.now().tzinfo
    assert clock.monotonic() <= clock.monotonic()
