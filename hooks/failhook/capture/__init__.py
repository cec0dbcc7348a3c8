"""From a live exception to an `ErrorInfo`, whatever the exception does when it is looked at."""

from __future__ import annotations

from failhook.capture.describe import capture, headline
from failhook.capture.mark import find_mark

__all__ = ["capture", "find_mark", "headline"]
