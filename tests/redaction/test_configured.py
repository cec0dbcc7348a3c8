"""`[redact]` of the configuration: what is wrong is named with file, line and key."""

from __future__ import annotations

import pytest

from failhook import Pipeline
from failhook.config import load_config
from failhook.errors import ConfigError


def written(folder, text):
    """Write a configuration and return where."""
    path = folder / "failhook.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "[redact]\npatterns = ['ACME-[0-9]+', '(\\w+)*@']",
            r":2: redact\.patterns\[1\] may take very long: .* bound",
        ),
        ("[redact]\npatterns = ['a(']", r":2: redact\.patterns\[0\] is not a regular expression"),
        (
            "[redact]\nsources = ['kingfischer']",
            r":2: redact\.sources\[0\] is 'kingfischer'; did you mean 'kingfisher'\?",
        ),
        ("[redact]\npattern = ['a']", r"redact\.pattern is not a setting; did you mean"),
        ("[redact]\nsources = 'kingfisher'", r"redact\.sources is 'kingfisher'; it must be a list"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, text, error):
    """A pattern that may take long is refused before anything runs, and so is an unknown source."""
    with pytest.raises(ConfigError, match=error):
        load_config(written(tmp_path, text))


def test_nothing_but_the_settings_decides_what_is_hidden(tmp_path):
    """A catalogue that is merely installed is not asked: a deployment redacts as it is told to."""
    vendor = "adafruit = 'mbej9mvyi5wjdt1i6nsg33ka867rfdww'"
    told = written(tmp_path, "[redact]\nsources = ['kingfisher']\npatterns = ['ACME-[0-9]+']")

    with Pipeline.from_config(load_config(told), dispatch="none") as asked:
        assert "adafruit = '***' ***" == asked._common.redactor.redact(f"{vendor} ACME-77")
    with Pipeline.from_config(load_config(written(tmp_path, "")), dispatch="none") as not_asked:
        assert vendor == not_asked._common.redactor.redact(vendor)
