"""Settings of plugins name their secrets; plugins get them, and nothing else does."""

from __future__ import annotations

import os

import pytest

from failhook.config import load_config
from failhook.errors import ConfigError, RegistrationError
from failhook.manager import Provisions
from failhook.manager.provisions import VolatileState, construct
from failhook.pipeline import configured
from failhook.pipeline.configured import provisions, secrets_of
from failhook.plugin import SystemClock


def provided(tmp_path, text: str) -> Provisions:
    """Read a file, and return what its plugin ``pager`` is given."""
    file = tmp_path / "failhook.toml"
    file.write_text(text, encoding="utf-8")
    config = load_config(file)
    return provisions(config, "pager", VolatileState(), SystemClock(), secrets_of(config))


def test_secrets_come_from_variables_and_files(tmp_path, monkeypatch):
    """At any depth; a path is relative to the file of the settings; a URL of a file is none."""
    monkeypatch.setenv("PAGER_TOKEN", "s3cr3t-1")
    (tmp_path / "key").write_text("s3cr3t-2\n", encoding="utf-8")

    given = provided(
        tmp_path,
        '[plugins.pager]\ntoken = "env:PAGER_TOKEN"\nplain = "environment: x"\nn = 1\n'
        'log = "file:///var/log/x"\n[[plugins.pager.many]]\nkeys = ["file:key"]\n',
    )

    expected = {
        "token": "s3cr3t-1",
        "plain": "environment: x",
        "n": 1,
        "log": "file:///var/log/x",
        "many": [{"keys": ["s3cr3t-2"]}],
    }
    assert expected == dict(given.settings)


MISSING = {
    "env:NOBODY": "the variable NOBODY is not set",
    "env:EMPTY": "the variable EMPTY is empty",
    "file:nowhere": "nowhere: No such file or directory",
    "file:empty": "empty is empty",
    "file:binary": "binary is not text in UTF-8",
    "file:pipe": "pipe is no regular file",
    "file:.": " is no regular file",
}


@pytest.mark.parametrize("value", MISSING)
def test_a_secret_that_is_not_there_is_named_with_its_line(tmp_path, monkeypatch, value):
    """With file, line and key, before anything runs."""
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("NOBODY", raising=False)
    (tmp_path / "empty").write_text("\n", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ConfigError) as caught:
        provided(tmp_path, f'[plugins.pager]\nurl = "x"\n[plugins.pager.to.ops]\nkey = "{value}"\n')

    where = f"{tmp_path / 'failhook.toml'}:4: plugins.pager.to.ops.key is '{value}'; "
    assert str(caught.value).startswith(where)
    assert str(caught.value).endswith(MISSING[value])


class Picky:
    """Refuses its settings as a plugin does that knows nothing of lines."""

    def __init__(self, settings):
        raise ConfigError(f"the token {settings['token']} is too old")


def test_the_refusal_of_a_plugin_has_the_line_of_its_table(tmp_path, monkeypatch):
    """Whoever wrote the plugin."""
    monkeypatch.setenv("PAGER_TOKEN", "s3cr3t-1")
    given = provided(tmp_path, 'store = "memory"\n[plugins.pager]\ntoken = "env:PAGER_TOKEN"\n')

    with pytest.raises(ConfigError, match=r"failhook\.toml:2: the token s3cr3t-1 is too old"):
        construct(Picky, "pager", given, str)


def test_what_a_plugin_says_holds_no_secret_that_it_was_given(tmp_path, monkeypatch):
    """Its refusals, and all else that is logged or kept of it, whatever the secret looks like."""
    monkeypatch.setenv("PAGER_TOKEN", "horse battery")
    file = tmp_path / "failhook.toml"
    file.write_text('[plugins.openlineage]\nmode = "env:PAGER_TOKEN"\n', encoding="utf-8")

    with pytest.raises(RegistrationError) as caught:
        configured.parts_of(file, None)

    said = "plugins.openlineage.mode is '[REDACTED:setting]'; allowed: terminal, enrich"
    assert f"{file}:2: {said}" == str(caught.value)
