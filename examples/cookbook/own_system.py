"""The other end of own_system.toml: opens a ticket for what fails, and closes it when it is well.

``HOOK_SECRET=whsec_... python own_system.py`` listens on port 8780. Any library for Standard
Webhooks (https://www.standardwebhooks.com) does what `signed` does here.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE = 300.0  # seconds; an older request may be somebody's replay
MOST = 65_536  # bytes; `max_bytes` of the receiver


def signed(secret: str, headers: Message, body: bytes, now: float) -> bool:
    """Return whether somebody who knows the secret wrote this, and just now."""
    identity, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not at.isdigit() or abs(now - int(at)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{identity}.{at}.".encode() + body, hashlib.sha256)
    wanted = f"v1,{base64.b64encode(digest).decode()}"
    signatures = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(wanted, each) for each in signatures)


class Tickets:
    """The system: a database would keep `seen` and `open` for more than one run."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.open: dict[str, str] = {}
        self.closed: list[str] = []

    def take(self, event: Mapping[str, object]) -> None:
        """Open, update or close the ticket of a group."""
        identity, subject = str(event["id"]), str(event["subject"])
        if identity in self.seen:  # told at least once
            return
        self.seen.add(identity)
        if event["type"] == "io.failhook.alert.resolved.v1":
            self.closed.append(self.open.pop(subject, ""))
        else:
            data = event["data"]
            assert isinstance(data, dict)
            self.open[subject] = data["title"]


def serve(
    tickets: Tickets, secret: str, port: int, clock: Callable[[], float] = time.time
) -> ThreadingHTTPServer:
    """Return a server that takes events for as long as it is let."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), MOST))
            known = signed(secret, self.headers, body, clock())
            if known:
                tickets.take(json.loads(body))
            # 2xx is taken, 4xx will never be, 5xx is tried again
            self.send_response(204 if known else 401)
            self.end_headers()

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(Tickets(), os.environ["HOOK_SECRET"], 8780).serve_forever()
