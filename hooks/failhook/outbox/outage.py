"""Says once that the outbox cannot be used, however many threads find out."""

from __future__ import annotations

from logging import DEBUG, ERROR, WARNING

from failhook.errors import StoreError
from failhook.log import say


class Outage:
    """One line when the outbox stops working, and one when it works again; any thread may tell."""

    def __init__(self) -> None:
        self._since = ""

    def began(self, error: StoreError) -> None:
        """Say that the outbox cannot be used."""
        line = str(error)
        level = DEBUG if self._since else ERROR
        self._since = self._since or line
        say(level, "the outbox cannot be used, what waits is tried again later: %s", line)

    def over(self) -> None:
        """Say that it works again, if it did not."""
        if self._since:
            self._since = ""
            say(WARNING, "the outbox can be used again")
