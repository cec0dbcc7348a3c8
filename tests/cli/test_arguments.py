"""The units that people write."""

from __future__ import annotations

import argparse

import pytest

from failhook.cli.arguments import seconds, size, whole_number
from failhook.cli.settings import default_store


@pytest.mark.parametrize(
    ("text", "value"),
    [("90", 90), ("1.5", 1.5), ("90s", 90), ("5m", 300), ("2h", 7200), ("1D", 86_400)],
)
def test_times_may_have_a_unit(text, value):
    """As timeout(1) has them."""
    assert value == seconds(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1000000", 1_000_000),
        ("512M", 512 << 20),
        ("2GiB", 2 << 30),
        ("1.5g", 3 << 29),
        ("1kb", 1024),
    ],
)
def test_sizes_may_have_a_binary_unit(text, value):
    """As container limits have them."""
    assert value == size(text)


@pytest.mark.parametrize("read", [seconds, size, whole_number])
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-1",
        "1e3",
        "nan",
        "inf",
        "1_000",
        "\N{ARABIC-INDIC DIGIT ONE}",
        "5 m",
        "m",
        "9" * 30,
        "0x10",
        "1.",
        "+1",
    ],
)
def test_anything_else_is_refused(read, text):
    """No number that a person would not mean gets through."""
    with pytest.raises(argparse.ArgumentTypeError):
        read(text)


@pytest.mark.parametrize("read", [seconds, size])
def test_a_limit_of_nothing_is_refused(read):
    """Zero would end every task at once."""
    with pytest.raises(argparse.ArgumentTypeError):
        read("0")


def test_the_default_store_follows_the_base_directory_specification(tmp_path, monkeypatch, call):
    """XDG_STATE_HOME where it is absolute, else ~/.local/state; the folder is the user's own."""
    home = {"HOME": str(tmp_path)}
    for environ, folder in (
        ({"XDG_STATE_HOME": str(tmp_path / "state")}, tmp_path / "state"),
        ({"XDG_STATE_HOME": "relative", **home}, tmp_path / ".local/state"),
        (home, tmp_path / ".local/state"),
    ):
        store = default_store(environ)
        assert folder / "failhook/failhook.db" == store
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert call("run", "--", "true").code == 0
    assert 0o700 == (tmp_path / "state/failhook").stat().st_mode & 0o777
