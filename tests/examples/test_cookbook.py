"""Every recipe of the cookbook does what it says, from its own file."""

from __future__ import annotations

import re
import runpy
import threading
from dataclasses import replace
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from failhook import Evidence, Policy, Task
from failhook.cli import main
from tests.examples.kitchen import COOKBOOK, HOUR, NODE_LOST, SECRETS, cooking

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cookbook.md").read_text("utf-8")
RECIPES = sorted(path.name for path in COOKBOOK.glob("*.toml"))
SHOWN = re.findall(r"```(?:toml|yaml)\n(.*?)```", PAGE, re.DOTALL)
LOST, WELL, REFUSED, WEEK = re.findall(r"```text\n(┃.*?)\n```", PAGE, re.DOTALL)
ASKED = re.findall(r"```text\n\$ failhook (route .*?)\n(.*?)```", PAGE, re.DOTALL)
BUG = Evidence.exception(ValueError("no such column: amount"))
KEYS = Policy(retries=3)


def answered(status: int, message: str) -> Evidence:
    """Return what is seen of a client that was not let in."""
    url = "https://warehouse.example.org"
    return Evidence.exception(HTTPError(url, status, message, Message(), None))


def task(name: str = "load", run: str = "r1", workflow: str = "nightly", **more) -> Task:
    """Return a task of that run."""
    return Task(workflow, name, run_id=run, **more)


@pytest.mark.parametrize("recipe", RECIPES)
def test_each_recipe_is_shown_as_it_is_and_has_no_problem(recipe, monkeypatch, capsys):
    """What is copied from the page is what was tried."""
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)

    assert (COOKBOOK / recipe).read_text("utf-8") in SHOWN
    assert 0 == main(["check", "--config", str(COOKBOOK / recipe)])


def test_the_page_shows_no_other_recipe():
    """Nor one that nothing tries; a file that goes with one is shown, too."""
    more = [path.read_text("utf-8") for path in COOKBOOK.glob("*.yml")]

    assert more == [block for block in SHOWN if block in more]
    assert len(RECIPES) + len(more) == len(SHOWN)


@pytest.mark.parametrize(("words", "answer"), ASKED)
def test_what_the_page_shows_of_route_is_real(words, answer, monkeypatch, capsys):
    """Word for word."""
    monkeypatch.chdir(COOKBOOK)

    assert 0 == main(words.replace("\\\n", " ").split())
    assert answer.strip() == capsys.readouterr().out.strip()


def test_page_only_on_final(monkeypatch):
    """Two failures and a success page nobody; a run that used its retries pages once."""
    with cooking("page_final.toml", monkeypatch) as kitchen:
        first = task(policy=KEYS)
        for evidence in (NODE_LOST, BUG, None):
            first = kitchen.run(first, evidence)
        kitchen.until(2 * HOUR)
        assert [] == kitchen.of("oncall")

        second = task(run="r2", policy=KEYS)
        for _ in range(4):
            second = kitchen.run(second, BUG)
        kitchen.until(4 * HOUR)
        assert ["trigger"] == kitchen.of("oncall")

        kitchen.run(task(run="r3"))
        kitchen.until(5 * HOUR)
        assert ["trigger", "resolve"] == kitchen.of("oncall")


def test_infra_to_the_platform_and_bugs_to_their_owner(monkeypatch):
    """A lost node is one message, whatever ran there; what nobody owns is seen all the same."""
    with cooking("infra_to_platform.toml", monkeypatch) as kitchen:
        for name in ("load", "clean", "ship"):
            kitchen.pipeline.failed(task(name), NODE_LOST)
        kitchen.pipeline.failed(task("sum"), BUG)
        kitchen.pipeline.failed(task("scan", workflow="lab"), BUG)
        kitchen.until(60)

        told = {(3.0, name, "message") for name in ("platform", "data", "everybody")}
        assert (3, told) == (len(kitchen.got), {*kitchen.got})
        assert LOST == kitchen.shown("platform")


