from __future__ import annotations

import tomllib

import pytest

from failhook.classify import Classifier, read_user_rules
from failhook.details import Confidence, Hint, Kind, Started
from failhook.errors import ConfigError
from failhook.evidence import Evidence
from failhook.task import Task

TASK = Task("nightly", "load", owner="ann", labels={"team": "core"})


def first(text: str, evidence: Evidence) -> str:
    """The rule that decides with this TOML in the configuration."""
    rules = read_user_rules(tomllib.loads(text)["rules"])
    return Classifier(rules).classify(TASK, evidence).rule


def table(match: str, **more) -> dict:
    """A rule of a configuration with one matcher."""
    return {"match": [match], "kind": "infra", "reason": "Ours"} | more


def test_a_rule_can_set_the_whole_verdict():
    """Every field of the verdict that a rule may set is set."""
    text = """
        [[rules]]
        id = "ours.lake-down"
        match = ['exception.message =~ ".*lake.*"']
        kind = "infra"
        reason = "LakeDown"
        deterministic = false
        confidence = "likely"
        message = "The lake is down: {exception.message}"
        started = "no"
        hint = "other_node"
    """
    rules = read_user_rules(tomllib.loads(text)["rules"])

    details = Classifier(rules).classify(TASK, Evidence.exception(ValueError("the lake is dry")))

    assert ("ours.lake-down", Kind.INFRA, "LakeDown", False) == (
        details.rule,
        details.kind,
        details.reason,
        details.deterministic,
    )
    assert (Confidence.LIKELY, Started.NO, Hint.OTHER_NODE) == (
        details.confidence,
        details.started,
        details.hint,
    )
    assert "The lake is down: the lake is dry" == details.message


@pytest.mark.parametrize(
    ("matcher", "hit"),
    [
        ("signal = 9", True),
        ("signal = 15", False),
        ("signal != 15", True),
        ("signal =~ '1|9'", False),
        ('signal =~ "1|9"', True),
        ('signal =~ "."', True),
        ('signal !~ "9"', False),
        ("exit_code =", True),
        ('exit_code = ""', True),
        ("exit_code != 0", True),
        ("task.workflow = nightly", True),
        ("task.owner = bob", False),
        ("label.team = core", True),
        ("label.region = ''", False),
        ('label.region = ""', True),
        ("system = process", True),
    ],
)
def test_matchers_are_alertmanagers(matcher: str, hit: bool):
    """Anchored, on text, with a missing fact as the empty one; on facts, task and labels."""
    rules = read_user_rules([table(matcher)])

    details = Classifier(rules).classify(TASK, Evidence.returncode(-9))

    assert ("user.0" if hit else "process.sigkill.not-watched") == details.rule


def test_a_set_of_texts_matches_by_any_member_and_differs_by_none():
    """An exception is each of its classes: = asks for one of them, != for none."""
    seen = Evidence.exception(KeyError("k"))

    for matcher, hit in [
        ("exception.is = LookupError", True),
        ("exception.is = OSError", False),
        ("exception.is != LookupError", False),
        ("exception.is != OSError", True),
        ('exception.is =~ "Lookup.*"', True),
        ('exception.is !~ "Lookup.*"', False),
    ]:
        rule = Classifier(read_user_rules([table(matcher)])).classify(TASK, seen).rule
        assert hit is (rule == "user.0"), matcher


def test_all_matchers_must_hold_also_two_on_one_path():
    """Several matchers are all asked, and the first rule whose all hold decides."""
    text = """
        [[rules]]
        match = ["signal != 9", "signal != 15"]
        kind = "infra"
        reason = "Odd"
        [[rules]]
        id = "second"
        match = ["signal = 9"]
        kind = "manual"
        reason = "Nine"
    """

    assert "second" == first(text, Evidence.returncode(-9))
    assert "user.0" == first(text, Evidence.returncode(-6))


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (["x"], "rules[0] is 'x'"),
        ([{"kind": "infra", "reason": "x"}], "rules[0].match"),
        ([{"match": [], "kind": "infra", "reason": "x"}], "rules[0].match"),
        ([{"match": "signal = 9", "kind": "infra", "reason": "x"}], "rules[0].match"),
        ([{"match": ["signal"], "kind": "infra", "reason": "x"}], "'signal' is not a matcher"),
        ([{"match": ["log =~ '('"], "kind": "infra", "reason": "x"}], "matcher"),
        ([{"match": ["signal = 9"], "reason": "x"}], "rules[0].kind"),
        ([{"match": ["signal = 9"], "kind": "bug", "reason": "x"}], "rules[0].kind is 'bug'"),
        ([{"match": ["signal = 9"], "kind": "infra"}], "rules[0].reason is missing"),
        ([table("signal = 9", deterministic="yes")], "rules[0].deterministic"),
        ([table("signal = 9", confidence="sure")], "rules[0].confidence is 'sure'"),
        ([table("signal = 9", severity="high")], "rules[0].severity is not a setting"),
        ([table("signal = 9", id="a"), table("signal = 9", id="a")], "'a' is given twice"),
    ],
)
def test_a_wrong_rule_is_refused_by_name(tables, says):
    """The one error names the rule, the key and what is allowed."""
    with pytest.raises(ConfigError) as caught:
        read_user_rules(tables)

    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("exception.types", "did you mean exception.type?"),
        ("exit_cod", "did you mean exit_code?"),
        ("task.flow", "did you mean task.workflow?"),
        ("workflow", "did you mean task.workflow?"),
        ("colour", "failhook explain lists those of a failure"),
    ],
)
def test_a_fact_that_no_failure_has_is_refused(name: str, guess: str):
    """A rule that could never match says so when it is read, and names what was meant."""
    with pytest.raises(ConfigError) as refusal:
        read_user_rules([table(f"{name} = x")])

    assert f"rules[0].match asks for {name}, which no failure has; {guess}" == str(refusal.value)


@pytest.mark.parametrize(
    "name", ["exception.type", "exception.is", "log", "label.any", "state.any", "lost.host"]
)
def test_a_fact_that_a_failure_may_have_is_taken(name: str):
    """What a document brings along cannot be listed, and is not refused."""
    assert 1 == len(read_user_rules([table(f"{name} = x")]))


def test_the_type_of_an_exception_can_be_matched():
    """As the traceback's qualified name, and by the short name of any of its bases."""
    for match in ("exception.type = builtins.ConnectionResetError", "exception.is = OSError"):
        rules = read_user_rules([table(match, id="ours")])
        evidence = Evidence.exception(ConnectionResetError("x"))
        assert "ours" == Classifier(rules).classify(TASK, evidence).rule
