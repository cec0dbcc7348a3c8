from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOOKS = HERE.parents[1] / "hooks"
VERSIONS = ("1.5", "1.6", "1.7")
CI = os.environ.get("CI") == "true"

OLD_CALLER = "knows task and error alone"
CALLERS = ("drainer", "passes details", "passes None", "does not know of them", OLD_CALLER)

WITH_DETAILS = ["details"]
WITH_BOTH = ["task", "details"]
HEARD = {
    "no new argument": ["task"],
    "no argument": [],
    "named": WITH_BOTH,
    "named with default": WITH_BOTH,
    "all with defaults": WITH_DETAILS,
    "keyword-only": WITH_DETAILS,
    "keyword-only with default": WITH_DETAILS,
    "kwargs": WITH_BOTH,
    "named and kwargs": WITH_BOTH,
    "args and kwargs": WITH_BOTH,
    "positional-only": WITH_BOTH,
    "positional-only, other order": WITH_BOTH,
    "future argument with default": ["details", "'low'"],
    "future argument, keyword-only": ["details", "'low'"],
    "future argument, positional-only": ["details", "'low'"],
    "decorated": WITH_DETAILS,
    "static method": WITH_DETAILS,
    "static method, marked above": WITH_DETAILS,
    "class method": WITH_DETAILS,
    "class method, marked above": WITH_DETAILS,
    "instance": WITH_DETAILS,
    "module": WITH_DETAILS,
    "callable": WITH_DETAILS,
    "async": WITH_BOTH,
    "tryfirst": WITH_DETAILS,
    "specname": WITH_DETAILS,
}
REFUSED = {
    "function by mistake": "Put the function into a class, name it after a hook and mark it",
    "nothing": "Write a method named after a hook",
    "unmarked": "Mark it with @hookimpl (from failhook.plugin import hookimpl)",
    "misspelt hook": "did you mean on_task_failed?",
    "misspelt argument": "Did you mean 'failure_details'?",
    "misspelt argument with default": "Did you mean 'failure_details'?",
    "future argument without default": "give it a default: severity=None",
    "argument list": "take **kwargs",
    "wrapper": "Write a plain implementation",
    "old wrapper": "Write a plain implementation",
}


def unavailable(why):
    """Skip where a machine cannot make the environments; CI must be able to."""
    if CI:
        pytest.fail(f"the compatibility matrix cannot run: {why}", pytrace=False)
    pytest.skip(f"the compatibility matrix cannot run: {why}")


def environment(folder, version):
    """Make a virtual environment that holds this version of pluggy and nothing else."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    command += ["--retries", "1"]
    command += ["--quiet", "--disable-pip-version-check", f"pluggy=={version}.*"]
    installed = subprocess.run(command, capture_output=True, text=True, check=False)
    if installed.returncode:
        lines = installed.stderr.strip().splitlines() or ["pip said nothing"]
        unavailable(f"pluggy {version} cannot be installed: {lines[-1]}")
    return python


@pytest.fixture(scope="session", params=VERSIONS)
def matrix(request, tmp_path_factory):
    """Run the whole matrix in a fresh environment of one version of pluggy."""
    python = environment(tmp_path_factory.mktemp("compat") / request.param, request.param)
    ran = subprocess.run(
        [python, "-W", "error", HERE / "matrix.py"],
        env={"PYTHONPATH": str(HOOKS), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (ran.returncode, ran.stderr)
    result = json.loads(ran.stdout)
    assert result["pluggy"].startswith(f"{request.param}.")
    return result


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("implementation", HEARD)
def test_implementation_gets_the_true_value(matrix, implementation, caller):
    """However a hook is written, on each pluggy, each caller reaches it with the true values.

    Only a caller that knows neither the details nor the event has none to give: then it is None.
    """
    cell = matrix["cells"][implementation][caller]

    expected = HEARD[implementation]
    if caller == OLD_CALLER:
        expected = [None if value == "details" else value for value in expected]
    assert {"status": "delivered", "error": "", "heard": [expected]} == cell


@pytest.mark.parametrize("implementation", REFUSED)
def test_mistake_is_refused_with_what_to_write(matrix, implementation):
    """What would never be called as meant is refused on each pluggy, and told how to be written."""
    cells = matrix["cells"][implementation]

    assert set(CALLERS) == set(cells)
    for cell in cells.values():
        assert {"refused"} == set(cell)
        assert "plugin 'plugin'" in cell["refused"]
        assert REFUSED[implementation] in cell["refused"]


def test_matrix_is_complete(matrix):
    """Every implementation is expected to hear or to be refused, and pluggy is all there is."""
    assert HEARD.keys() | REFUSED.keys() == matrix["cells"].keys()
    assert ["pluggy"] == matrix["installed"]


def test_versions_differ_where_we_do_not(matrix):
    """Plain pluggy hands nothing to an argument with a default before 1.7: these are three."""
    expected = "details" if matrix["pluggy"].startswith("1.7.") else "None"

    assert expected == matrix["plain"]
