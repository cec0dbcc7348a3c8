"""The command, called in this process or as a real one, in an empty place of its own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from failhook.cli import main
from tests.cli.alerting import SECRET


@dataclass(frozen=True)
class Answer:
    """What a call gave."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """Return the one line on standard error, of a call that asked for what cannot be done."""
        assert self.code in (2, 125)
        assert self.out == ""
        (line,) = self.err.splitlines()
        return line


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Work in an empty folder, with a state folder and a home of its own, and no settings."""
    for name in list(os.environ):
        if name.startswith("FAILHOOK_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


@pytest.fixture
def call(capfd, monkeypatch):
    """Return a function that calls the command in this process."""

    def _call(*words: str, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        code = main(words)
        return Answer(code, *capfd.readouterr())

    return _call


@pytest.fixture
def process():
    """Return a function that starts the command as a process, which does not outlive the test.

    It hears SIGHUP, also where these tests run without a terminal, as under nohup.
    """
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    started: list[subprocess.Popen] = []

    def _process(*words: str | Path, **options) -> subprocess.Popen:
        child = subprocess.Popen(
            [sys.executable, "-m", "failhook", *words],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )
        started.append(child)
        return child

    yield _process
    for child in started:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
    signal.signal(signal.SIGHUP, inherited)


@pytest.fixture
def run(process, monkeypatch):
    """Return a function that runs the real command to its end; it never shows the secret."""
    monkeypatch.setenv("HOOK_SECRET", SECRET)

    def _run(*words: str, code: int, stdin: bytes = b"") -> tuple[str, str]:
        child = process(*words, stdin=subprocess.PIPE)
        out, err = child.communicate(stdin, timeout=60)
        assert (code, False) == (child.returncode, SECRET.encode() in out + err), err
        return out.decode(), err.decode()

    return _run


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that installs a package with one module and its entry points."""

    def _package(source: str, entry_points: str) -> None:
        site = tmp_path / "site"
        metadata = site / "acme-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(entry_points)
        (site / "acme.py").write_text(source)
        old = filter(None, [os.environ.get("PYTHONPATH")])
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *old]))
        monkeypatch.delitem(sys.modules, "acme", raising=False)

    return _package
