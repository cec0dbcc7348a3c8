"""Writes the generated parts of the pages anew, or checks that they are up to date.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- end of NAME -->``.

    python docs/generate.py            write
    python docs/generate.py --check    exit with 1 and name each page that is out of date
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from failhook.classify.rule import Rule, Take, Tier
from failhook.classify.sources import SOURCES
from failhook.decision import Counters
from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.gate.decide import decide
from failhook.policy import Policy
from failhook.spec import FailureListener

DOCS = Path(__file__).parent
PART = re.compile(
    r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end of (?P=name) -->)", re.DOTALL
)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def gate() -> str:
    """Return what the gate decides on each kind of verdict, by asking it."""
    refunds = Policy(retries=1, max_infra_refunds=1)
    used = Counters(user=1, infra=1, system=3)
    rows: list[list[str]] = []
    for verdict, idempotent, details in _verdicts():
        row = [verdict]
        for policy, spent in (
            (Policy(retries=1), Counters()),
            (refunds, Counters()),
            (refunds, used),
        ):
            decision = decide(details, policy, spent, idempotent=idempotent)
            pays = f", {decision.charge.value} pays" if decision.retry else ""
            code = f" `{decision.code}`" if decision.code else ""
            row.append(f"{decision.action.value}{pays}{code}")
        row.append(f"`{decide(details, refunds, Counters(), idempotent=idempotent).because.rule}`")
        rows.append(row)
    head = ["verdict", "refunds off", "refunds on", "all budgets used", "step"]
    return table(head, rows)


def _verdicts() -> Iterable[tuple[str, bool, FailureDetails]]:
    def of(kind: Kind, reason: str, **more: object) -> FailureDetails:
        return FailureDetails(kind=kind, reason=reason, **{"started": Started.YES, **more})  # type: ignore[arg-type]  # fields of the class

    infra, application = Kind.INFRA, Kind.APPLICATION
    bug = of(application, "UserException", ended_by_itself=True)
    yield "manual: cancelled, marked failed", True, of(Kind.MANUAL, "Cancelled")
    code = "BadTaskSpecification"
    yield "a code that is not retried", True, of(application, code, code=code)
    code = "CorruptedPluginState"
    yield "corrupted plugin state", True, of(infra, code, code=code, executor_side=True)
    sure = Confidence.CONFIRMED
    yield (
        "deterministic, confirmed",
        True,
        of(application, "CodeLoadError", deterministic=True, confidence=sure),
    )
    yield "stopped in the middle, not idempotent", False, of(infra, "WorkerLost")
    yield "ended by itself, not idempotent", False, bug
    yield "infra before the start", True, of(infra, "NeverStarted", started=Started.NO)
    yield "an error of the executor", True, of(infra, "SubmitFailure", executor_side=True)
    yield "infra after the start, likely or confirmed", True, of(infra, "Evicted")
    guess = Confidence.GUESS
    yield "infra after the start, a guess", True, of(infra, "KilledBySignal", confidence=guess)
    yield "application", True, bug
    yield "timeout", True, of(Kind.TIMEOUT, "ExecutionTimeout")
    yield "unknown", True, of(Kind.UNKNOWN, "Terminated")


def verdicts() -> str:
    """Return every built-in rule, by source and in order of precedence."""
    parts: list[str] = []
    for source in SOURCES:
        rows = [_rule(rule) for rule in sorted(source.rules, key=lambda rule: rule.tier)]
        head = ["rule", "tier", "when", "verdict", "confidence", "because"]
        parts.append(f"\n### {source.name}\n\n{table(head, rows)}")
    return "".join(parts)


def _rule(rule: Rule) -> list[str]:
    anchor = f'<a id="{rule.id.replace(".", "")}"></a>[{rule.id}]({rule.source})'
    retry = {True: ", deterministic", False: ", a retry may help"}.get(
        rule.deterministic if isinstance(rule.deterministic, bool) else None  # type: ignore[arg-type]  # None finds nothing
    )
    verdict = f"{_said(rule.kind)} {_said(rule.reason)}{retry or ''}"
    when = f"`{rule.describe().replace('`', chr(39))}`"
    return [
        anchor,
        Tier(rule.tier).name.lower(),
        when,
        verdict,
        _said(rule.confidence),
        rule.because,
    ]


def _said(value: object) -> str:
    return f"(from `{value.path}`)" if isinstance(value, Take) else f"{value}"


def hooks() -> str:
    """Return every hook with its arguments and its contract."""
    parts: list[str] = []
    for name, hook in vars(FailureListener).items():
        if not name.startswith("_"):
            arguments = [each for each in inspect.signature(hook).parameters if each != "self"]
            text = inspect.getdoc(hook) or ""
            summary, _, rest = text.partition("\nArgs:\n")
            listed = "".join(
                f"- `{argument.strip()}`: {meaning.strip()}\n"
                for argument, _, meaning in (
                    line.partition(":") for line in _joined(rest) if ":" in line
                )
            )
            parts.append(f"\n### {name}({', '.join(arguments)})\n\n{summary.strip()}\n")
            parts.append(f"\n{listed}" if listed else "")
    return "".join(parts)


def _joined(text: str) -> list[str]:
    """Join the continued lines of a docstring's argument list."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("     ") and lines:
            lines[-1] += " " + line.strip()
        elif line.strip():
            lines.append(line)
    return lines


PARTS: dict[str, Callable[[], str]] = {"gate": gate, "verdicts": verdicts, "hooks": hooks}


def generated(page: Path) -> str:
    """Return a page with its generated parts as they should be.

    Raises:
        KeyError: it names a part that nothing generates.
    """
    return PART.sub(
        lambda found: f"{found[1]}{PARTS[found['name']]()}{found[3]}", page.read_text("utf-8")
    )


def main(arguments: Sequence[str]) -> int:
    """Write or check; return the exit status."""
    stale = [
        page for page in sorted(DOCS.rglob("*.md")) if generated(page) != page.read_text("utf-8")
    ]
    for page in stale:
        if "--check" in arguments:
            print(f"{page.relative_to(DOCS.parent)} is out of date; run make docs", file=sys.stderr)
        else:
            page.write_text(generated(page), "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
