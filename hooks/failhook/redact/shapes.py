"""The secrets that are looked for unless told otherwise."""

from __future__ import annotations

from typing import Final

from failhook.redact.named import NAMED
from failhook.redact.tokens import TOKENS

DEFAULT: Final = (*NAMED, *TOKENS)
