"""The sinks that come with failhook cost nothing until the configuration names them."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from failhook.config import load_config
from failhook.errors import RegistrationError
from failhook.pipeline import Pipeline

BUNDLED = sorted(
    point.name
    for point in entry_points(group="failhook")
    if point.value.startswith("failhook_sinks.") and point.name != "log"
)


def configured(folder, text):
    """Return the configuration that a file with this text is."""
    path = folder / "failhook.toml"
    path.write_text(text)
    return load_config(path, {})


def test_a_bundled_sink_that_nobody_named_is_neither_loaded_nor_imported(tmp_path):
    """Installed with all extras, and still only the log hears of events."""
    program = (
        "import sys; from failhook import Pipeline\n"
        "with Pipeline.from_config() as pipeline:\n"
        "    print(*pipeline.manager.names())\n"
        "found = [name.split('.') for name in sys.modules]\n"
        "print(*{name[1] for name in found if name[0] == 'failhook_sinks' and len(name) > 1})"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert BUNDLED
    assert ["log", "log"] == done.stdout.split()


def test_a_table_switches_a_bundled_sink_on(tmp_path):
    """To name it is enough; nothing is sent yet, and its client is not even imported."""
    with Pipeline.from_config(configured(tmp_path, "[plugins.openlineage]")) as pipeline:
        assert {"log", "openlineage"} == set(pipeline.manager.names())


def test_the_alerts_need_a_receiver_and_no_route(tmp_path):
    """A receiver is enough to begin with, and is named where there is none."""
    receiver = '[plugins.alerts.receivers.hook]\ntype = "webhook"\nurl = "http://127.0.0.1:1"\n'
    with Pipeline.from_config(configured(tmp_path, receiver)) as pipeline:
        assert {"alerts", "log"} == set(pipeline.manager.names())

    with pytest.raises(RegistrationError, match=r"plugins\.alerts\.receivers is missing"):
        Pipeline.from_config(configured(tmp_path, "[plugins.alerts]"))


def test_one_that_is_switched_off_stays_off(tmp_path):
    """A table can stay in the file while the sink rests."""
    config = configured(tmp_path, "[plugins.openlineage]\nenabled = false")

    with Pipeline.from_config(config) as pipeline:
        assert ("log",) == pipeline.manager.names()


def test_a_sink_whose_client_is_missing_names_the_extra(tmp_path, monkeypatch):
    """Whoever switches it on without its extra learns at once what to install."""
    monkeypatch.setitem(sys.modules, "openlineage", None)

    with pytest.raises(RegistrationError) as refused:
        Pipeline.from_config(configured(tmp_path, "[plugins.openlineage]"))

    assert "the OpenLineage client is not installed" in str(refused.value)
    assert str(refused.value).endswith("; pip install 'failhook[openlineage]'")