def test_a_storm_is_a_digest(monkeypatch):
    """300 failures of 30 causes are one message, and one reply with what came later."""
    with cooking("digest.toml", monkeypatch) as kitchen:
        for number in range(300):
            error = ValueError(f"no such column: {chr(97 + number % 26)}")
            kitchen.pipeline.failed(
                task(f"day-{number}", workflow="backfill"), Evidence.exception(error)
            )
            kitchen.until(number / 5)
        kitchen.until(HOUR)

        assert ["message", "reply"] == kitchen.of("backfills")


def test_first_failure_and_recovery(monkeypatch):
    """The first failed attempt is told, the second is not, the recovery is."""
    with cooking("first_and_recovery.toml", monkeypatch) as kitchen:
        run = task(policy=KEYS)
        for evidence in (BUG, BUG, None):
            run = kitchen.run(run, evidence)
        kitchen.until(HOUR)

        well = [(240.0, "team", "update"), (240.0, "team", "reply")]
        assert [(60.0, "team", "message"), *well] == kitchen.got
        assert WELL == kitchen.shown("team")


def test_refused_credentials_are_not_retried(monkeypatch):
    """They fail at the first attempt, and those hear of it who can renew them."""
    with cooking("auth_errors.toml", monkeypatch) as kitchen:
        started = kitchen.pipeline.started(task())
        decision = kitchen.pipeline.failed(started, answered(401, "Unauthorized"))
        kitchen.until(60)

        assert (False, "CredentialsRefused") == (decision.retry, decision.code)
        assert [(3.0, "access", "message")] == kitchen.got
        assert REFUSED == kitchen.shown("access")


def test_what_only_looks_like_refused_credentials_is_retried(monkeypatch):
    """The rule above it says so, and nobody hears of it."""
    with cooking("auth_errors.toml", monkeypatch) as kitchen:
        run = kitchen.run(task(), answered(403, "Vault is sealed"))
        kitchen.run(run)
        kitchen.until(HOUR)

        assert ([], 2) == (kitchen.got, run.attempt)


def test_only_production_pages(monkeypatch):
    """What says dev, or says nothing, goes to the channel."""
    with cooking("dev_never_pages.toml", monkeypatch) as kitchen:
        for env in ("dev", "prod", ""):
            labels = {"env": env} if env else {}
            kitchen.pipeline.failed(task(f"load-{env}", labels=labels), BUG)
        kitchen.until(60)

        assert ["trigger"] == kitchen.of("oncall")
        assert ["message"] == kitchen.of("dev")


def test_a_week_of_failures_is_one_episode(monkeypatch):
    """One message, a reply a day, and one at the end."""
    with cooking("nightly_for_a_week.toml", monkeypatch) as kitchen:
        for night in range(7):
            kitchen.until(night * 24 * HOUR)
            kitchen.run(task(run=f"night-{night}"), BUG)
        kitchen.until(7 * 24 * HOUR)
        before, reminder = kitchen.of("data"), kitchen.shown("data")
        kitchen.run(task(run="night-7"))
        kitchen.until(8 * 24 * HOUR)

        assert ["message", *["reply"] * 6] == before
        assert WEEK == reminder
        assert [*before, "reply"] == kitchen.of("data")


def test_it_escalates_with_the_attempts(monkeypatch):
    """The team hears of the first attempt, somebody is called at the third."""
    with cooking("escalate.toml", monkeypatch) as kitchen:
        run = task(policy=replace(KEYS, retries=5))
        called = []
        for _ in range(3):
            run = kitchen.run(run, BUG)
            kitchen.until(kitchen.clock.seconds + 30)
            called.append(len(kitchen.of("oncall")))

        assert [0, 0, 1] == called
        assert ["message"] == kitchen.of("team")


def test_five_deaths_make_a_bad_node(monkeypatch):
    """Four within ten minutes are none; each that is final is its owner's to know."""
    with cooking("bad_nodes.toml", monkeypatch) as kitchen:
        refunded = Policy(max_infra_refunds=3)
        for number in range(4):
            kitchen.pipeline.failed(task(f"t{number}", policy=refunded), NODE_LOST)
        kitchen.until(300)
        assert ([], []) == (kitchen.of("platform"), kitchen.of("data"))

        kitchen.pipeline.failed(task("t4"), NODE_LOST)
        kitchen.until(1_000)
        assert (["message"], ["message"]) == (kitchen.of("platform"), kitchen.of("data"))


