"""A store of each kind that needs no service."""

from __future__ import annotations

from tests.outbox.conftest import store

__all__ = ["store"]
