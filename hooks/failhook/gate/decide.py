"""One pure function: from a verdict, a policy and what was spent, to the decision."""

from __future__ import annotations

import math
from typing import Final

from failhook.decision import (
    DEADLINE_EXCEEDED,
    MAX_SYSTEM_FAILURES_EXCEEDED,
    REFUNDS_EXHAUSTED,
    RETRIES_EXHAUSTED,
    Action,
    Because,
    Charge,
    Counters,
    Decision,
)
from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.policy import Backoff, Policy

CORRUPTED_PLUGIN_STATE: Final = "CorruptedPluginState"


def decide(
    details: FailureDetails,
    policy: Policy,
    spent: Counters,
    *,
    attempt: int = 1,
    idempotent: bool = True,
    elapsed: float = 0.0,
    random: float = 1.0,
) -> Decision:
    """Decide retry, fail or hold, and which budget pays (design, section 6).

    Whatever the history, a task runs at most 1 + the three limits times.

    Args:
        details: the verdict on the attempt.
        policy: what the task may cost.
        spent: what each budget has paid before; its limits are taken from the policy.
        attempt: the attempt that is judged, from 1.
        idempotent: may the task run twice?
        elapsed: seconds since the first attempt began, for the total deadline.
        random: a number in 0..1 for the jitter.
    """
    before = Counters(
        spent.user,
        spent.infra,
        spent.system,
        policy.retries,
        policy.max_infra_refunds,
        policy.max_system_failures,
    )
    gate = _Gate(details, policy, before, attempt=attempt, elapsed=elapsed, random=random)
    if details.kind is Kind.MANUAL:
        actor = f" by {details.actor}" if details.actor else ""
        return gate.stop(
            Action.FAIL, "gate.manual", f"it was ended on purpose{actor}", details.reason
        )
    if (why := _permanent(details, policy)) is not None:
        code = details.code or details.reason
        return gate.stop(Action.FAIL, "gate.deterministic", why, code)
    if not (idempotent or details.ended_by_itself or details.started is Started.NO):
        why = "it is not idempotent and may have done its work; somebody must say what to do"
        return gate.stop(Action.HOLD, "gate.hold", why, None)
    if details.kind is Kind.INFRA:
        if details.started is Started.NO or details.executor_side:
            return gate.system()
        enough = details.confidence.rank >= policy.refund_confidence.rank
        if enough and policy.max_infra_refunds:
            return gate.infra()
    return gate.user()


def _permanent(details: FailureDetails, policy: Policy) -> str | None:
    """Say why no retry can help, or None when one may.

    On the typed codes of plugins the operator's list has the last word; corrupted plugin state is
    permanent whatever the list says.
    """
    code = details.code
    if code is not None and code in policy.non_retryable_codes:
        return f"{code} is not retried: no retry can cure it"
    if code == CORRUPTED_PLUGIN_STATE:
        return "the plugin's state is corrupted: it is cleaned up and not retried"
    if code is not None and details.executor_side:
        return None
    if details.deterministic and details.confidence is Confidence.CONFIRMED:
        return f"{details.reason} is deterministic: the next attempt would fail alike"
    return None


class _Gate:
    """The three budgets, and how a decision is put into words."""

    __slots__ = ("_attempt", "_before", "_details", "_elapsed", "_policy", "_random")

    def __init__(
        self,
        details: FailureDetails,
        policy: Policy,
        before: Counters,
        *,
        attempt: int,
        elapsed: float,
        random: float,
    ) -> None:
        self._details = details
        self._policy = policy
        self._before = before
        self._attempt = attempt
        self._elapsed = elapsed
        self._random = random

    def system(self) -> Decision:
        policy, before = self._policy, self._before
        if before.system < policy.max_system_failures:
            why = "it failed before its own code ran, or in the executor itself"
            return self._retry(Charge.SYSTEM, "gate.system", why, policy.system_backoff)
        details = self._details
        original = details.code or details.reason
        why = (
            f"the platform failed {before.system + 1} times "
            f"(limit {policy.max_system_failures}), the last time with {original}"
        )
        if details.message:
            why = f"{why}: {details.message}"
        return self.stop(Action.FAIL, "gate.system", why, MAX_SYSTEM_FAILURES_EXCEEDED)

    def infra(self) -> Decision:
        policy, before = self._policy, self._before
        if before.infra < policy.max_infra_refunds:
            why = (
                f"infrastructure ended it ({self._details.confidence}), so the attempt is refunded"
            )
            return self._retry(Charge.INFRA, "gate.refund", why, policy.infra_backoff)
        if policy.when_refunds_end == "fail":
            why = f"infrastructure ended it, and all {before.infra} refunds are used"
            return self.stop(Action.FAIL, "gate.refund", why, REFUNDS_EXHAUSTED)
        return self.user()

    def user(self) -> Decision:
        policy, before = self._policy, self._before
        if before.user < policy.retries:
            why = self._why_user()
            return self._retry(Charge.USER, "gate.user", why, policy.backoff)
        why = f"{self._why_user()}, and all {policy.retries} retries are used"
        return self.stop(Action.FAIL, "gate.user", why, RETRIES_EXHAUSTED)

    def stop(self, action: Action, rule: str, why: str, code: str | None) -> Decision:
        before = self._before
        return Decision(
            action=action,
            message=f"{action.value}: {why} ({before})",
            charge=Charge.NONE,
            because=Because(rule, why),
            before=before,
            after=before,
            attempt=self._attempt,
            max_tries=before.user_limit + before.infra + before.system,
            code=code,
            cleanup=self._details.cleanup,
        )

    def _why_user(self) -> str:
        details, policy = self._details, self._policy
        if details.kind is not Kind.INFRA:
            return f"{details.kind.value} failures are the user's to retry"
        if not policy.max_infra_refunds:
            return "refunds of infra failures are off"
        if details.confidence.rank < policy.refund_confidence.rank:
            return f"a verdict that is only a {details.confidence.value} is not refunded"
        return f"all {policy.max_infra_refunds} infra refunds are used"

    def _retry(self, charge: Charge, rule: str, why: str, backoff: Backoff) -> Decision:
        before = self._before
        after = charged(before, charge)
        paid = {Charge.USER: after.user, Charge.INFRA: after.infra}.get(charge, after.system)
        delay = backoff.delay(paid, self._random) if backoff.initial else 0.0
        asked = self._details.retry_after
        if asked is not None and asked > delay and math.isfinite(asked):
            delay = float(asked)
        deadline = self._policy.total_deadline
        if deadline is not None and self._elapsed + delay > deadline:
            late = f"the next attempt would begin after the total deadline of {deadline:g} s"
            return self.stop(Action.FAIL, "gate.total-deadline", late, DEADLINE_EXCEEDED)
        wait = f" in {delay:.3g} s" if delay else ""
        return Decision(
            action=Action.RETRY,
            message=f"retry{wait} as attempt {self._attempt + 1}: {why} ({after})",
            charge=charge,
            because=Because(rule, why),
            before=before,
            after=after,
            attempt=self._attempt,
            max_tries=after.user_limit + after.infra + after.system,
            delay=delay,
            cleanup=self._details.cleanup,
        )


def charged(counters: Counters, charge: Charge, by: int = 1) -> Counters:
    """Return the counters with one budget having paid `by` more."""
    return Counters(
        counters.user + (by if charge is Charge.USER else 0),
        counters.infra + (by if charge is Charge.INFRA else 0),
        counters.system + (by if charge is Charge.SYSTEM else 0),
        counters.user_limit,
        counters.infra_limit,
        counters.system_limit,
    )
