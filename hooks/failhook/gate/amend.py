"""Better evidence that arrives later: whether it counts, and where the charge moves."""

from __future__ import annotations

from failhook.decision import Charge, Counters, Decision
from failhook.details import Confidence, FailureDetails, Kind
from failhook.gate.decide import charged, decide
from failhook.policy import Policy


def improves(previous: FailureDetails, later: FailureDetails) -> bool:
    """Return whether a later verdict is better than the one that was reported.

    A confirmed verdict stands, and a guess improves nothing, since there is one amendment only. An
    unknown verdict gives way to any other kind; a guess or a likely one to a verdict of higher
    confidence that says something else.
    """
    if later.kind is Kind.UNKNOWN or later.confidence is Confidence.GUESS:
        return False
    if previous.kind is Kind.UNKNOWN:
        return True
    if previous.confidence is Confidence.CONFIRMED:
        return False
    says_more = (later.kind, later.reason) != (previous.kind, previous.reason)
    return says_more and later.confidence.rank > previous.confidence.rank


def moved(
    spent: Counters,
    decision: Decision,
    later: FailureDetails,
    policy: Policy,
    *,
    idempotent: bool,
) -> tuple[Counters, Charge]:
    """Return the counters after a charge moved to the budget that the better verdict names.

    Nothing moves when the decision charged nothing, when the better verdict would not have been
    retried, or when the other budget's cap is reached. The sum of charges stays.

    Args:
        spent: what the budgets have paid by now, this attempt included.
        decision: what was decided on the attempt; it is not changed.
        later: the better verdict.
        policy: what the task may cost.
        idempotent: may the task run twice?
    """
    if decision.charge is Charge.NONE:
        return spent, Charge.NONE
    without = charged(spent, decision.charge, -1)
    again = decide(later, policy, without, attempt=decision.attempt, idempotent=idempotent)
    if not again.retry or again.charge is decision.charge:
        return spent, decision.charge
    return charged(without, again.charge), again.charge
