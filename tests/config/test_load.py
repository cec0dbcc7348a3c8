"""Where settings come from, and what they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from failhook.config import Config, DeliverySettings, load_config
from failhook.details import Confidence
from failhook.errors import ConfigError
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Bounds
from failhook.pipeline import configured
from failhook.policy import Backoff, Policy
from failhook.stores.memory import BOUNDS as MEMORY_BOUNDS
from failhook.task import Task

FULL = """
store = "sqlite:////var/lib/failhook/failhook.db"
namespace = "prod"

[policy]
retries = 1
max_infra_refunds = 3
refund_confidence = "confirmed"
backoff = { initial = 10, jitter = false }

[[policy.overrides]]
match = ["workflow =~ night.*", 'team = "data"']
retries = 5

[[rules]]
id = "acme.busy"
match = ["exception.type = acme.Busy"]
kind = "infra"
reason = "AcmeBusy"

[plugins]
block = ["noisy"]

[plugins.log]
format = "json"

[plugins.quiet]
enabled = false
channel = "#ops"

[delivery]
time_limit = 2.5
max_failures = 3
backoff = { maximum = 60 }

[redact]
patterns = ["acme-[0-9]+"]
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> Path:
    """Write a configuration file."""
    path.write_text(text, "utf-8")
    return path


def test_without_any_file_the_defaults_hold(elsewhere):
    """A library that was given nothing reads nothing and has defaults."""
    assert Config() == load_config(environ={})


def test_every_table_is_read_and_typed(tmp_path):
    """Each setting of the file arrives where the pipeline looks for it."""
    config = load_config(write(tmp_path / "f.toml", FULL), environ={})

    assert tmp_path / "f.toml" == config.path
    assert config.store == "sqlite:////var/lib/failhook/failhook.db"
    assert config.namespace == "prod"
    default = Policy(
        retries=1,
        max_infra_refunds=3,
        refund_confidence=Confidence.CONFIRMED,
        backoff=Backoff(initial=10, jitter=False),
    )
    assert default == config.policies.of(Task("daily", "load"))
    assert config.policies.of(Task("nightly", "load", labels={"team": "data"})).retries == 5
    assert ["AcmeBusy"] == [rule["reason"] for rule in config.rules]
    assert {"log": {"format": "json"}} == config.plugins
    assert config.blocked == ("noisy", "quiet")
    assert config.delivery == DeliverySettings(
        time_limit=2.5, max_failures=3, backoff=Backoff(initial=1.0, maximum=60)
    )
    assert config.redact == ("acme-[0-9]+",)


def test_the_defaults_of_delivery_are_those_of_the_outbox():
    """A setting that is left out changes nothing of how the outbox tries."""
    outbox, settings = DeliveryLimits(), DeliverySettings()

    for name in ("max_failures", "max_refusals", "backoff"):
        assert getattr(outbox, name) == getattr(settings, name)


@pytest.mark.parametrize(
    ("where", "text", "bounds"),
    [
        ("memory", "", MEMORY_BOUNDS),
        ("memory", "[delivery]\nmax_events = 7", Bounds(7, MEMORY_BOUNDS.bytes)),
        ("here.db", "[delivery]\nmax_events = 7", Bounds(7, Bounds().bytes)),
    ],
)
def test_bounds_that_are_not_set_are_those_of_the_kind_of_store(elsewhere, where, text, bounds):
    """A store in memory holds less than a file does, unless the settings say otherwise."""
    config = load_config(write(elsewhere / "failhook.toml", text), {})

    assert bounds == configured._bounds(config.delivery, where)


def test_the_path_given_wins_over_the_variable_and_that_over_the_working_directory(elsewhere):
    """The nearest word on which file to read is the one that holds."""
    given = write(elsewhere / "given.toml", 'namespace = "given"')
    named = write(elsewhere / "named.toml", 'namespace = "named"')
    environ = {"FAILHOOK_CONFIG": str(named)}

    assert load_config(environ=environ).namespace == "named"
    write(elsewhere / "failhook.toml", 'namespace = "here"')
    assert load_config(environ={}).namespace == "here"
    assert load_config(environ={"FAILHOOK_CONFIG": ""}).namespace == "here"
    assert load_config(environ=environ).namespace == "named"
    assert load_config(given, environ=environ).namespace == "given"


def test_variables_win_over_the_file_and_empty_ones_count_as_not_set(elsewhere):
    """A container can point at another store without another file."""
    write(elsewhere / "failhook.toml", 'store = "memory"\nnamespace = "file"')
    environ = {"FAILHOOK_STORE": "sqlite:///other.db", "FAILHOOK_NAMESPACE": "other"}

    config = load_config(environ=environ)
    assert (config.store, config.namespace) == ("sqlite:///other.db", "other")
    config = load_config(environ=dict.fromkeys(environ, ""))
    assert (config.store, config.namespace) == ("memory", "file")


def test_a_store_file_lies_beside_the_configuration_wherever_one_works(elsewhere, monkeypatch):
    """Two working directories do not make two ledgers of one configuration."""
    monkeypatch.setenv("HOME", "/home/somebody")
    folder = elsewhere / "etc"
    folder.mkdir()

    for store, place in (
        ("failhook.db", str(folder / "failhook.db")),
        ("/var/failhook.db", "/var/failhook.db"),
        ("~/failhook.db", "/home/somebody/failhook.db"),
        ("memory", "memory"),
        ("postgresql://db/failhook", "postgresql://db/failhook"),
    ):
        path = write(folder / "f.toml", f'store = "{store}"')
        assert place == load_config(path, environ={}).store


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path):
    """A file from any editor is the same file, with the same lines."""
    path = tmp_path / "f.toml"
    path.write_bytes(b'\xef\xbb\xbfnamespace = "prod"\r\n[policy]\r\nretries = 2\r\n')
    config = load_config(path, environ={})

    assert config.namespace == "prod"
    assert config.policies.default.retries == 2

    path.write_bytes(b"[policy]\r\n\r\nretries = -2\r\n")
    with pytest.raises(ConfigError, match=r"f\.toml:3: policy\.retries is -2"):
        load_config(path, environ={})


def test_what_was_read_cannot_be_changed(tmp_path):
    """Settings are shared between threads and plugins, so nobody can change them."""
    config = load_config(write(tmp_path / "f.toml", FULL), environ={})

    for mapping in (config.plugins, config.plugins["log"], config.rules[0]):
        with pytest.raises(TypeError):
            mapping["new"] = 1
