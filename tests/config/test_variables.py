"""Any setting can come from a variable: ``FAILHOOK__TABLE__KEY``."""

from __future__ import annotations

import pytest

from failhook.config import load_config
from failhook.errors import ConfigError
from failhook.task import Task

FILE = """
[plugins.alerts.receivers.on-call]
type = "slack"
token = "env:TOKEN"

[[policy.overrides]]
match = ["task = load"]
retries = 1
"""


@pytest.fixture
def file(tmp_path):
    """Return a file of settings."""
    path = tmp_path / "failhook.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_variable_wins_over_the_file_and_adds_to_it(file):
    """Read as TOML where it is some, else as a string; case and dashes do not matter."""
    config = load_config(
        file,
        {
            "FAILHOOK__DELIVERY__TIME_LIMIT": "2.5",
            "FAILHOOK__PLUGINS__ALERTS__RECEIVERS__ON_CALL__TOKEN": "file:/run/secrets/slack",
            "FAILHOOK__PLUGINS__LOG__FORMAT": "json",
            "FAILHOOK__POLICY__OVERRIDES__0__RETRIES": "4",
            "FAILHOOK__PLUGINS__BLOCK": '["pager"]',
            "FAILHOOK__NAMESPACE": "",
        },
    )

    assert 2.5 == config.delivery.time_limit
    on_call = {"type": "slack", "token": "file:/run/secrets/slack"}
    assert {"receivers": {"on-call": on_call}} == config.plugins["alerts"]
    assert {"format": "json"} == config.plugins["log"]
    assert 4 == config.policies.of(Task("nightly", "load")).retries
    assert ("pager",) == config.blocked
    assert "default" == config.namespace


def test_no_file_is_needed(tmp_path, monkeypatch):
    """A container may have variables alone."""
    monkeypatch.chdir(tmp_path)

    config = load_config(None, {"FAILHOOK__POLICY__RETRIES": "2"})

    assert 2 == config.policies.default.retries
    assert None is config.path


WRONG = {
    "FAILHOOK__POLICY__RETRYS": "policy.retrys is not a setting; did you mean policy.retries?",
    "FAILHOOK__POLCY__RETRIES": "polcy is not a setting; did you mean policy?",
    "FAILHOOK__POLICY__RETRIES": "policy.retries is 'many'; it must be a whole number",
    "FAILHOOK__POLICY__OVERRIDES__7__RETRIES": "policy.overrides is a list without such an entry",
    "FAILHOOK__PLUGINS__ALERTS__RECEIVERS__ON_CALL__TYPE__X": "plugins.alerts.receivers.on-call."
    "type is no table, so X of it cannot be set",
    "FAILHOOK__POLICY____RETRIES": "a part of the name between two underscores is empty",
}


@pytest.mark.parametrize("variable", WRONG)
def test_a_wrong_variable_is_named(file, variable):
    """In the place of file and line."""
    with pytest.raises(ConfigError) as caught:
        load_config(file, {variable: "many"})

    assert (
        f"{variable}: {WRONG[variable]}"
        == str(caught.value)[: len(variable) + 2 + len(WRONG[variable])]
    )
