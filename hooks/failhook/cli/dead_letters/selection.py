"""Which dead letters are meant, read a page at a time: there may be a hundred thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from failhook.cli.stderr import tell
from failhook.outbox.port import DeadLetter, Store

PAGE: Final = 500
"""Letters that are held in memory at once."""


class Selection:
    """The dead letters that a call is about.

    Args:
        store: where they are.
        plugin: only those of this plugin.
        ids: only these; none means all.
        after: only those with a greater id.
        limit: this many at most; None sets no limit.
    """

    def __init__(
        self,
        store: Store,
        plugin: str | None,
        *,
        ids: Sequence[int] = (),
        after: int = 0,
        limit: int | None = None,
    ) -> None:
        self._store = store
        self._plugin = plugin
        self._ids = sorted(set(ids))
        self._after = after
        self._limit = limit
        self._found: set[int] = set()
        self._empty = True

    def pages(self) -> Iterator[Sequence[DeadLetter]]:
        """Yield them in the order of their ids; what is done to one page does not skip the next."""
        after, left = self._after, self._limit
        while left is None or left > 0:
            page = self._store.dead_letters(
                self._plugin,
                ids=self._ids or None,
                after=after,
                limit=PAGE if left is None else min(PAGE, left),
            )
            if not page:
                return
            self._empty = False
            if self._ids:
                self._found.update(letter.id for letter in page)
            after = page[-1].id
            left = None if left is None else left - len(page)
            yield page

    @property
    def unknown(self) -> list[int]:
        """Return the ids that were asked for and not found."""
        return [identity for identity in self._ids if identity not in self._found]

    def told(self) -> int:
        """Name the ids that were not found, or a plugin of no name; return the exit code."""
        if not self.unknown:
            return self._told_plugin()
        named = ", ".join(map(str, self.unknown))
        of = f" of plugin {self._plugin}" if self._plugin else ""
        are = "is no dead letter" if len(self.unknown) == 1 else "are no dead letters"
        tell(f"{named} {are}{of}; failhook dead-letters list shows which there are")
        return 1

    def _told_plugin(self) -> int:
        plugin, store = self._plugin, self._store
        if plugin is None or not self._empty:
            return 0
        known = {each.plugin for each in (*store.given_up(), *store.waiting())}
        known |= {each.plugin for each in store.calls()}
        if plugin in known:
            return 0
        alike = get_close_matches(plugin, known, n=1) or sorted(known)
        guess = f"; did you mean {' or '.join(alike)}?" if alike else ""
        tell(f"nothing was ever for a plugin {plugin} here{guess}")
        return 1
