"""Which policy a task has."""

from __future__ import annotations

import pytest

from failhook.errors import ConfigError
from failhook.gate.overrides import Override, Policies
from failhook.matchers import Matcher, parse_matcher
from failhook.policy import Policy
from failhook.task import Task


def policies(*overrides: dict[str, object]) -> Policies:
    """Return policies with a default that is told apart and these overrides."""
    return Policies(Policy(retries=1), tuple(Override.from_dict(each) for each in overrides))


def test_a_task_of_its_own_policy_takes_it_whole() -> None:
    """Per-task arguments win over everything."""
    own = Policy(retries=9)

    assert own is policies({"match": ["task = load"], "retries": 5}).of(
        Task("w", "load", policy=own)
    )


def test_overrides_match_workflow_task_and_labels_and_the_later_wins() -> None:
    """Settings that no override names keep the server's default."""
    given = policies(
        {"match": ["workflow =~ night.*"], "retries": 2, "max_infra_refunds": 4},
        {"match": ["task = load", 'team = "data"'], "retries": 7},
    )

    assert Policy(retries=7, max_infra_refunds=4) == given.of(
        Task("nightly", "load", labels={"team": "data"})
    )
    assert Policy(retries=2, max_infra_refunds=4) == given.of(Task("nightly", "load"))
    assert Policy(retries=1) == given.of(Task("daily", "load"))


def test_a_label_cannot_pose_as_the_workflow() -> None:
    """Who a task is comes from the task, never from a label of that name."""
    given = policies({"match": ["workflow = prod"], "retries": 7})

    assert Policy(retries=1) == given.of(Task("dev", "load", labels={"workflow": "prod"}))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"retries": 3}, "an override needs match"),
        ({"match": "task = x", "retries": 3}, "an override needs match"),
        ({"match": ["task"], "retries": 3}, "'task' is not a matcher"),
        ({"match": ["task =~ ["], "retries": 3}, "unterminated"),
        ({"match": ["task = x"], "retires": 3}, "policy.retires is not a setting"),
    ],
)
def test_a_wrong_override_is_refused_with_the_reason(
    document: dict[str, object], message: str
) -> None:
    """The message names what is wrong."""
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        Override.from_dict(document)


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("a = b", {"a": "b"}, True),
        ("a=b", {"a": "bb"}, False),
        ('a = "b c"', {"a": "b c"}, True),
        (r'a = "q\"q"', {"a": 'q"q'}, True),
        ("a != b", {}, True),
        ("a =", {}, True),
        ("a =~ b|c", {"a": "c"}, True),
        ("a =~ b", {"a": "abc"}, False),
        ("a !~ b.*", {"a": "bc"}, False),
        ("a !~ b.*", {}, True),
        ("a =~ .*", {}, True),
    ],
)
def test_matchers_are_alertmanagers(text: str, labels: dict[str, str], expected: bool) -> None:
    """Anchored, and a missing label is empty."""
    assert expected is parse_matcher(text).matches(labels)


def test_a_matcher_reads_back_what_it_prints() -> None:
    """The printed form is the canonical one."""
    matcher = Matcher("a", "=", 'b "c" \\ d')

    assert matcher == parse_matcher(str(matcher))
