"""Which policy a task has: its own, else the default with the overrides that match it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from failhook.errors import ConfigError
from failhook.matchers import Matcher, all_match, parse_matchers
from failhook.policy import Policy
from failhook.task import Task


@dataclass(frozen=True, slots=True)
class Override:
    """Settings that hold for the tasks that all matchers match."""

    matchers: tuple[Matcher, ...]
    settings: Mapping[str, Any]

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Override:
        """Read ``{match = ["workflow = etl"], retries = 3, ...}``.

        Raises:
            ConfigError: there is no ``match`` list, or a setting is not one of a policy.
        """
        match = cast("object", document.get("match"))
        if not isinstance(match, list) or not match:
            msg = 'an override needs match = ["name = value", ...]'
            raise ConfigError(msg)
        settings = {name: value for name, value in document.items() if name != "match"}
        Policy.from_dict(settings)
        return cls(parse_matchers(map(str, cast("list[object]", match))), settings)


@dataclass(frozen=True, slots=True)
class Policies:
    """The server's default policy and its overrides; a later override wins over an earlier one."""

    default: Policy = Policy()
    overrides: tuple[Override, ...] = ()

    def of(self, task: Task) -> Policy:
        """Return what this task may cost; a policy of its own is taken whole."""
        if task.policy is not None:
            return task.policy
        if not self.overrides:
            return self.default
        labels = labels_of(task)
        settings: dict[str, Any] = {}
        for override in self.overrides:
            if all_match(override.matchers, labels):
                settings |= override.settings
        if not settings:
            return self.default
        given = Policy.from_dict(settings)
        return replace(self.default, **{name: getattr(given, name) for name in settings})


def labels_of(task: Task) -> dict[str, str]:
    """Return what matchers see of a task: its labels, and who it is, which no label can hide."""
    return {
        **task.labels,
        "namespace": task.namespace,
        "workflow": task.workflow,
        "task": task.name,
        "owner": task.owner or "",
        "executor": task.executor or "",
    }
