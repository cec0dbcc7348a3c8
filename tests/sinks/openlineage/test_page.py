"""What docs/openlineage.md shows is what the sink does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from failhook.clock import SystemClock
from failhook.config import load_config
from failhook_sinks.openlineage import OpenLineageSink
from tests.sinks.openlineage.validation import own_schema

PAGE = (Path(__file__).parents[3] / "docs" / "openlineage.md").read_text("utf-8")


@pytest.mark.parametrize("block", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_settings_that_the_page_shows_are_taken(block, tmp_path):
    """A reader can copy any block as it stands."""
    path = tmp_path / "failhook.toml"
    path.write_text(block)

    OpenLineageSink(load_config(path, {}).plugins["openlineage"], SystemClock())


def test_every_field_of_the_facet_is_named():
    """Nobody has to look into the schema to know what there is."""
    definition = json.loads(own_schema())["$defs"]["FailhookFailureRunFacet"]["allOf"][1]

    assert [] == [name for name in definition["properties"] if f"`{name}`" not in PAGE]
