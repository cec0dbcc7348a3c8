"""Each reason has its page, and what the page says is so."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from failhook.classify import Classifier
from failhook.classify.engine import _of_the_task
from failhook.classify.index import Index
from failhook.classify.rule import Take
from failhook.classify.sources import SOURCES
from failhook.classify.user_rules import read_user_rules
from failhook.config import load_config
from failhook.evidence import Evidence
from failhook.task import Task
from failhook_sinks.alerts.entry import page_name, page_of
from tests.score.cases import load, question

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDER = DOCS / "reasons"
sys.path.insert(0, str(DOCS))
try:
    import generate
    import reason_pages
finally:
    sys.path.remove(str(DOCS))

TEXTS = {page.stem: page.read_text("utf-8") for page in FOLDER.glob("*.md")}
REASONS = reason_pages.reasons()
RULES = [rule for source in SOURCES for rule in source.rules]
VOCABULARY = ROOT / "tests" / "classify" / "vocabulary.jsonl"
OPEN = {"databricks.other", "kubernetes.pod.other-reason", "other.state"}
"""Rules that hand on whatever word they find."""
OWN = re.findall(
    r"\w+",
    """
    UserException CodeLoadError InvalidInput PermissionDenied RemoteTransient RemoteThrottled
    RemoteRejected ClientTimeout NonZeroExit UserExit NativeCrash OutOfMemory GpuOutOfMemory
    SerializationError SpecError NonRetryable UpstreamFailed KilledBySignal WorkerLost
    WorkerShutdown HeartbeatTimeout NodeLost NodeShutdown Preempted PodDeleted NeverStarted
    StartTimeout SubmitFailure HardwareFailure PeerLost ConnectionLost OrchestratorUnreachable
    ResultLost DiskFull ResourceExhausted EnvSetupFailure DuplicateExecution ExecutionTimeout
    RunTimeout SensorTimeout WalltimeExceeded Cancelled MarkedFailed Interrupted StateMismatch
    Terminated ExternalStateChange
    """,
)
TASK = Task(workflow="nightly", name="load", run_id="r1", attempt=1)


CLASSIFIER = Classifier()


def failures():
    """Real failures with their verdicts."""
    lines = VOCABULARY.read_text("utf-8").splitlines()
    for document in [*map(question, load()), *map(json.loads, lines)]:
        evidence = Evidence.from_dict(document)
        yield evidence, CLASSIFIER.classify(TASK, evidence)


FAILURES = list(failures())


def rules_of(page: str) -> list[dict]:
    """The rules that a page shows."""
    blocks = re.findall(r"```toml\n(\[\[rules\]\].*?)```", page, re.DOTALL)
    return [rule for block in blocks for rule in tomllib.loads(block)["rules"]]


def example_of(reason: str) -> dict:
    """The rule that the page on a reason shows for it."""
    (found,) = (each for each in rules_of(TEXTS[page_name(reason)]) if each["reason"] == reason)
    return found


def test_every_reason_that_a_rule_can_give_has_a_page():
    """No alert on a built-in verdict links to nothing."""
    fixed = {rule.reason for rule in RULES if isinstance(rule.reason, str)}
    listed = {
        value
        for rule in RULES
        if isinstance(rule.reason, Take) and rule.reason.path in rule.conditions
        for value in rule.conditions[rule.reason.path].keys() or ()
    }
    spare = {rule.reason.default for rule in RULES if isinstance(rule.reason, Take)} - {None}
    seen = {verdict.reason for _, verdict in FAILURES if verdict.rule not in OPEN}

    wanted = fixed | listed | spare | seen
    assert [] == sorted(reason for reason in wanted if page_name(reason) not in TEXTS)


def test_failhooks_own_reasons_are_explained_by_hand():
    """What no platform documents, these pages do."""
    assert [] == [reason for reason in OWN if not {"means", "check"} <= REASONS[reason].text.keys()]


def test_pages_are_as_the_rules_have_them():
    """Nobody reads of a rule that is gone."""
    wanted = reason_pages.pages(REASONS) | generate.verdict_pages()
    found = {path: path.read_text("utf-8") if path.exists() else None for path in wanted}

    assert [] == [path.name for path, text in wanted.items() if text != found[path]]
    assert {path.stem for path in reason_pages.pages(REASONS)} | {"README"} == TEXTS.keys()
    assert reason_pages.index(REASONS) in TEXTS["README"]


def test_no_page_has_python_in_it():
    """What runs in the tests of other pages need not be looked for here."""
    assert [] == [name for name, text in TEXTS.items() if re.search(r"```py", text)]


def test_names_of_pages_fit_every_file_system():
    """No two names are one where case does not count, and an alert's link names the file."""
    assert len(TEXTS) == len({name.lower() for name in TEXTS})
    assert [] == [name for name in TEXTS if not re.fullmatch(r"[a-z0-9_-]+|README", name)]
    assert [] == [
        each for each in REASONS if page_of("d", each) != f"d/reasons/{page_name(each)}.md"
    ]
    assert "../../etc/passwd" not in page_of("d", "../../etc/passwd")
    assert page_of("d", "KILLED") == page_of("d", "Killed")