def test_alertmanager_gets_each_alert(monkeypatch):
    """And again with every look, so that it knows the alert still fires."""
    with cooking("to_alertmanager.toml", monkeypatch) as kitchen:
        for name in ("load", "clean"):
            kitchen.pipeline.failed(task(name), BUG)
        kitchen.until(301)

        assert ["alerts"] * 4 == kitchen.of("alertmanager")


def test_slack_sees_all_and_only_what_is_critical_pages(monkeypatch):
    """One page of a critical task in production, and three messages."""
    with cooking("critical_pages.toml", monkeypatch) as kitchen:
        for name, tier, env in [("a", "critical", "prod"), ("b", "critical", "dev"), ("c", "", "")]:
            error = Evidence.exception(KeyError(name))
            kitchen.pipeline.failed(task(name, labels={"tier": tier, "env": env}), error)
        kitchen.until(HOUR)

        assert ["trigger"] == kitchen.of("oncall")
        assert ["message"] * 3 == kitchen.of("team")


def test_what_waits_for_a_person_pages_until_somebody_decides(monkeypatch):
    """At once, again after half an hour, with the command to type; a decision resolves it."""
    with cooking("on_hold.toml", monkeypatch) as kitchen:
        charge = kitchen.pipeline.started(task("charge", workflow="billing", idempotent=False))
        decision = kitchen.pipeline.failed(charge, Evidence.returncode(-9))
        kitchen.until(HOUR / 2 + 90)
        kitchen.pipeline.resolve(charge, "succeeded", actor="ann")
        kitchen.until(HOUR)

        assert "hold" == decision.action
        kinds = [(0.0, "trigger"), (1_860.0, "trigger"), (1_920.0, "resolve")]
        assert [(second, "oncall", kind) for second, kind in kinds] == kitchen.got
        assert "failhook resolve default/billing/charge/r1/1" in str(kitchen.sent[0])


def test_a_system_of_ones_own_has_a_ticket_for_what_fails(monkeypatch):
    """The example's server takes what is signed, opens one ticket for a task, and closes it."""
    example, clocks = runpy.run_path(str(COOKBOOK / "own_system.py")), []
    tickets = example["Tickets"]()

    def now() -> float:
        return clocks[0].now().timestamp()

    with example["serve"](tickets, SECRETS["HOOK_SECRET"], 0, now) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/hooks/failhook"
        try:
            with cooking("own_system.toml", monkeypatch, tickets=url) as kitchen:
                clocks.append(kitchen.clock)
                for run in ("r1", "r2"):
                    kitchen.run(task(run=run), BUG)
                kitchen.until(HOUR)
                opened = [*tickets.open.values()]
                kitchen.run(task(run="r3"))
                kitchen.until(2 * HOUR)
                with pytest.raises(HTTPError, match="401"):
                    urlopen(Request(url, b"{}"), timeout=10)
        finally:
            server.shutdown()
            thread.join()

    assert ["nightly/load failed for good"] == opened
    assert ({}, opened) == (tickets.open, tickets.closed)


def test_routes_of_alertmanagers_file_are_taken_as_they_are(monkeypatch):
    """What it pages for is paged for, and its own waits are kept."""
    with cooking("alertmanager_routes.toml", monkeypatch) as kitchen:
        kitchen.pipeline.failed(task(labels={"team": "data", "env": "prod"}), BUG)
        kitchen.pipeline.failed(task("scan", workflow="lab"), NODE_LOST)
        kitchen.until(HOUR)

        told = {("pager", "trigger"), ("data-chat", "message"), ("platform-chat", "message")}
        assert {(30.0, *each) for each in told} == {*kitchen.got}
        assert 3 == len(kitchen.got)
