"""What is compiled of a catalogue is kept for these tests alone."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def rule_cache(tmp_path_factory):
    """Compile the catalogue once, in a folder of our own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KF_RULE_CACHE_DIR", str(tmp_path_factory.mktemp("rules")))
        yield
