"""The classifier: which rule decides, and the details that follow from it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from failhook.classify.explanation import Considered, Explanation
from failhook.classify.facts import Derived, Facts, Value
from failhook.classify.groups import all_agree
from failhook.classify.index import Entry, Index
from failhook.classify.rule import Rule, Tier
from failhook.classify.source import Source
from failhook.classify.sources import SOURCES
from failhook.classify.verdict import short
from failhook.details import Fact, FailureDetails, Kind
from failhook.evidence import Evidence
from failhook.task import Task

ThirdParty = Callable[[Task | None, Evidence], FailureDetails | None]

DOCS: Final = "docs/verdicts"
TASK_FIELDS: Final = ("namespace", "workflow", "name", "owner", "executor", "attempt")
"""What users' rules can ask of the task, as ``task.name``."""
_UNKNOWN: Final = "unknown"
_log: Final = logging.getLogger(__name__)


class Classifier:
    """Evidence in, verdict out; it never raises, whatever it is given.

    Asked in this order, and the first answer stands: the user's rules, the third party, the
    built-in rules by tier. A rule or a reader that raises is a bug that costs only itself: it is
    logged once, and the verdict goes on without it.

    Args:
        user_rules: rules from the configuration, in their order.
        third_party: what `classify_failure` hooks answer; None leaves it to the built-in rules.
        sources: where evidence comes from; all built-in ones unless given.
    """

    def __init__(
        self,
        user_rules: Iterable[Rule] = (),
        third_party: ThirdParty | None = None,
        sources: tuple[Source, ...] = SOURCES,
    ) -> None:
        self._sources = sources
        self._third_party = third_party
        self._derived: dict[str, Derived] = {
            path: derived for source in sources for path, derived in source.derived.items()
        }
        user_rules = tuple(user_rules)
        self._derived |= _of_the_task(path for rule in user_rules for path in rule.when)
        self._user = Index(user_rules, self._derived)
        self._built_in = Index((rule for source in sources for rule in source.rules), self._derived)
        self._by_system: dict[str, tuple[Source, ...]] = {}
        self._by_field: dict[str, tuple[Source, ...]] = {}
        for source in sources:
            for name in source.fields:
                self._by_field[name] = (*self._by_field.get(name, ()), source)
        self._reported: set[str] = set()

    def classify(self, task: Task | None, evidence: Evidence) -> FailureDetails:
        """Return the verdict on one failed attempt."""
        try:
            return self._classify(task, evidence)
        except Exception as error:  # noqa: BLE001 - it never raises, whatever it is given
            self._report("classifier", error)
            return FailureDetails(kind=Kind.UNKNOWN, reason="Unknown", rule=_UNKNOWN)

    def explain(self, task: Task | None, evidence: Evidence) -> Explanation:
        """Return the verdict with the rule, all facts, and what else was considered."""
        details = self.classify(task, evidence)
        try:
            return self._explain(task, evidence, details)
        except Exception as error:  # noqa: BLE001 - as above
            self._report("explain", error)
            return _explanation(details, None, (), ())

    def _classify(self, task: Task | None, evidence: Evidence) -> FailureDetails:
        facts = self._read(task, evidence)
        found = self._user.first(facts, self._report)
        if found is None:
            if self._third_party is not None:
                stated = self._ask(task, evidence)
                if stated is not None:
                    return stated
            found, facts = self._decide(facts)
        if found is None:
            return FailureDetails(kind=Kind.UNKNOWN, reason="Unknown", rule=_UNKNOWN)
        return found.verdict(facts, evidence, task)

    def _decide(self, facts: Facts) -> tuple[Entry | None, Facts]:
        """Return the built-in rule that decides, and the view of the facts that it decided on."""
        found = self._built_in.first(facts, self._report)
        if found is None:
            return None, facts
        if found.rule.fallback and facts.views is not None:
            for entry, view in self._deeper(facts):
                if entry.rule.kind is not Kind.INFRA or all_agree(
                    facts.sources["outermost"],
                    view.sources["error"],
                    lambda: self._blameless(facts),
                ):
                    return entry, view
        if facts.last_resort is not None and found.gives_way_to_logs:
            shown = facts.last_resort()
            read = None if shown is None else self._built_in.first(shown, self._report)
            if shown is not None and read is not None and read.decides_from_logs:
                return read, shown
        return found, facts

    def _deeper(self, facts: Facts) -> Iterator[tuple[Entry, Facts]]:
        """Yield what decides on the errors below the outermost, the nearest first."""
        for view in facts.views() if facts.views is not None else ():
            entry = self._built_in.first(view, self._report)
            if entry is not None and entry.decides_for_a_cause:
                yield entry, view

    def _blameless(self, facts: Facts) -> frozenset[int]:
        """Return the ids of the errors for which infrastructure is to blame."""
        return frozenset(
            id(view.sources["error"])
            for entry, view in self._deeper(facts)
            if entry.rule.kind is Kind.INFRA
        )

    def _read(self, task: Task | None, evidence: Evidence) -> Facts:
        facts = Facts(self._derived)
        facts.sources["task"] = task
        system = evidence.system
        sources = self._by_system.get(system)
        if sources is None:
            sources = tuple(source for source in self._sources if source.reads(system))
            if len(self._by_system) < _MANY:
                self._by_system[system] = sources
        by_field = self._by_field
        for name in evidence.facts:
            for source in by_field.get(name, ()):
                if source not in sources:
                    sources = (*sources, source)
        for source in sources:
            try:
                source.read(evidence, facts)
            except Exception as error:  # noqa: BLE001 - a broken reader costs only itself
                self._report(f"reader {source.name}", error)
        return facts

    def _ask(self, task: Task | None, evidence: Evidence) -> FailureDetails | None:
        if self._third_party is None:
            return None
        try:
            stated = self._third_party(task, evidence)
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
            self._report("third party", error)
            return None
        return stated if isinstance(stated, FailureDetails) else None

    def _explain(
        self, task: Task | None, evidence: Evidence, details: FailureDetails
    ) -> Explanation:
        facts = self._read(task, evidence)
        matched: list[Rule] = []
        for view in (facts, *(facts.views() if facts.views is not None else ())):
            for index in (self._user, self._built_in):
                found = [entry.rule for entry in index.all(view, self._report)]
                matched.extend(rule for rule in found if rule not in matched)
        matched.sort(key=lambda rule: rule.tier)
        decided = next((rule for rule in matched if rule.id == details.rule), None)
        return _explanation(
            details,
            decided,
            tuple(_named(facts)),
            tuple(rule for rule in matched if rule is not decided and rule.id != _UNKNOWN),
        )

    def _report(self, what: str, error: Exception) -> None:
        if what not in self._reported and len(self._reported) < _MANY:
            self._reported.add(what)
            # Not what it says: that may quote the task.
            _log.error("%s raised %s; the verdict goes on without it", what, _place_of(error))


