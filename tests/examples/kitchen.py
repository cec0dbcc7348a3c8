"""A recipe of the cookbook at work: its file, a real pipeline, real clients, and a clock."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from failhook import Evidence, Manager, Pipeline, Task
from failhook.classify import read_user_rules
from failhook.config import Config, load_config
from failhook.manager import Limits
from failhook.manager.provisions import construct
from failhook.pipeline.configured import StoredState, provisions, secrets_of
from failhook.stores import open_store
from failhook.testing import Answer, LoopbackServer, Request
from failhook_sinks.alerts import AlertSink
from failhook_sinks.alerts.receivers.slack_terminal import in_terminal
from tests.outbox.world import START, ManualClock
from tests.sinks.alerts.receivers.slack_stand_in import check
from tests.sinks.alerts.world import STILL

COOKBOOK = Path(__file__).parents[2] / "examples" / "cookbook"
SECRETS = {
    "SLACK_TOKEN": "xoxb-1",
    "PAGERDUTY_KEY": "0123456789abcdef0123456789abcdef",
    "HOOK_SECRET": f"whsec_{base64.b64encode(bytes(24)).decode()}",
}
NODE_LOST = Evidence.verdict("infra", "NodeLost", node="node-7", confidence="confirmed")
HOUR = 3_600


class Kitchen:
    """One recipe, and what its receivers got.

    Attributes:
        got: second, receiver and what it was: in Slack a message, a reply or an update.
        sent: receiver and JSON of each.
    """

    def __init__(self, config: Config, server: LoopbackServer) -> None:
        self.clock = ManualClock()
        self.got: list[tuple[float, str, str]] = []
        self.sent: list[tuple[str, Any]] = []
        self._store = open_store("memory")
        self._server = server
        state = StoredState(self._store, "alerts")
        given = provisions(config, "alerts", state, self.clock, secrets_of(config))
        manager = Manager(clock=self.clock, limits=Limits(failures=1000))
        manager.register(construct(AlertSink, "alerts", given, str), "alerts")
        self.pipeline = Pipeline(
            self._store,
            manager=manager,
            policies=config.policies,
            rules=read_user_rules(config.rules),
            clock=self.clock,
            delivery=STILL,
            random=lambda: 1.0,
        )

    def take(self, request: Request) -> Answer:
        """Be the other side of every receiver."""
        receiver, _, rest = request.path.strip("/").partition("/")
        told = json.loads(request.body)
        if rest.endswith(("chat.postMessage", "chat.update")):
            check(told)
        self.sent.append((receiver, told))
        self.got.append((self.clock.seconds, receiver, _kind(rest, told)))
        return Answer(body=json.dumps({"ok": True, "channel": "C1", "ts": "1.1"}))

    def run(self, task: Task, evidence: Evidence | None = None) -> Task:
        """Let a task run a minute, and succeed, or fail with this evidence."""
        task = self.pipeline.started(task)
        self.until(self.clock.seconds + 60)
        if evidence is None:
            self.pipeline.succeeded(task)
        else:
            self.pipeline.failed(task, evidence)
        return task.next_attempt()

    def until(self, second: float) -> None:
        """Let time go by, and look at every group at its time."""
        while True:
            assert self.pipeline.flush(60)
            due = self._store.next_due(["alerts"], self.clock.now())
            if due is None or due > START + timedelta(seconds=second):
                break
            self.clock.seconds = max(self.clock.seconds, (due - START).total_seconds())
        self.clock.seconds = second
        assert self.pipeline.flush(60)

    def of(self, receiver: str) -> list[str]:
        """Return what one receiver got, updates of its messages left out."""
        return [kind for _, to, kind in self.got if to == receiver and kind != "update"]

    def shown(self, receiver: str, number: int = -1) -> str:
        """Return one message as people see it in Slack."""
        return in_terminal([told for to, told in self.sent if to == receiver][number])


@contextmanager
def cooking(recipe: str, monkeypatch, **elsewhere: str) -> Iterator[Kitchen]:
    """Set a recipe up as it stands; only the addresses are those of a server on loopback.

    Args:
        recipe: its file.
        monkeypatch: for the secrets.
        elsewhere: by receiver, the address of another server that is to get it.
    """
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)
    path = COOKBOOK / recipe
    kitchens: list[Kitchen] = []

    def take(request: Request) -> Answer:
        return kitchens[0].take(request)

    with LoopbackServer(take) as server:
        environ = dict(SECRETS)
        for name, table in load_config(path, {}).plugins["alerts"]["receivers"].items():
            setting = f"FAILHOOK__PLUGINS__ALERTS__RECEIVERS__{name.upper().replace('-', '_')}__"
            if table["type"] == "alertmanager":
                environ[f"{setting}URLS"] = f'["{server.url}/{name}"]'
            else:
                environ[f"{setting}URL"] = elsewhere.get(name, f"{server.url}/{name}/")
        kitchens.append(Kitchen(load_config(path, environ), server))
        yield kitchens[0]
        kitchens[0].pipeline.close(20)


def _kind(path: str, told: Any) -> str:
    if path.endswith("chat.update"):
        return "update"
    if path.endswith("chat.postMessage"):
        return "reply" if told.get("thread_ts") else "message"
    if isinstance(told, list):
        return "alerts"
    return str(told.get("event_action") or told["data"]["why"])
