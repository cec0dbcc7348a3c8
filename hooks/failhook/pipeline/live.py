"""The live exceptions of this process, kept until each plugin had its first look."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from failhook.event import FailureEvent

_MOST: Final = 256


class LiveErrors:
    """Lends each plugin the live exception once: a redelivery has none.

    At most 256 exceptions are kept, since each keeps the frames of its traceback alive.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[BaseException, set[str]]] = OrderedDict()

    def keep(self, event: FailureEvent, plugins: Iterable[str]) -> None:
        """Remember the live exception of an event, if it has one, for these plugins."""
        if event.error is not None and event.error.exception is not None:
            self._kept[event.event_id] = (event.error.exception, set(plugins))
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)

    def attach(self, event: FailureEvent, plugin: str) -> FailureEvent:
        """Return the event with its live exception, if this process has one for the plugin."""
        kept = self._kept.get(event.event_id)
        if kept is None or event.error is None or plugin not in kept[1]:
            return event
        exception, waiting = kept
        waiting.discard(plugin)
        if not waiting:
            self._kept.pop(event.event_id, None)
        return replace(event, error=replace(event.error, exception=exception))
