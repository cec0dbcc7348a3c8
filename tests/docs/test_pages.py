"""What the pages promise of settings, evidence and links holds."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from failhook.classify import recognise
from failhook.cli import main
from failhook.cli.unused import FIELDS
from failhook.config import load_config
from failhook.config.load import ALLOWED

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if page.parent.name != "reasons"  # test_reason_pages reads those
)
EVIDENCE = (ROOT / "docs" / "evidence.md").read_text("utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)\n```\n\nis `(.*?)`\.", EVIDENCE, re.DOTALL)
SETTINGS = [
    (name, block)
    for name in ("configuration.md", "gate.md", "verdicts.md")
    for block in re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs" / name).read_text("utf-8"), re.DOTALL
    )
]


@pytest.mark.parametrize(("page", "block"), SETTINGS)
def test_settings_that_a_page_shows_are_read(page, block, tmp_path):
    """A reader can copy any block of settings as it stands."""
    path = tmp_path / "failhook.toml"
    path.write_text(block)

    load_config(path, {})


def test_every_table_of_the_settings_is_shown():
    """No setting at the top of the file is left to guess."""
    shown = "\n".join(block for page, block in SETTINGS if page == "configuration.md")

    assert [] == [name for name in ALLOWED if not re.search(rf"(?m)^\[*{name}\b", shown)]


@pytest.mark.parametrize(("document", "verdict"), EXAMPLES)
def test_an_example_of_evidence_has_the_verdict_that_is_shown(
    document, verdict, capsys, monkeypatch, tmp_path
):
    """The command gives the answer that the page gives, and reads every key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(document.encode())))

    assert main(["classify"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()

    assert verdict == first
    assert [] == [line for line in rest if "not used" in line]


def test_every_key_of_a_supervisor_is_told_and_shown():
    """The page names each key and each field of it; each source of facts has an example."""
    told = set(re.findall(r"`(\w+)`", EVIDENCE))
    shown = {
        name for text, _ in EXAMPLES for name in recognise(json.loads(text)).to_dict()["evidence"]
    }

    assert [] == [name for name in FIELDS if name not in told]
    assert [] == [
        name for fields in FIELDS.values() for name in fields if name and name not in told
    ]
    assert {"sent", "stderr_tail"} == FIELDS.keys() - shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_repository_leads_somewhere(page):
    """A reader who follows a link finds a file."""
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    local = [link.partition("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]

    assert [] == [link for link in local if not (page.parent / link).exists()]
