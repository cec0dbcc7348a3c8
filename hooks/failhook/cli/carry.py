"""The child in which `failhook run` has plugins called: ``python -m failhook.cli.carry``.

It delivers what is due whenever something comes in on standard input, and ends after that does:
with the command, however that ends.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from typing import Final

from failhook.cli.arguments import add_config
from failhook.cli.courier import HERE
from failhook.cli.settings import settings
from failhook.cli.stderr import log_told, tell
from failhook.errors import FailhookError
from failhook.pipeline.sidecar import Sidecar

_SECONDS: Final = 9.0
"""Less than the command waits for it."""


_SOON: Final = 5.0
"""Seconds: the first message of a group is waited for, since no other process may come for long."""


class _NotHere:
    """Leaves to the command what its own process calls."""

    def takes(self, plugin: str) -> bool:
        """Return whether the command calls this plugin itself."""
        return plugin == HERE

    def wake(self) -> None:
        """Nothing is to be done: it wakes by itself."""


def main() -> int:
    """Deliver until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_config(parser)
    arguments = parser.parse_args(namespace=argparse.Namespace(store=None, json=False))
    told_by_the_command = logging.NullHandler()
    logging.getLogger("failhook").addHandler(told_by_the_command)
    try:
        sidecar = Sidecar.from_config(settings(arguments), courier=_NotHere())
    except FailhookError as error:
        tell(str(error))
        return 2
    with log_told():
        sidecar.wake()
        while os.read(0, 1024):
            sidecar.wake()
        end = time.monotonic() + _SECONDS
        sidecar.settle(_SOON, _SECONDS - 1)
        sidecar.close(max(1.0, end - time.monotonic()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
