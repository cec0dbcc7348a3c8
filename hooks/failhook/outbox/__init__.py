"""Where events wait until each plugin has taken them: the port, and the drainer that empties it."""

from __future__ import annotations
