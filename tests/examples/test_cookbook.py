"""Every recipe of the cookbook does what it says, from its own file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from failhook import Evidence, Policy, Task
from failhook.cli import main
from tests.examples.kitchen import COOKBOOK, HOUR, NODE_LOST, SECRETS, cooking

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cookbook.md").read_text("utf-8")
RECIPES = sorted(path.name for path in COOKBOOK.iterdir())
SHOWN = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
ASKED = re.findall(r"```text\n\$ failhook (route .*?)\n(.*?)```", PAGE, re.DOTALL)
BUG = Evidence.exception(ValueError("no such column: amount"))
KEYS = Policy(retries=3)


class RefusedError(Exception):
    """What a client raises that was not let in."""

    status_code = 401


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
    """Nor one that nothing tries."""
    assert len(RECIPES) == len(SHOWN)


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

        assert ["message"] == kitchen.of("platform")
        assert ["message"] == kitchen.of("data")
        assert ["message"] == kitchen.of("everybody")


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

        assert ["message", "reply"] == kitchen.of("team")


def test_refused_credentials_are_not_retried(monkeypatch):
    """They fail at the first attempt, and those hear of it who can renew them."""
    with cooking("auth_errors.toml", monkeypatch) as kitchen:
        started = kitchen.pipeline.started(task(policy=KEYS))
        decision = kitchen.pipeline.failed(
            started, Evidence.exception(RefusedError("who are you?"))
        )
        kitchen.until(60)

        assert (False, "CredentialsRefused") == (decision.retry, decision.code)
        assert ["message"] == kitchen.of("access")
        assert [] == kitchen.of("team")


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
        before = kitchen.of("data")
        kitchen.run(task(run="night-7"))
        kitchen.until(8 * 24 * HOUR)

        assert ["message", *["reply"] * 6] == before
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
