"""The retry gate: retry, fail or hold, and which budget pays. Pure: no I/O, no clock, no chance."""

from __future__ import annotations
