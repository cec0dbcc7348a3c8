"""A lineage backend on loopback: it remembers what it was sent, and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What to say to one request; `silent` says nothing at all until the test is over."""

    status: int = 201
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    silent: bool = False


@dataclass
class Receiver:
    """What came, and what is answered.

    Attributes:
        url: where it listens.
        events: the events that were taken.
        requests: path, headers and size of every request.
        bodies: what each request held.
        peers: the port of each request's sender: one per connection.
        answers: for the next requests, in order; then all are taken.
    """

    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, Mapping[str, str], int]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    peers: list[int] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def states(self) -> list[str]:
        """Return the types of the events that were taken, in order."""
        return [event["eventType"] for event in self.events]


@contextmanager
def listening() -> Iterator[Receiver]:
    """Listen on a free port of loopback."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            """Take a redirect that lost its body for a request, as a login page does."""
            self.do_POST()

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            receiver.requests.append((self.path, dict(self.headers), len(body)))
            receiver.bodies.append(body)
            receiver.peers.append(self.client_address[1])
            answer = receiver.answers.pop(0) if receiver.answers else Answer()
            if answer.silent:
                receiver.over.wait()
                self.close_connection = True
                return
            if 200 <= answer.status < 300:
                receiver.events.append(json.loads(body or b"{}"))
            said = answer.body.encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
