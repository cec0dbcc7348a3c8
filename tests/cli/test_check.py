"""`failhook check` finds all that is wrong with the settings, and sends nothing unless told to."""

from __future__ import annotations

import json
import socket

import pytest

from tests.cli.alerting import SETTINGS, paths
from tests.sinks.openlineage.receiver import Answer, listening

WRONG = """\
stoer = "here.db"
[policy]
retries = -1
[[rules]]
match = ["exit_code = 3"]
kind = "infra"
[[rules]]
match = ["exit_code = 4"]
kind = "infar"
reason = "X"
[plugins.log]
stream = "nowhere"
[plugins.alerts.receivers.chat]
type = "webhook"
url = "env:NO_HOOK"
secrets = ["file:no-secret"]
[plugins.alerts.receivers.pager]
type = "pagerdty"
[plugins.alerts.route]
receiver = "chat"
[[plugins.alerts.route.routes]]
receiver = "pgaer"
[[plugins.alerts.route.routes]]
match = ["env = dev"]
[plugins.nobody]
"""
FOUND = {
    1: "stoer is not a setting; did you mean store?",
    3: "policy.retries is -1; it must be a whole number, 0 or more",
    4: "rules[0].reason is missing",
    9: "rules[1].kind is 'infar'",
    12: "plugins.log.stream is 'nowhere'; allowed: stderr",
    15: "plugins.alerts.receivers.chat.url is 'env:NO_HOOK'; the variable NO_HOOK is not set",
    16: "plugins.alerts.receivers.chat.secrets[0] is 'file:no-secret'; no-secret: No such file",
    18: "plugins.alerts.receivers.pager.type is 'pagerdty'; did you mean pagerduty? allowed: slack",
    22: "plugins.alerts.route.routes[0].receiver is 'pgaer'; did you mean pager? allowed: chat",
    23: "plugins.alerts.route.routes[1] is never reached: route.routes[0] takes all of it before",
    25: "plugin 'nobody' is switched on but not installed",
}


def test_everything_that_is_wrong_is_found_with_its_line(run, place):
    """Sections, rules, secrets, receivers, routes, plugins: each error has file, line and key."""
    (place / "failhook.toml").write_text(WRONG)

    out, _ = run("check", code=1)
    document, _ = run("check", "--json", code=1)

    *told, summary = out.splitlines()
    assert [f"failhook.toml:{line}: " for line in FOUND] == [
        f"{each.partition(': ')[0]}: " for each in told
    ]
    for line, (number, text) in zip(told, FOUND.items(), strict=True):
        assert line.startswith(f"failhook.toml:{number}: {text}")
    assert f"{len(FOUND)} problems in failhook.toml" == summary
    assert [*FOUND] == [each["line"] for each in json.loads(document)["problems"]]
    assert "plugins.alerts.route.routes[0].receiver" in [
        each["key"] for each in json.loads(document)["problems"]
    ]


def test_good_settings_are_checked_without_a_connection(run, place):
    """Every plugin is made, and the server that its receivers name is never called."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        (place / "failhook.toml").write_text(SETTINGS.format(url=url))

        out, _ = run("check", code=0)

        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "failhook.toml: no problem; plugins: alerts, log\n" == out
    assert ["failhook.toml"] == [each.name for each in place.iterdir()], "no store is made"


def test_no_settings_at_all_are_good_and_a_broken_file_is_not(run, place):
    """Everything has a default; a file that is no TOML is one problem with its line."""
    assert run("check", code=0)[0] == "the settings: no problem; plugins: log\n"

    (place / "failhook.toml").write_text("[policy\n")
    assert run("check", code=1)[0].startswith("failhook.toml:1:8: not valid TOML")


def test_live_sends_one_marked_test_to_each_receiver_and_takes_it_back(run, place):
    """Who answers and who does not is told, whatever the routes and fallbacks say."""
    with listening() as receiver:
        refused = [Answer(202)] * 2 + [Answer(404)]
        receiver.answers += refused
        (place / "failhook.toml").write_text(SETTINGS.format(url=receiver.url))

        out, _ = run("check", "--live", code=1)

        assert ["/chat", "/chat", "/platform"] == paths(receiver)
        for body in receiver.bodies:
            assert json.loads(body)["data"]["alerts"][0]["event"]["simulated"] is True
    _, chat, platform, log = out.splitlines()
    assert ("alerts: chat took the test", "log took the test") == (chat, log)
    assert platform.startswith("alerts: platform did not take the test: ")
    assert "404" in platform
