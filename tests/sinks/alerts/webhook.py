"""A loopback address that Alertmanager sends its notifications to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Heard:
    """What came in: seconds on `time.monotonic`, the path, and the JSON."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.posts: list[tuple[float, str, Any]] = []


@contextmanager
def listening() -> Iterator[Heard]:
    """Take everything that is posted for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        """Remembers a post and says that it is well."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.posts.append((time.monotonic(), self.path, json.loads(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        heard = Heard(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield heard
        finally:
            server.shutdown()
            thread.join()