def _place_of(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__qualname__}{where}"


_MANY: Final = 256


def _named(facts: Facts) -> Iterable[Fact]:
    """Yield all facts under the names that rules use; a set of texts is one fact for each."""
    for path in list(facts):
        value = facts[path]
        for each in value if isinstance(value, tuple) else (value,):
            if each is not None:
                yield Fact(path, short(each))


def _explanation(
    details: FailureDetails,
    rule: Rule | None,
    facts: tuple[Fact, ...],
    others: tuple[Rule, ...],
) -> Explanation:
    return Explanation(
        details=details,
        because=rule.because if rule else details.message,
        tier=rule.tier.name.lower() if rule else Tier.THIRD_PARTY.name.lower(),
        matched=rule.describe() if rule else "",
        facts=facts,
        considered=tuple(
            Considered(
                rule=other.id,
                tier=other.tier.name.lower(),
                kind=other.kind.value
                if isinstance(other.kind, Kind)
                else f"from {other.kind.path}",
                reason=other.reason
                if isinstance(other.reason, str)
                else f"from {other.reason.path}",
                because=other.because,
            )
            for other in others
        ),
        next_step=rule.advice if rule else "",
        source=rule.source if rule else "",
        docs=_page(rule),
    )


def _page(rule: Rule | None) -> str:
    """Return the place of a rule in the documentation; "" for a user's own, which is not there."""
    if rule is None:
        return f"{DOCS}.md"
    family, _, _ = rule.id.partition(".")
    return "" if rule.tier is Tier.USER else f"{DOCS}/{family}.md#{rule.id}"


def _of_the_task(paths: Iterable[str]) -> Mapping[str, Derived]:
    """Return how to read what users' rules ask of the task: ``task.workflow``, ``label.team``."""

    def attribute(name: str) -> Derived:
        def derive(facts: Facts) -> Value:
            value = getattr(facts.sources["task"], name, None)
            return value if isinstance(value, str | int) else None

        return Derived(derive)

    def label(name: str) -> Derived:
        def derive(facts: Facts) -> Value:
            task = facts.sources["task"]
            return None if task is None else task.labels.get(name)

        return Derived(derive)

    found: dict[str, Derived] = {}
    for path in paths:
        prefix, _, name = path.partition(".")
        if prefix == "label":
            found[path] = label(name)
        elif prefix == "task" and name in TASK_FIELDS:
            found[path] = attribute(name)
    return found
