"""The demo's table: who died of what, who paid, what comes next; 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from failhook.cli.demo.scene import Shown
from failhook.plugin import Charge, FailureEvent

_HEAD = ("task", "what happened", "verdict", "who pays", "then")


def render(shown: Shown) -> str:
    """Return the table, and two hooks that heard the same failure."""
    failed = [event for event in shown.events if event.type == "failed"]
    order = list(shown.happens)
    failed.sort(key=lambda event: (order.index(event.task.name), event.task.attempt))
    rows = [_row(event, shown) for event in failed]
    lines = [_aligned([_HEAD, *rows])]
    lines.append(
        textwrap.dedent(
            f"""
            user 1/1: the task's one retry pays. infra 1/2: the first of two refunds does.
            nobody: nothing follows that would have to be paid. frozen is infra too, but has
            neither retry nor refund: both are off unless a policy grants them.

            Two hooks heard of the bug, and each took what it names:

              def on_task_failed(self, task, error)
                  {shown.old}
              def on_task_failed(self, task, error, failure_details)
                  {shown.new}
            """
        )
    )
    return "\n".join(lines)


def _row(event: FailureEvent, shown: Shown) -> tuple[str, ...]:
    details, decision, task = event.failure_details, event.decision, event.task
    if decision is None:
        raise AssertionError("a failed attempt without a decision")
    first = task.attempt == 1
    name = task.name if first else ""
    happens = shown.happens[task.name] if first else "the same again"
    verdict = f"{details.kind} {details.reason}"
    if decision.retry:
        used, limit = {
            Charge.USER: (decision.after.user, decision.after.user_limit),
            Charge.INFRA: (decision.after.infra, decision.after.infra_limit),
        }.get(decision.charge, (decision.after.system, decision.after.system_limit))
        ends = " succeeds" if (task.key, task.attempt + 1) in _ended_well(shown) else ""
        return name, happens, verdict, f"{decision.charge} {used}/{limit}", f"retry{ends}"
    return name, happens, verdict, "nobody", f"{decision.action}s for good"


def _ended_well(shown: Shown) -> set[tuple[str, int]]:
    return {
        (event.task.key, event.task.attempt) for event in shown.events if event.type == "recovered"
    }


def _aligned(rows: Iterable[Sequence[str]]) -> str:
    rows = list(rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
