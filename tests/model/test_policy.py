"""A policy is checked where it comes in: a wrong value is named, with what is allowed."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.details import Confidence
from failhook.errors import ConfigError
from failhook.policy import MAX_ATTEMPTS, MAX_DELAY, Backoff, Policy
from tests.model.strategies import backoffs, policies


@given(policies)
def test_a_policy_survives_its_json(policy):
    """A policy read back from its JSON shape equals what was written."""
    assert policy == Policy.from_dict(json.loads(json.dumps(policy.to_dict())))


def test_what_is_left_out_keeps_its_default():
    """An empty table is the default policy: no retries, no refunds, three system failures."""
    policy = Policy.from_dict({})

    assert Policy() == policy
    assert (0, 0, 3) == (policy.retries, policy.max_infra_refunds, policy.max_system_failures)
    assert ("BadTaskSpecification", "MetadataTooLarge") == policy.non_retryable_codes


def test_plain_words_are_taken_for_what_they_name():
    """A confidence may be given by its word, and codes as a list."""
    policy = Policy(refund_confidence="confirmed", non_retryable_codes=["Mine"])

    assert Confidence.CONFIRMED is policy.refund_confidence
    assert ("Mine",) == policy.non_retryable_codes


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"retrys": 1}, r"policy\.retrys is not a setting; known are backoff, infra_backoff"),
        ({"retries": -1}, r"policy\.retries is -1; it must be a whole number, 0 or more"),
        ({"retries": 1.5}, r"policy\.retries is 1\.5; it must be a whole number"),
        (
            {"retries": 99999999999999999999},
            r"policy\.retries is 9{20}; it must be a whole number, 1000000 or less",
        ),
        ({"max_infra_refunds": MAX_ATTEMPTS + 1}, r"policy\.max_infra_refunds is 1000001; .* less"),
        ({"max_system_failures": 2**63}, r"policy\.max_system_failures is \d+; .* or less"),
        ({"total_deadline": 1e300}, r"policy\.total_deadline is 1e\+300; it must be a number, 90"),
        ({"backoff": {"maximum": 86_401}}, r"maximum is 86401; it must be a number, 86400 or less"),
        ({"retries": True}, r"policy\.retries is True; it must be a whole number"),
        ({"max_infra_refunds": "3"}, r"policy\.max_infra_refunds is '3'; it must be a whole"),
        ({"max_system_failures": None}, r"policy\.max_system_failures is None"),
        (
            {"refund_confidence": "sure"},
            r"policy\.refund_confidence is 'sure'; it is one of guess, likely, confirmed",
        ),
        ({"refund_confidence": 1}, r"policy\.refund_confidence is 1; it is one of"),
        (
            {"when_refunds_end": "stop"},
            r"policy\.when_refunds_end is 'stop'; it is 'charge' or 'fail'",
        ),
        (
            {"non_retryable_codes": "Bad"},
            r"policy\.non_retryable_codes is 'Bad'; it must be a list of strings",
        ),
        ({"non_retryable_codes": ["a", 1]}, r"policy\.non_retryable_codes is \['a', 1\]"),
        ({"total_deadline": -1}, r"policy\.total_deadline is -1; it must be a number, 0 or more"),
        ({"total_deadline": float("nan")}, r"policy\.total_deadline is nan"),
        ({"total_deadline": float("inf")}, r"policy\.total_deadline is inf"),
        ({"total_deadline": "1h"}, r"policy\.total_deadline is '1h'"),
        ({"backoff": 10}, r"policy\.backoff is 10; it must be a table such as"),
        ({"backoff": {"start": 1}}, r"policy\.backoff\.start is not a setting; known are initial"),
        ({"backoff": {"initial": -1}}, r"initial is -1; it must be a number, 0 or more"),
        ({"backoff": {"factor": 0.5}}, r"factor is 0\.5; it must be a number, 1 or more"),
        ({"backoff": {"maximum": True}}, r"maximum is True; it must be a number"),
        ({"backoff": {"jitter": "no"}}, r"jitter is 'no'; it is true or false"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(document, message):
    """One clear error names the setting, its value, and what it may be."""
    with pytest.raises(ConfigError, match=message):
        Policy.from_dict(document)


def test_a_backoff_must_be_one():
    """A number where a backoff belongs is refused when the policy is made, not when it is used."""
    with pytest.raises(ConfigError, match=r"policy\.infra_backoff is 5; it must be a Backoff"):
        Policy(infra_backoff=5)


@given(backoffs, st.integers(-5, 10**9), st.floats())
def test_no_wait_is_longer_than_the_maximum(backoff, retry, random):
    """Whatever the retry and the random number, the wait is between 0 and the maximum, a day."""
    assert 0 <= backoff.delay(retry, random) <= backoff.maximum <= MAX_DELAY


@pytest.mark.parametrize(("random", "delay"), [(-1, 0), (5, 10), (math.nan, 10), (-math.inf, 0)])
def test_a_random_number_outside_its_range_counts_as_an_end_of_it(random, delay):
    """A random source that is broken makes no wait negative, longer, or no number at all."""
    assert delay == Backoff(initial=10).delay(1, random)


def test_the_largest_limits_are_allowed():
    """Each budget may pay for a million attempts, and a wait may take a day."""
    policy = Policy(retries=MAX_ATTEMPTS, backoff=Backoff(initial=1e9, maximum=MAX_DELAY))

    assert MAX_ATTEMPTS == policy.retries
    assert 86_400 == policy.backoff.delay(1, 1.0)


def test_waits_grow_and_jitter_spreads_them():
    """Without jitter the wait doubles up to the maximum; with it, it is a share of that."""
    steady = Backoff(initial=10, factor=2, maximum=60, jitter=False)

    assert [10, 20, 40, 60, 60] == [steady.delay(retry, 0.1) for retry in (1, 2, 3, 4, 5_000)]
    assert 5 == Backoff(initial=10).delay(1, 0.5)
    assert 0 == Backoff(initial=0, jitter=False).delay(10**6, 1.0)
