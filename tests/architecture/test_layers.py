"""The import contracts in pyproject.toml hold, and a planted violation is seen to break them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """Check the packages in this tree, and not the installed ones."""
    return subprocess.run(
        [LINT_IMPORTS, "--no-cache"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree / 'hooks'}{os.pathsep}{tree / 'sinks'}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the sources and their contracts, free to be spoilt."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for root in ("hooks", "sinks"):
        shutil.copytree(ROOT / root, tmp_path / root, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_tree_keeps_every_contract(tree):
    """The sources as they are keep each contract, so a break below is the plant's doing."""
    result = lint_imports(tree)

    assert 0 == result.returncode, result.stdout + result.stderr
    assert " 0 broken." in result.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("hooks/failhook/errors.py", "import failhook.pipeline", "Imports go one way"),
        ("hooks/failhook/errors.py", "from failhook import Pipeline", "Imports go one way"),
        ("hooks/failhook/details.py", "import failhook.error_info", "No cycles, at any depth"),
        ("hooks/failhook/details.py", "import os", "The policy core does no I/O"),
        ("hooks/failhook/pipeline.py", "import failhook_sinks", "failhook never imports"),
        ("sinks/failhook_sinks/log.py", "import failhook.details", "Sinks know failhook by"),
        ("sinks/failhook_sinks/log.py", "from failhook import Task", "Sinks know failhook by"),
        ("sinks/failhook_sinks/log.py", "import failhook_sinks.planted", "Sinks do not know each"),
    ],
)
def test_a_planted_import_breaks_its_contract(tree, module, line, contract):
    """An import against the rules is refused, and the broken contract is named."""
    (tree / "sinks/failhook_sinks/planted.py").touch()
    with (tree / module).open("a") as source:
        source.write(f"\n{line}\n")

    result = lint_imports(tree)

    assert 1 == result.returncode, result.stdout + result.stderr
    broken = [kept for kept in result.stdout.splitlines() if " BROKEN" in kept]
    assert any(kept.startswith(contract) for kept in broken), result.stdout


def test_executors_are_kept_apart(tree):
    """One host's adapter cannot lean on another's."""
    executors = tree / "hooks/failhook/executors"
    executors.mkdir(exist_ok=True)
    (executors / "__init__.py").touch()
    (executors / "planted_one.py").touch()
    (executors / "planted_two.py").write_text("import failhook.executors.planted_one\n")

    result = lint_imports(tree)

    assert 1 == result.returncode, result.stdout + result.stderr
    assert "Executors do not know each other BROKEN" in result.stdout


def test_a_module_must_have_a_layer(tree):
    """A new module that no layer names is refused until somebody decides where it belongs."""
    (tree / "hooks/failhook/planted.py").touch()

    result = lint_imports(tree)

    assert 1 == result.returncode, result.stdout + result.stderr
    assert "Imports go one way BROKEN" in result.stdout
    assert "failhook.planted" in result.stdout


def test_everything_from_event_build_down_is_held_pure():
    """No part of the policy core is left out of the contract that keeps I/O away from it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = {entry["id"]: entry for entry in settings["tool"]["importlinter"]["contracts"]}
    layers = [set(re.findall(r"\w+", layer)) for layer in contracts["layers"]["layers"]]
    core = set().union(*layers[layers.index({"event_build"}) :])
    package = ROOT / "hooks/failhook"
    here = {
        f"failhook.{name}"
        for name in core
        if (package / f"{name}.py").is_file() or (package / name / "__init__.py").is_file()
    }

    assert here == set(contracts["pure-core"]["source_modules"])
