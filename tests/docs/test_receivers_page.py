"""The settings of receivers that the page shows are read, all of them."""

from __future__ import annotations

import base64
import re
import tomllib
from pathlib import Path

import pytest

from failhook.plugin import SettingsTable, SystemClock
from failhook_sinks.alerts.receivers import open_receivers

PAGE = (Path(__file__).parents[2] / "docs" / "receivers.md").read_text("utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
KINDS = ("pagerduty", "alertmanager", "webhook")
SIGNING = f"whsec_{base64.b64encode(bytes(24)).decode()}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_settings_of_a_receiver_that_the_page_shows_are_read(kind):
    """A reader can copy them; a secret of any kind is where the page has a variable."""
    (block,) = [block for block in BLOCKS if f'type = "{kind}"' in block]
    table = tomllib.loads(re.sub(r'"env:\w+"', f'"{SIGNING}"', block))["plugins"]["alerts"]

    opened = open_receivers(
        SettingsTable(table, "plugins", "alerts").named("receivers"), SystemClock()
    )

    assert [*table["receivers"]] == [receiver.name for receiver in opened.values()]
