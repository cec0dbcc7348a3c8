"""Look for pieces of secrets in whatever a store, a log or a plugin was left with."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tests.model.planted import Planted

PIECE = 8
_CHUNK = 1 << 20


def pieces(plants: Iterable[Planted]) -> frozenset[bytes]:
    """Return every piece of every secret, as it is and as JSON writes it."""
    found: set[bytes] = set()
    for plant in plants:
        for secret in (plant.secret, json.dumps(plant.secret)[1:-1]):
            data = secret.encode()
            found.update(data[at : at + PIECE] for at in range(len(data) - PIECE + 1))
    return frozenset(found)


def leaked(secret_pieces: frozenset[bytes], dump: bytes) -> list[str]:
    """Return where pieces of secrets stand in a dump of bytes, each with what is around it."""
    found: list[str] = []
    for start in range(0, len(dump), _CHUNK):
        chunk = dump[start : start + _CHUNK + PIECE - 1]
        here = {chunk[at : at + PIECE] for at in range(len(chunk) - PIECE + 1)} & secret_pieces
        for piece in here:
            at = start + chunk.index(piece)
            found.append(dump[max(0, at - 60) : at + 40].decode(errors="replace"))
    return found
