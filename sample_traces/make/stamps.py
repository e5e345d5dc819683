"""Ids, moments and small random numbers that look real and are the same on every machine.

All of them are drawn from a hash of their name: no clock, no generator whose algorithm may change.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def draw(name: str, below: int) -> int:
    """Return a number from 0 to below - 1 that belongs to this name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % below


def token(name: str, length: int, letters: str = LETTERS) -> str:
    """Return an id of letters and digits."""
    return "".join(letters[draw(f"{name}/{i}", len(letters))] for i in range(length))


def uuid4(name: str) -> str:
    """Return a UUID in the shape of version 4."""
    digits = hashlib.sha256(name.encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{'89ab'[draw(name, 4)]}{digits[17:20]}-{digits[20:32]}"


def seal(name: str, size: int) -> str:
    """Return base64 that nobody can read: a signature, or reasoning in encrypted form."""
    parts = (hashlib.sha256(f"{name}/{i}".encode()).digest() for i in range(size // 32 + 1))
    return base64.b64encode(b"".join(parts)[:size]).decode()


class Clock:
    """Moments that only go forward, from a fixed beginning."""

    def __init__(self, start: str) -> None:
        self.now = datetime.fromisoformat(start).replace(tzinfo=UTC)
        self._ticks = 0

    def tick(self, seconds: int = 2) -> str:
        """Let roughly this many seconds pass and return the moment in ISO form with milliseconds."""
        self._ticks += 1
        spread = draw(f"tick/{self._ticks}/{seconds}", seconds * 900 + 100)
        self.now += timedelta(milliseconds=seconds * 550 + spread)
        return self.stamp()

    def stamp(self) -> str:
        """Return the present moment without letting time pass."""
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
