"""Pieces → fragments, turns and recorded edits: ids, kinds, units, and every text counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget import media
from ctxbudget.tokens import family
from ctxbudget.trace import Compaction, Edit, Fragment, Kind, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.builder.pieces import Call, Cut, Piece
    from ctxbudget.tokens import Counter

OPAQUE_RATIO = 3 / 16
"""Tokens per character of an encrypted thinking signature: base64 holds 3 bytes in 4 characters, and a token of
plain thinking is about 4 bytes. A flat estimate, used only where the reply's own output count is unknown."""


class Freezer:
    """Knows what all pieces of a conversation share: the counter, the model's family, the replies that make calls."""

    def __init__(self, pieces: Sequence[Piece], model: str | None, count: Counter) -> None:
        """``pieces`` are those of the log."""
        self._count = count
        self._family = family(model)
        self._calling = {piece.reply for piece in pieces if piece.call is not None and piece.role == "assistant"}

    def log(self, pieces: Sequence[Piece]) -> tuple[Fragment, ...]:
        """The log: an id names the turn at which a fragment enters, and its number in it."""
        place: dict[int, int] = {}
        for piece in pieces:
            number = place.get(piece.turn, 0)
            place[piece.turn] = number + 1
            piece.id = f"t{piece.turn}.{number}"
        return tuple(self._fragments(pieces))

    def compaction(self, number: int, cut: Cut) -> Compaction:
        """A recorded compaction, the ``number``-th from 1; the pieces it removes have their ids already."""
        for place, piece in enumerate(cut.inserted):
            piece.id = f"c{number}.{place}"
        inserted = tuple(self._fragments(cut.inserted))
        removed = tuple(piece.id for piece in cut.removed)
        edit = Edit(cut.by, removed, inserted, cut.form, f"{cut.trigger} compaction")
        return Compaction(cut.turn, edit, cut.trigger, cut.pre_tokens, cut.post_tokens, cut.line)

    def _fragments(self, pieces: Sequence[Piece]) -> Iterator[Fragment]:
        counts = self._count.count_all([piece.text for piece in pieces])
        for piece, counted in zip(pieces, counts, strict=True):
            kind = piece.kind or (Kind.REASONING if piece.reply in self._calling else Kind.ANSWER)
            tokens = counted if piece.text else self._estimate(piece, kind)
            yield Fragment(
                piece.id, kind, piece.text, tokens or 0, counted, piece.turn, piece.unit or piece.id, piece.message,
                piece.role, piece.origin, piece.call, piece.tool, piece.resource, piece.error, piece.pinned,
                not piece.text and tokens is not None,
            )  # fmt: skip

    def _estimate(self, piece: Piece, kind: Kind) -> int | None:
        """Tokens of a part without text; None where there is nothing to estimate."""
        if piece.cost is not None:
            return piece.cost
        if kind is Kind.MEDIA:
            return media.image_tokens(piece.size, self._family)
        return round(piece.opaque * OPAQUE_RATIO) if piece.opaque else None


def turns(calls: Sequence[Call]) -> tuple[Turn, ...]:
    """The turns, each with its stretch of the log."""
    starts = [0, *(call.stop for call in calls)]
    return tuple(
        Turn(index, start, call.stop, call.model, call.usage, call.line, call.pending)
        for index, (start, call) in enumerate(zip(starts, calls, strict=False), 1)
    )
