"""`failhook route` says who gets an alert, when, grouped with what, and why others do not."""

from __future__ import annotations

import json
import os
import pty

import pytest

from failhook.task import Task
from tests.cli.alerting import SETTINGS
from tests.sinks.log.events import BROKEN, event


@pytest.fixture(autouse=True)
def _settings(place):
    (place / "failhook.toml").write_text(SETTINGS.format(url="http://127.0.0.1:1"))


def places(answer: str) -> dict[str, str]:
    """Return the receiver of each route that takes it."""
    return {
        each["route"]: each["receiver"] for each in json.loads(answer)["routes"] if each["taken"]
    }


def test_who_gets_it_when_and_with_what_and_why_others_do_not(run):
    """Each route of the tree has its answer."""
    out, _ = run(
        *("route", "--kind", "infra", "--node", "node-7"),
        *("--task", "nightly/load", "--label", "team=data"),
        code=0,
    )

    assert out.startswith(
        "nightly/load, attempt 1: infra NodeLost, for good\n  labels: action=fail "
    )
    assert "  owner by the map: data\n" in out
    assert (
        "  platform, by route.routes[0]\n"
        "    when: 3s after the first of its group; what joins it later, every 5m; as it is, every "
        "4h\n"
        "    with: all else with node=node-7\n"
    ) in out
    assert "    calls @data\n" in out
    assert '  chat (route.routes[1])  no match: env="dev"\n' in out
    assert "  chat (route)            route.routes[0], route.routes[2] took it\n" in out


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        (["--kind", "application"], {"route": "chat"}),
        (["--kind", "infra"], {"route.routes[0]": "platform"}),
        (["--kind", "application", "--label", "team=data"], {"route.routes[2]": "chat"}),
        (
            ["--kind", "application", "--label", "env=dev", "--retry", "--attempt", "3"],
            {"route.routes[1]": "chat"},
        ),
    ],
)
def test_kind_labels_attempt_and_end_decide(words, taken, call, monkeypatch):
    """What decides in a pipeline decides here."""
    assert taken == places(call("route", *words, "--json").out)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--kind", "application", "--retry"], "is not the end of it: notify_on is final"),
        (["--kind", "manual"], "somebody ended it"),
    ],
)
def test_a_failure_that_nobody_hears_of_says_why(words, why, call):
    """Exit code 1: a check in CI notices that nobody would be told."""
    answer = call("route", *words)

    assert 1 == answer.code
    assert "Nobody gets it\n" in answer.out
    assert why in answer.out


def test_a_whole_event_and_evidence_come_through_standard_input(run):
    """What a plugin was given, and what `classify` takes."""
    task = Task("nightly", "load", labels={"env": "dev"})
    whole = json.dumps(event(details=BROKEN, task=task).to_dict()).encode()
    evidence = json.dumps({"evidence": {"signal": 11}}).encode()

    assert (
        "nightly/load, attempt 1: application UserException"
        in run("route", "-", code=0, stdin=whole)[0]
    )
    assert "application NativeCrash" in run("route", "-", code=0, stdin=evidence)[0]
    assert "no event of failhook" in run("route", "-", code=2, stdin=b'{"failure_details": 1}')[1]


def test_it_fits_a_terminal(process):
    """80 columns hold every line."""
    leader, follower = pty.openpty()
    child = process("route", "--kind", "infra", "--label", "team=data", stdout=follower)
    os.close(follower)
    told = b""
    while b"Who does not" not in told:
        told += os.read(leader, 65_536)
    child.wait()
    os.close(leader)

    assert [] == [line for line in told.decode().splitlines() if len(line) > 80]


def test_secrets_are_not_needed_to_ask(call, monkeypatch):
    """A checkout in CI knows the routes, and none of the secrets."""
    monkeypatch.delenv("HOOK_SECRET", raising=False)

    assert 0 == call("route", "--kind", "application").code


def test_wrong_routes_are_told_with_their_line(call, place):
    """The errors are those of `failhook check`."""
    with (place / "failhook.toml").open("a") as file:
        file.write('group_wiat = "3s"\n')

    assert "failhook.toml:" in call("route", "--kind", "infra").error
