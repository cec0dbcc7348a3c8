"""What the command says on standard error: each line begins with ``failhook:``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from failhook.cli.terminal import lines_of

PREFIX: Final = "failhook: "


def tell(text: str) -> None:
    """Write one or more lines; a process without a standard error says nothing."""
    stream = sys.stderr
    if stream is None or stream.closed:  # pyright: ignore[reportUnnecessaryComparison] - it is None where descriptor 2 is closed
        return
    lines = "".join(f"{PREFIX}{line}\n" for line in lines_of(text))
    with suppress(OSError):  # nobody reads it any more
        stream.write(lines)
        stream.flush()


def on_terminal() -> bool:
    """Return whether somebody watches what is told."""
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()  # pyright: ignore[reportUnnecessaryComparison] - as above


@contextmanager
def log_told() -> Generator[None]:
    """Have what failhook logs told too, as long as the command runs."""
    logger = logging.getLogger("failhook")
    handler = _Teller()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Teller(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            tell(self.format(record))
        except Exception:  # noqa: BLE001 - as every handler of logging does
            self.handleError(record)
