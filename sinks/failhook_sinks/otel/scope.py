"""The instrumentation scope under which everything goes out."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

SCOPE: Final = "failhook_sinks.otel"


def _version() -> str:
    try:
        return version("failhook")
    except PackageNotFoundError:  # run from a checkout that was not installed
        return "unknown"


VERSION: Final = _version()
