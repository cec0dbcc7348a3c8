"""The other side of a plugin, on loopback: it remembers requests, and answers as a test says."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType, TracebackType
from typing import Final, Literal, Self

_JSON: Final[Mapping[str, str]] = MappingProxyType({"Content-Type": "application/json"})


Trouble = Literal["", "silent", "dropped"]


@dataclass(frozen=True, slots=True)
class Request:
    """What came.

    Attributes:
        method: ``POST``.
        path: with its query.
        headers: as they were sent.
        body: undecoded.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to a request.

    Attributes:
        status: the HTTP status.
        body: text; what it is made of may stand in it, see `LoopbackServer`.
        headers: beside the length; JSON unless given.
        trouble: ``silent`` never answers, ``dropped`` ends the connection without a word.
    """

    status: int = 200
    body: str = "{}"
    headers: Mapping[str, str] = field(default_factory=lambda: _JSON)
    trouble: Trouble = ""

    def with_headers(self, **headers: str) -> Answer:
        """Return the same with more headers; ``Retry_After`` is ``Retry-After``."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})


class LoopbackServer:
    """An HTTP server on a free port of loopback; a context manager.

    Args:
        answer: returns what to say to a request; 200 and an empty JSON object unless given.
    """

    def __init__(self, answer: Callable[[Request], Answer] | None = None) -> None:
        self.answer: Callable[[Request], Answer] = answer or (lambda _: Answer())
        self.requests: list[Request] = []
        self._over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens: ``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, request: Request) -> Answer:
        """Remember a request and return what to say."""
        self.requests.append(request)
        return self.answer(request)

    def hold(self) -> None:
        """Wait for the end of the server."""
        self._over.wait()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def unused_url() -> str:
    """Return a URL at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that went away: that is theirs to do."""


def _handler(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = server.take(Request(self.command, self.path, dict(self.headers), body))
            if answer.trouble:
                if answer.trouble == "silent":
                    server.hold()
                self.close_connection = True
                return
            said = answer.body.encode("utf-8", "replace")
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the base class looks for these names

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - nothing is logged
            """Keep the output of the tests clean."""

    return Handler
