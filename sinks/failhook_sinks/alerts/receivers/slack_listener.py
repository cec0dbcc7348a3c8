"""A Slack without Slack: it listens on loopback and shows in the terminal what it is sent.

``python -m failhook_sinks.alerts.receivers.slack_listener`` stays until it is interrupted. It takes
what both types of Slack receivers send, and refuses nothing.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from failhook_sinks.alerts.receivers.slack_terminal import in_terminal

CHANNEL: Final = "C0LISTENER"
_MOST: Final = 1_000_000


@contextmanager
def listening(show: Callable[[str], None], port: int = 0, *, width: int = 96) -> Generator[str]:
    """Listen, and show each message as people would see it.

    Args:
        show: called with the text of each message, in a thread of the server.
        port: of loopback; 0 takes a free one.
        width: columns.

    Yields:
        The address: with ``/services/x`` behind it, it is the ``url`` of a ``slack_webhook``; with
        ``/api/``, that of a ``slack`` with any token.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), _MOST))
            payload: Mapping[str, Any] = json.loads(body)
            show(f"{_heading(self.path, payload)}\n{in_terminal(payload, width)}")
            ts = payload.get("ts") or f"{time.time():.6f}"
            answer = json.dumps({"ok": True, "channel": CHANNEL, "ts": ts})
            said = (answer if self.path.startswith("/api/") else "ok").encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above
            """Show messages alone."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _heading(path: str, payload: Mapping[str, Any]) -> str:
    channel = payload.get("channel", "the webhook's channel")
    if path.endswith("/chat.update"):
        return "the message now says:"
    return "in its thread:" if payload.get("thread_ts") else f"in {channel}:"


def main() -> None:
    """Listen until interrupted."""

    def show(text: str) -> None:
        sys.stdout.write(f"{text}\n\n")
        sys.stdout.flush()

    with listening(show, 8_777) as address, suppress(KeyboardInterrupt):
        show(
            f'[plugins.alerts.receivers.try]\ntype = "slack_webhook"\nurl = "{address}/services/x"'
        )
        threading.Event().wait()


if __name__ == "__main__":
    main()
