"""An Alertmanager of our own on loopback, for as long as a test needs it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from tests.postgres import WATCH

_DIRECT = build_opener(ProxyHandler({}))


def program() -> str | None:
    """Return where Alertmanager is: Debian's name, else its own; None where it is not."""
    return shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")


class Alertmanager:
    """A running server.

    Attributes:
        url: where it listens, without a slash at the end.
        folder: its configuration ``alertmanager.yml``, its data and its ``log``.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    @property
    def log(self) -> str:
        """What it has said so far."""
        return (self.folder / "log").read_text("utf-8", "replace")

    def get(self, path: str) -> Any:
        """Return the JSON of a page: ``/api/v2/alerts``; ``/api/v2/alerts/groups``."""
        with _DIRECT.open(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def post(self, path: str, document: Any = None) -> None:
        """Send JSON: ``/api/v2/alerts``, ``/api/v2/silences``; ``/-/reload`` takes none."""
        body = b"" if document is None else json.dumps(document).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(self.url + path, body, headers, method="POST")
        _DIRECT.open(request, timeout=10).close()


@contextmanager
def running(
    config: Mapping[str, Any] | str, arguments: Sequence[str] = ()
) -> Iterator[Alertmanager]:
    """Run one server, without a cluster, for as long as the block lasts.

    Args:
        config: its configuration, as YAML or as what that says.
        arguments: beside those that keep it on loopback and in a folder of its own.

    Raises:
        RuntimeError: it did not start; the message is its log.
    """
    command = program()
    if command is None:
        raise RuntimeError("no Alertmanager is installed here")
    folder = Path(tempfile.mkdtemp(prefix="fh-am-"))
    # JSON is YAML.
    text = config if isinstance(config, str) else json.dumps(config)
    (folder / "alertmanager.yml").write_text(text, "utf-8")
    port = _free_port()
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [
                *("sh", "-c", WATCH, "sh", command),
                "--config.file=alertmanager.yml",
                "--storage.path=data",
                f"--web.listen-address=127.0.0.1:{port}",
                "--cluster.listen-address=",
                *arguments,
            ],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    server = Alertmanager(f"http://127.0.0.1:{port}", folder)
    try:
        _wait(server)
        yield server
    finally:
        process.communicate()  # its input ends, so the watcher ends it and removes the folder


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait(server: Alertmanager) -> None:
    for _ in range(400):
        try:
            _DIRECT.open(f"{server.url}/-/ready", timeout=10).close()
        except (URLError, ConnectionError):
            if "exiting" in server.log or "level=error" in server.log:
                break
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(server.log)
