"""Names and ids that a provider accepts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

K = TypeVar("K", bound="Hashable")

_ODD = re.compile(r"[^a-zA-Z0-9_-]")


class Names(Generic[K]):
    """Gives each key a name of its own of at most ``longest`` letters, digits, ``_`` and ``-``: the one it has,
    as far as that is one."""

    def __init__(self, longest: int, otherwise: str) -> None:
        """``otherwise`` is for keys without a usable letter."""
        self._longest, self._otherwise = longest, otherwise
        self._given: dict[K, str] = {}
        self._taken: set[str] = set()

    def __call__(self, key: K, wish: str) -> str:
        """The name of ``key``; ``wish`` is what the recording calls it."""
        if key not in self._given:
            name = _ODD.sub("_", wish)[: self._longest] or self._otherwise
            number = 1
            while name in self._taken:
                number += 1
                end = f"_{number}"
                name = f"{(_ODD.sub('_', wish) or self._otherwise)[: self._longest - len(end)]}{end}"
            self._taken.add(name)
            self._given[key] = name
        return self._given[key]