def test_every_link_of_a_page_leads_to_its_place():
    """Pages, and the rules on them, are there."""
    known: dict[Path, set[str]] = {}
    broken = []
    for name, text in TEXTS.items():
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            target = (FOLDER / path).resolve() if path else FOLDER / f"{name}.md"
            if target not in known:
                there = target.read_text("utf-8") if target.is_file() else ""
                headings = re.findall(r"(?m)^#+ (.*)$", there)
                known[target] = {each.lower().replace(" ", "-") for each in headings}
                known[target] |= set(re.findall(r'<a id="([^"]+)">', there))
            if not target.exists() or (anchor and anchor not in known[target]):
                broken.append(f"{name}: {link}")

    assert [] == broken


@pytest.mark.parametrize("initial", sorted({name[0] for name in TEXTS} - {"R"}))
def test_the_rule_that_a_page_shows_is_valid_and_says_something_else(initial):
    """A reader can copy it; it has the page's reason, and a kind the built-in rule has not."""
    for name in (name for name in TEXTS if name[0] == initial):
        rules = rules_of(TEXTS[name])
        read = read_user_rules({**rule, "id": str(number)} for number, rule in enumerate(rules))

        assert {name} == {page_name(rule["reason"]) for rule in rules}
        for rule in read:
            overruled, kind, _ = reason_pages.example(REASONS[rule.reason])
            assert kind is rule.kind
            assert overruled is None or overruled.kind is not kind


def test_the_rules_that_pages_show_are_settings(tmp_path):
    """All of them together are a file that is read."""
    path = tmp_path / "failhook.toml"
    blocks = [
        re.sub(r'id = ".*"', f'id = "{number}"', block)
        for number, block in enumerate(
            block
            for text in TEXTS.values()
            for block in re.findall(r"```toml\n(\[\[rules\]\].*?)```", text, re.DOTALL)
        )
    ]
    path.write_text("\n".join(blocks))

    load_config(path, {})
    assert len(REASONS) == len(blocks)


def test_rules_that_pages_show_change_the_verdicts_on_real_failures(monkeypatch):
    """Where a real failure is one that the rule is for, its verdict becomes the rule's."""
    changed = set()
    for evidence, verdict in FAILURES:
        if verdict.reason in changed or verdict.rule in OPEN:
            continue
        rule = {**example_of(verdict.reason), "id": "ours"}
        derived = {**CLASSIFIER._derived, **_of_the_task(["task.workflow"])}
        monkeypatch.setattr(CLASSIFIER, "_derived", derived)
        monkeypatch.setattr(CLASSIFIER, "_user", Index(read_user_rules([rule]), derived))
        after = CLASSIFIER.classify(TASK, evidence)
        elsewhere = CLASSIFIER.classify(None, evidence)
        assert verdict.rule == elsewhere.rule
        if after.rule == "ours":
            assert (rule["kind"], verdict.reason) == (after.kind, after.reason)
            changed.add(verdict.reason)

    assert len(changed) > 110
