"""The one logger, and the one way to write to it that cannot fail."""

from __future__ import annotations

import contextlib
import logging
from typing import Final

logger: Final = logging.getLogger("failhook")


def say(level: int, message: str, *args: object, error: BaseException | None = None) -> None:
    """Log to ``failhook``, whatever the host's handlers do.

    A handler that raises, or a standard error that was closed, must neither end a thread that
    delivers nor reach the executor.

    Args:
        level: as in `logging`.
        message: with ``%`` places for `args`.
        args: what goes there.
        error: an exception whose traceback is to be logged.
    """
    with contextlib.suppress(Exception):
        logger.log(level, message, *args, exc_info=error)
