"""What is in the context while a file is still being read: its parts, and the calls that wait for results."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.builder.pieces import Piece


class Live:
    """The parts in the context. Each enters and leaves once, however many compactions there are."""

    def __init__(self) -> None:
        self._parts: dict[int, Piece] = {}
        self._fixed: dict[int, Piece] = {}

    def __contains__(self, piece: Piece) -> bool:
        return id(piece) in self._home(piece)

    def add(self, piece: Piece) -> None:
        """A part enters."""
        self._home(piece)[id(piece)] = piece

    def take(self, removed: Iterable[Piece] | None) -> list[Piece]:
        """The parts of ``removed`` leave, and are given back; what is gone already is left out. None is everything
        but system messages."""
        if removed is None:
            gone, self._parts = list(self._parts.values()), {}
            return gone
        return [piece for piece in removed if self._home(piece).pop(id(piece), None) is not None]

    def _home(self, piece: Piece) -> dict[int, Piece]:
        """What a system message brought outlives a compaction of everything."""
        return self._fixed if piece.role == "system" else self._parts


class Asked:
    """The calls of tools, by their ids, and those of the latest reply that nothing has answered."""

    def __init__(self) -> None:
        self._named: dict[str, Piece] = {}
        self._open: OrderedDict[int, Piece] = OrderedDict()

    def __contains__(self, call: str) -> bool:
        return call in self._named

    def add(self, piece: Piece, call: str | None) -> None:
        """A call; one without an id gets one here."""
        piece.call = call if call is not None else f"#{len(self._named)}"
        self._named[piece.call] = piece
        self._open[id(piece)] = piece

    def close(self) -> None:
        """Another reply begins: results without an id answer its calls."""
        self._open.clear()

    def answered(self, call: str | None) -> Piece | None:
        """The call of that id, else the oldest one still open."""
        asked = self._named.get(call) if call is not None else next(iter(self._open.values()), None)
        if asked is not None:
            self._open.pop(id(asked), None)
        return asked
