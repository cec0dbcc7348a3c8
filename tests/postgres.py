"""A PostgreSQL server of our own, for as long as a test session or a benchmark needs it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

OWNER = "postgres"
"""Who runs the server where the tests run as root: it refuses to be root itself."""

PASSWORD = "p4ss w@rd/é"  # noqa: S105 - of a server that lives as long as the tests; it needs quoting
ROLE = "failhook"

WATCH = """
"$@" &
if ! read -r _; then
    kill -QUIT $!
    wait $!
    rm -rf "$PWD"
fi
wait $!
"""
"""Runs a server, and ends it when whoever started it has died without a word."""

_ROOM = 2**30
"""Bytes that a whole session of tests stays well below."""


def programs() -> Path | None:
    """Return the folder of the newest server that is installed; None where none is."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: each.parent.name)
    found = shutil.which("initdb")
    if not folders and found:
        folders = [Path(found).resolve().parent]
    return folders[-1] if folders and (folders[-1] / "postgres").exists() else None


class Server:
    """A server with an empty database, on a free loopback port and on a Unix socket.

    The role `ROLE` is its superuser: through the socket without a password, else with `PASSWORD`.
    Nothing of it survives a crash of the machine, so it is fast.
    """

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        self.bin = bin_folder
        self.folder = folder
        self.data = folder / "data"
        self.as_user = {"user": OWNER, "group": OWNER, "extra_groups": []} if _root() else {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The database, through the Unix socket."""
        return f"postgresql:///postgres?user={ROLE}&host={self.folder}&port={self.port}"

    def tcp(self, user: str = ROLE, password: str = PASSWORD, database: str = "postgres") -> str:
        """The database, through TCP."""
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def make(self) -> None:
        """Make the cluster."""
        password = self.folder / "password"
        password.write_text(PASSWORD)
        if _root():
            shutil.chown(self.folder, OWNER, OWNER)
            shutil.chown(password, OWNER)
        self._run(
            *("initdb", "-D", self.data, "-U", ROLE, "--pwfile", password, "-E", "UTF8"),
            *("--locale=C", "--no-sync", "--auth-local=trust", "--auth-host=scram-sha-256"),
        )

    def start(self, *settings: str) -> None:
        """Start the server and wait until it answers.

        Args:
            settings: as ``name=value``, beside those that make it fast.
        """
        fast = ("fsync=off", "full_page_writes=off", "max_connections=60")
        here = (f"port={self.port}", f"unix_socket_directories={self.folder}")
        options = [
            part
            for setting in (*fast, *here, "listen_addresses=127.0.0.1", *settings)
            for part in ("-c", setting)
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", WATCH, "sh", self.bin / "postgres", "-D", self.data, *options],
                **self.as_user,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ready = [self.bin / "pg_isready", "-q", "-U", ROLE, "-d", self.url]
        for _ in range(600):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text("utf-8", "replace"))

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends its sessions first, SIGQUIT leaves everything as it is."""
        if self._process is not None:
            if (self.data / "postmaster.pid").exists():
                os.kill(self.pids()[0], how)
            self._process.communicate(b"stopped\n")
            self._process = None

    def pids(self) -> list[int]:
        """The processes of the server, the first one first."""
        first = int((self.data / "postmaster.pid").read_text("ascii").split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text("ascii")
        return [first, *map(int, children.split())]

    def _run(self, program: str, *arguments: object) -> None:
        run = subprocess.run(
            [self.bin / program, *map(str, arguments)],
            **self.as_user,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if run.returncode:
            raise RuntimeError((run.stdout + run.stderr).decode("utf-8", "replace"))


@contextmanager
def cluster() -> Iterator[Server]:
    """Make a server that is not running yet; it and its files end with the block."""
    bin_folder = programs()
    if bin_folder is None:
        raise RuntimeError("no PostgreSQL server is installed here")
    # The path of a Unix socket may have 107 bytes, and pytest's folders are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="fh-pg-", dir=_in_memory()))
    server = Server(bin_folder, folder)
    try:
        server.make()
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder)


@contextmanager
def running() -> Iterator[Server]:
    """Run a server for as long as the block lasts."""
    with cluster() as server:
        server.start()
        yield server


def _in_memory() -> Path | None:
    """Return where thousands of files come and go in no time; None where there is no room."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and shutil.disk_usage(shared).free > _ROOM else None


def _root() -> bool:
    return os.geteuid() == 0 and OWNER in {entry.pw_name for entry in pwd.getpwall()}
