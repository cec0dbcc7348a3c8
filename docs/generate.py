"""Writes the generated parts of the pages anew, or checks that they are up to date.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- end of NAME -->``.

    python docs/generate.py            write
    python docs/generate.py --check    exit with 1 and name each page that is out of date
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import reason_pages

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
    """Return the list of the pages of built-in rules."""
    rows = [
        [f"[{name}](verdicts/{name}.md)", str(len(rules)), ", ".join(_kinds(rules))]
        for name, rules in _by_page().items()
    ]
    return table(["rules on", "rules", "verdicts"], rows)


def _kinds(rules: Iterable[Rule]) -> list[str]:
    return sorted({_said(rule.kind) for rule in rules})


def _by_page() -> dict[str, list[Rule]]:
    """Return the rules by the first word of their ids, in order of precedence."""
    pages: dict[str, list[Rule]] = {}
    for source in SOURCES:
        for rule in source.rules:
            pages.setdefault(rule.id.partition(".")[0], []).append(rule)
    return {name: sorted(pages[name], key=lambda rule: rule.tier) for name in sorted(pages)}


def verdict_pages() -> dict[Path, str]:
    """Return every page of built-in rules."""
    head = ["rule", "tier", "when", "verdict", "confidence", "because", "next step"]
    return {
        DOCS / "verdicts" / f"{name}.md": f"# Verdicts: {name}\n\n"
        "Written by `make docs` from the tables in `hooks/failhook/classify/`.\n"
        "The first rule whose conditions all hold decides; [all pages](../verdicts.md).\n\n"
        f"{table(head, map(_rule, rules))}"
        for name, rules in _by_page().items()
    }


@cache
def every_reason() -> Mapping[str, reason_pages.Reason]:
    """Return every reason with what is known of it."""
    return reason_pages.reasons()


def reasons() -> str:
    """Return the list of the pages on reasons."""
    return reason_pages.index(every_reason())


def scores() -> str:
    """Return how right the verdicts are on the real failures in tests/cases."""
    sys.path.insert(0, str(DOCS.parent))
    from tests.score.report import HEAD, rows

    return table(HEAD, rows())


def trace() -> str:
    """Return what the example of the OpenTelemetry sink prints."""
    example = DOCS.parent / "examples" / "trace_tree.py"
    run = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    return f"```text\n{run.stdout}```\n"


def _rule(rule: Rule) -> list[str]:
    source = re.sub("^docs/", "../", rule.source)  # as seen from the page
    anchor = f'<a id="{rule.id}"></a>[{rule.id}]({source})'
    help_or_not = {True: ", deterministic", False: ", a retry may help"}
    retry = help_or_not.get(rule.deterministic, "") if isinstance(rule.deterministic, bool) else ""
    reason = rule.reason
    told = reason_pages.link(reason, "../reasons/") if isinstance(reason, str) else _said(reason)
    verdict = f"{_said(rule.kind)} {told}{retry}"
    when = f"`{rule.describe().replace('`', chr(39))}`"
    tier = Tier(rule.tier).name.lower()
    sure = _said(rule.confidence)
    return [anchor, tier, when, verdict, sure, rule.because, rule.next_step]


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


PARTS: dict[str, Callable[[], str]] = {
    "gate": gate,
    "verdicts": verdicts,
    "reasons": reasons,
    "hooks": hooks,
    "scores": scores,
    "trace": trace,
}


def with_parts(page: Path) -> str:
    """Return a page with its generated parts as they should be.

    Raises:
        KeyError: it names a part that nothing generates.
    """
    return PART.sub(
        lambda found: f"{found[1]}{PARTS[found['name']]()}{found[3]}", page.read_text("utf-8")
    )


def wanted() -> dict[Path, str | None]:
    """Return every page as it should be; None for one that should not be there."""
    listed = reason_pages.REASONS / "README.md"
    written = (*sorted(DOCS.glob("*.md")), listed)
    whole = verdict_pages() | reason_pages.pages(every_reason())
    made = (*(DOCS / "verdicts").glob("*.md"), *reason_pages.REASONS.glob("*.md"))
    gone = {page: None for page in made if page not in whole and page != listed}
    return {page: with_parts(page) for page in written} | whole | gone


def main(arguments: Sequence[str]) -> int:
    """Write or check; return the exit status."""
    stale = 0
    for page, text in wanted().items():
        found = page.read_text("utf-8") if page.exists() else None
        if found == text:
            continue
        stale += 1
        if "--check" in arguments:
            print(f"{page.relative_to(DOCS.parent)} is out of date; run make docs", file=sys.stderr)
        elif text is None:
            page.unlink()
        else:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text, "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
