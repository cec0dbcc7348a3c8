"""A verdict in words."""

from __future__ import annotations

from collections.abc import Sequence

from failhook.classify import Explanation
from failhook.details import FailureDetails, JsonScalar, Started

_STARTED = {
    Started.YES: "had started",
    Started.NO: "had not started",
    Started.MAYBE: "may have started",
}
_RETRY = {
    True: "a retry cannot help",
    False: "a retry may help",
    None: "a retry may or may not help",
}


def verdict_lines(details: FailureDetails) -> list[str]:
    """Return the verdict in a few short lines."""
    lines = [f"{details.kind} {details.reason} ({details.confidence})"]
    if details.message:
        lines += [f"  {line}" for line in details.message.splitlines()]
    lines.append(f"  {_RETRY[details.deterministic]}; its code {_STARTED[details.started]}")
    lines.append(f"  rule {details.rule}")
    return lines


def explanation_lines(explanation: Explanation) -> list[str]:
    """Return the verdict with rule, facts, what else was considered, and the next step."""
    details = explanation.details
    lines = verdict_lines(details)[:-1]
    lines += ["", f"Rule {details.rule} (evidence: {explanation.tier})"]
    lines += [f"  {explanation.because}"]
    if explanation.matched:
        lines.append(f"  It matches: {explanation.matched}")
    if explanation.facts:
        width = max(len(fact.path) for fact in explanation.facts)
        lines += ["", "Facts"]
        lines += [f"  {fact.path:<{width}}  {_shown(fact.value)}" for fact in explanation.facts]
    if explanation.considered:
        lines += ["", "Also matched, with evidence that weighs less"]
        lines += [
            f"  {other.kind} {other.reason}: rule {other.rule} ({other.tier}); {other.because}"
            for other in explanation.considered
        ]
    if explanation.next_step:
        lines += ["", "Next", f"  {explanation.next_step}"]
    pages = [page for page in (explanation.source, explanation.docs) if page.startswith("docs/")]
    lines += ["", "More"]
    if explanation.source and explanation.source not in pages:
        lines.append(f"  {explanation.source}")
    return [*lines, f"  {' and '.join(pages)} in failhook's repository"]


def unused_line(unused: Sequence[str]) -> list[str]:
    """Return a line for what nothing read, if there is any."""
    return [f"  not used: {', '.join(unused)}"] if unused else []


def _shown(value: JsonScalar) -> str:
    """Write a fact in one line: JSON's words for what is not text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(str(value).split())
