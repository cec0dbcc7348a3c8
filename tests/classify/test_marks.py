from __future__ import annotations

import pytest
import tenacity

from failhook.classify import Classifier
from failhook.details import Confidence, Kind
from failhook.errors import TaskError
from failhook.evidence import Evidence

CLASSIFIER = Classifier()


def raised(raising) -> Evidence:
    """The evidence of what a callable raises."""
    try:
        raising()
    except BaseException as error:  # noqa: BLE001 - a test of anything that can be raised
        return Evidence.exception(error)
    raise AssertionError("nothing was raised")


def verdict(evidence: Evidence):
    """The verdict on live evidence; the recorded one must be the same."""
    live = CLASSIFIER.classify(None, evidence)
    recorded = CLASSIFIER.classify(None, Evidence.from_dict(evidence.to_dict()))
    assert live == recorded
    return live


def mark(**said) -> TaskError:
    """A mark that says something nobody would guess."""
    return TaskError("upstream schema is broken", **said)


def twenty_deep(start: BaseException, *, explicit: bool) -> None:
    """Raise an error that has another one below it, twenty times over."""

    def wrap(depth: int) -> None:
        if depth == 0:
            raise start
        try:
            wrap(depth - 1)
        except Exception as error:
            if explicit:
                raise RuntimeError(f"layer {depth}") from error
            raise KeyError(depth)  # noqa: B904 - the implicit context is what is tested

    wrap(20)


@pytest.mark.parametrize("explicit", [True, False])
def test_a_mark_survives_twenty_wrappers(explicit):
    """Found through `from` and through what was being handled, at any depth."""
    details = verdict(
        raised(
            lambda: twenty_deep(mark(kind="infra", code="E7", retry_after=30), explicit=explicit)
        )
    )

    assert (Kind.INFRA, "E7", 30.0) == (details.kind, details.code, details.retry_after)
    assert Confidence.CONFIRMED is details.confidence


def test_a_mark_survives_a_group_of_groups():
    """Found among the members of an exception group, whatever stands beside it."""

    def raising():
        raise ExceptionGroup(
            "outer", [ValueError("x"), ExceptionGroup("inner", [OSError(), mark(kind="timeout")])]
        )

    assert Kind.TIMEOUT is verdict(raised(raising)).kind


def test_a_mark_survives_tenacity():
    """Found below the RetryError of a real tenacity."""

    @tenacity.retry(stop=tenacity.stop_after_attempt(2))
    def raising():
        raise mark(kind="manual", code="Stop")

    details = verdict(raised(raising))

    assert (Kind.MANUAL, "Stop") == (details.kind, details.code)


def test_a_cycle_ends():
    """An exception whose causes go round in circles has a verdict, and its mark is found."""
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert "UserException" == verdict(Evidence.exception(first)).reason

    third = mark(kind="infra")
    second.__context__ = third
    third.__cause__ = first
    assert Kind.INFRA is verdict(Evidence.exception(first)).kind


@pytest.mark.parametrize(
    ("code", "kind", "cleanup"),
    [
        ("BadTaskSpecification", Kind.APPLICATION, False),
        ("MetadataTooLarge", Kind.APPLICATION, False),
        ("CorruptedPluginState", Kind.INFRA, True),
    ],
)
def test_known_codes_have_a_kind_of_their_own(code, kind, cleanup):
    """A mark that gives only such a code is judged by it, and keeps code and message."""
    details = verdict(raised(lambda: twenty_deep(mark(code=code), explicit=True)))

    assert (kind, True, cleanup) == (details.kind, details.deterministic, details.cleanup)
    assert (code, code, "upstream schema is broken") == (
        details.reason,
        details.code,
        details.message,
    )


def test_a_kind_that_the_mark_names_wins_over_its_code():
    """The author's own word on the kind stands, whatever the code."""
    details = verdict(Evidence.exception(mark(code="BadTaskSpecification", kind="infra")))

    assert (Kind.INFRA, "BadTaskSpecification") == (details.kind, details.reason)


def test_a_mark_that_only_says_deterministic_ends_the_retries():
    """True without a kind is the author's own: application, confirmed."""
    details = verdict(Evidence.exception(mark(deterministic=True)))

    assert (Kind.APPLICATION, "NonRetryable", True) == (
        details.kind,
        details.reason,
        details.deterministic,
    )
    assert Confidence.CONFIRMED is details.confidence


def test_a_mark_without_a_kind_leaves_it_to_the_rules_and_adds_what_it_knows():
    """The cause decides the kind; the mark's code, delay and permanence go into the verdict."""

    def raising():
        try:
            raise ConnectionResetError(104, "Connection reset by peer")
        except OSError as error:
            raise mark(code="Lake", retry_after=60, deterministic=False) from error

    details = verdict(raised(raising))

    assert (Kind.APPLICATION, "RemoteTransient") == (details.kind, details.reason)
    assert ("Lake", 60.0, False) == (details.code, details.retry_after, details.deterministic)


def test_a_mark_wins_over_what_the_platform_says_and_loses_to_nothing_but_the_host():
    """An explicit mark beats a cancel, a deadline and an exit code."""
    seen = (
        Evidence.exception(mark(kind="infra"))
        .also(Evidence.cancel("bob"))
        .also(Evidence.deadline(5))
        .also(Evidence.returncode(1))
    )

    assert "mark.infra" == verdict(seen).rule


def test_a_text_never_makes_a_mark():
    """Text that looks like a mark is text."""
    evidence = Evidence.exception("failhook.errors.TaskError: x kind='infra' code='E7'")

    details = CLASSIFIER.classify(None, evidence)

    assert (Kind.APPLICATION, None) == (details.kind, details.code)


@pytest.mark.parametrize("kind", ["nonsense", "", "unknown"])
def test_a_mark_of_no_known_kind_leaves_it_to_the_rules(kind):
    """A kind outside the closed set is not believed."""
    evidence = Evidence.exception(
        {"type": "x.Y", "message": "no", "mark": {"message": "no", "kind": kind, "code": "C"}}
    )

    details = CLASSIFIER.classify(None, evidence)

    assert (Kind.APPLICATION, "UserException", "C") == (details.kind, details.reason, details.code)
