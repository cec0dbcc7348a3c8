"""`failhook simulate` sends a marked failure on its real way, and leaves nothing behind."""

from __future__ import annotations

import json

from tests.cli.alerting import SETTINGS, paths
from tests.sinks.openlineage.receiver import Answer, listening

NODE = ("--kind", "infra", "--reason", "NodeLost", "--node", "node-7")


def test_a_simulated_failure_reaches_the_real_receivers_and_is_over_again(run, place):
    """Routes, grouping and plugins are the real ones; each receiver hears of it and of its end."""
    with listening() as receiver:
        (place / "failhook.toml").write_text(SETTINGS.format(url=receiver.url))

        out, err = run("simulate", *NODE, "--label", "team=data", code=0)

    assert {"/chat": 2, "/platform": 2} == {
        path: paths(receiver).count(path) for path in paths(receiver)
    }
    told = [json.loads(body)["data"] for body in receiver.bodies]
    assert ["firing", "firing", "resolved", "resolved"] == [each["status"] for each in told]
    assert all(each["alerts"][0]["event"]["simulated"] for each in told)
    assert "alerts  sent to 2 groups:\n" in out
    assert 'platform{"node": "node-7"}' in out
    assert "log     took it\n" in out
    assert (
        "failhook: [simulated] failhook/simulated attempt 1 failed on node-7: infra NodeLost" in err
    )


def test_what_a_receiver_refuses_is_told_and_not_tried_again(run, place):
    """One refusal keeps nothing from the others; the exit code says that there was one."""
    with listening() as receiver:
        receiver.answers += [Answer(503), Answer(202), Answer(202)]
        (place / "failhook.toml").write_text(SETTINGS.format(url=receiver.url))

        out, _ = run("simulate", *NODE, "--label", "team=data", "--json", code=1)

    alerts, log = json.loads(out)["plugins"]
    assert 3 == len(receiver.requests)
    assert (1, 1) == (len(alerts["sent"]), len(alerts["refused"]))
    assert "503" in "".join(alerts["refused"].values())
    assert log["took"]


def test_real_tasks_are_left_alone(run, place):
    """The store of the settings is neither made nor touched, and no budget is spent."""
    (place / "failhook.toml").write_text('store = "here.db"\n')
    run("run", "--name", "load", "--", "false", code=1)
    before = run("stats", "--json", code=0)[0], run("status", "--json", code=0)[0]

    run("simulate", "--kind", "application", "--task", "run/load", code=0)

    after = run("stats", "--json", code=0)[0], run("status", "--json", code=0)[0]
    assert json.loads(before[0])["rows"] == json.loads(after[0])["rows"]
    assert json.loads(before[1]).keys() == json.loads(after[1]).keys()
    assert 1 == run("history", "run/load", code=0)[0].count("NonZeroExit")


def test_a_kind_is_needed(run):
    """Nothing is sent by mistake."""
    assert "which failure? Give --kind" in run("simulate", code=2)[1]
