"""``python -m failhook`` is the command ``failhook``."""

from __future__ import annotations

import sys

from failhook.cli import main

if __name__ == "__main__":
    sys.exit(main())
