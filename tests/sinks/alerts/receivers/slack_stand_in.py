"""Slack on loopback: it enforces Slack's limits, parses as Slack does, and answers as Slack does.

Limits and errors are those of these pages, seen through the code and the threads that cite them:

- docs.slack.dev/reference/methods/chat.postMessage and chat.update: arguments, errors
- docs.slack.dev/reference/block-kit/blocks (50 in a message), .../section-block (3000, 10 fields of
  2000), .../header-block (150), .../context-block (10 elements), .../rich-text-block
- docs.slack.dev/messaging/formatting-message-text: escaping, mentions, links
- docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: answers of webhooks
- docs.slack.dev/apis/web-api/rate-limits: 429 and Retry-After
- github.com/slackapi/bolt-js/issues/2509: 12,000 characters of blocks, containers counted
"""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "xoxb-1-secret"  # noqa: S105 - of the stand-in
CHANNEL, CHANNEL_ID = "#alerts", "C0ALERTS"
MAX_BLOCKS = 50
MAX_CHARACTERS = 12_000
CONTAINER = 20
MAX_TEXT = 4_000
TEXTS = {"section": 3_000, "header": 150}
ELEMENTS = {"context": 10, "section": 10}
SEQUENCE = re.compile(r"<([@!#])([^<>]*)>|<(https?://[^<>|]*)(?:\|[^<>]*)?>")
LOOSE = re.compile(r"&(?!(?:amp|lt|gt);)|<|>")


class InvalidError(Exception):
    """What Slack refuses, by its code."""


@dataclass
class Answer:
    """What to say to one request; `silent` says nothing at all until the test is over."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False

    @classmethod
    def error(cls, code, status=200, **headers):
        """Return an error of the Web API."""
        return cls(status, json.dumps({"ok": False, "error": code}), headers)


@dataclass
class Posted:
    """A message as it is in the channel now."""

    payload: dict[str, Any]
    channel: str = CHANNEL_ID
    ts: str = ""

    @property
    def thread(self) -> str:
        """Return the message under which it stands."""
        return self.payload.get("thread_ts", "")

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Return all elements of its blocks that people see."""
        return [each for each in walk(self.payload.get("blocks", [])) if "elements" not in each]

    @property
    def seen(self) -> str:
        """Return the text that people see."""
        told = [part["text"] for part in self.parts if "text" in part]
        return "".join(told) or html.unescape(SEQUENCE.sub("", self.payload["text"]))

    @property
    def mentions(self) -> list[str]:
        """Return who is called by it: in its blocks, and in the text that stands in for them."""
        kinds = {"user": "user_id", "usergroup": "usergroup_id", "broadcast": "range"}
        found = [part[kinds[part["type"]]] for part in self.parts if part["type"] in kinds]
        return found + [each[2] for each in SEQUENCE.finditer(self.payload["text"]) if each[1]]

    @property
    def links(self) -> list[str]:
        """Return where it leads."""
        found = [part["url"] for part in self.parts if part["type"] == "link"]
        return found + [each[3] for each in SEQUENCE.finditer(self.payload["text"]) if each[3]]

    @property
    def loose(self) -> list[str]:
        """Return what stands unescaped in its text and begins nothing."""
        return LOOSE.findall(SEQUENCE.sub("", self.payload["text"]))


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every object within."""
    if isinstance(node, list):
        for each in node:
            yield from walk(each)
    elif isinstance(node, dict):
        yield node
        for name in ("elements", "fields", "text"):
            if isinstance(node.get(name), list | dict):
                yield from walk(node[name])


def check(payload: Mapping[str, Any]) -> None:
    """Refuse what Slack refuses, with its code."""
    blocks = payload.get("blocks") or []
    if not blocks and not payload.get("text", "").strip():
        raise InvalidError("no_text")
    if units(payload.get("text", "")) > MAX_TEXT:
        raise InvalidError("msg_too_long")
    if len(blocks) > MAX_BLOCKS:
        raise InvalidError("invalid_blocks")
    for node in walk(blocks):
        kind, text = node["type"], node.get("text")
        if kind in {"text", "plain_text", "mrkdwn", "link"} and not text:
            raise InvalidError("invalid_blocks")
        if kind in TEXTS and isinstance(text, dict) and units(text["text"]) > TEXTS[kind]:
            raise InvalidError("invalid_blocks")
        if "elements" in node and not 0 < len(node["elements"]) <= ELEMENTS.get(kind, 1_000):
            raise InvalidError("invalid_blocks")
        if kind == "link" and units(node["url"]) > 3_000:
            raise InvalidError("invalid_blocks")
    counted = [node["text"] for node in walk(blocks) if isinstance(node.get("text"), str)]
    containers = sum("elements" in node for node in walk(blocks))
    if sum(units(text) for text in counted) + CONTAINER * containers > MAX_CHARACTERS:
        raise InvalidError("msg_blocks_too_long")


def units(text: str) -> int:
    """Count as JavaScript and Java do."""
    return len(text.encode("utf-16-le")) // 2


@dataclass
class StandIn:
    """What came, and what is answered.

    Attributes:
        url: of the Web API.
        hook: of the webhook.
        posted: the messages in the channel, in order.
        calls: method and body of every request.
        answers: for the next requests, in order; then all that is right is taken.
        refuses: codes for what has blocks, and for what has none.
    """

    url: str = ""
    hook: str = ""
    posted: list[Posted] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    refuses: dict[str, str] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    def take(self, method: str, payload: dict[str, Any], authorization: str) -> Answer:
        """Do what a request asks for."""
        hook = method.startswith("/services/")
        try:
            self._admit(payload, known=hook or authorization == f"Bearer {TOKEN}")
            check(payload)
            done = self._done(method, payload)
        except InvalidError as error:
            return Answer(400, str(error)) if hook else Answer.error(str(error))
        return Answer(body="ok") if hook else Answer(body=json.dumps({"ok": True, **done}))

    def _admit(self, payload: dict[str, Any], *, known: bool) -> None:
        if not known:
            raise InvalidError("invalid_auth")
        if code := self.refuses.get("blocks" if payload.get("blocks") else "text"):
            raise InvalidError(code)

    def _done(self, method: str, payload: dict[str, Any]) -> dict[str, Any]:
        if method.startswith("/services/"):
            self.posted.append(Posted(payload))
            return {}
        if payload.get("channel") not in {CHANNEL, CHANNEL_ID}:
            raise InvalidError("channel_not_found")
        known = {each.ts: each for each in self.posted}
        if method.endswith("/chat.update"):
            if payload["ts"] not in known:
                raise InvalidError("message_not_found")
            known[payload["ts"]].payload = payload
            return {"channel": CHANNEL_ID, "ts": payload["ts"]}
        # A thread outlives its first message: what is written there is taken, and hardly seen.
        self.posted.append(Posted(payload, ts=f"1700000000.{len(self.calls):06}"))
        return {"channel": CHANNEL_ID, "ts": self.posted[-1].ts}


@contextmanager
def slack() -> Iterator[StandIn]:
    """Listen on a free port of loopback."""
    stand_in = StandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            payload = json.loads(body)
            stand_in.calls.append((self.path, payload))
            if stand_in.answers:
                answer = stand_in.answers.pop(0)
            else:
                answer = stand_in.take(self.path, payload, self.headers.get("Authorization", ""))
            if answer.silent:
                stand_in.over.wait()
                self.close_connection = True
                return
            said = answer.body.encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stand_in.url = f"http://127.0.0.1:{server.server_port}/api/"
    stand_in.hook = f"http://127.0.0.1:{server.server_port}/services/T0/B0/hooksecret"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        stand_in.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
