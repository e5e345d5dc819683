"""Cut single results that are too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ctxbudget.trace import Edit, Form, Fragment
from ctxbudget.view import stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "truncate-results"


@dataclass(frozen=True, slots=True)
class TruncateResults:
    """Cut a tool result that is larger than a share of the window, at a line end.

    Keeps: the head of a large result, its tail, or both.
    Costs: nothing for the cache where it runs at entry; what was cut must be asked for again.
    Fails: the line that mattered may stand in the part that went.
    Use when: one result can be larger than the rest of the context.
    """

    over: float = 0.25
    """Results larger than this are cut: a fraction of (window - reserve), or tokens."""
    to: float = 0
    """What is left of them, in the same measure; 0: as much as is allowed."""
    keep: Literal["head", "tail", "both"] = "head"
    """Which end stays; ``both`` keeps half of each."""
    text: str = "[truncated: {tokens} tokens of this result were cut]"
    """The line at the cut; ``{tokens}`` is how much went."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit per result that is too large."""
        most = view.share(self.over)
        room = min(most, view.share(self.to)) if self.to else most
        for _, fragment in list(view.standing(self, lambda one: _cuttable(one) and one.tokens > most).oldest()):
            if fragment.id in view.pins.ids:
                continue
            new = stand_in(view, fragment, self._cut(view, fragment, room), Form.TRUNCATED)
            if new is not None:
                yield Edit(NAME, (fragment.id,), (new,), Form.TRUNCATED, f"a single result over {most:,} tokens")

    def _cut(self, view: View, fragment: Fragment, room: int) -> str:
        """The text cut to ``room`` tokens, the line at the cut included."""
        mark = self.text.replace("{tokens}", f"{fragment.tokens - room:,}")
        chars = len(fragment.text) * room // max(1, fragment.tokens)
        while chars > 0:
            text = self._joined(fragment.text, chars, mark)
            size = view.tokens_of(text)
            if size <= room:
                return text
            chars = min(chars - 1, chars * room // size * 19 // 20)
        return mark

    def _joined(self, text: str, chars: int, mark: str) -> str:
        half = chars // 2 if self.keep == "both" else chars
        head = _lines(text[:half], from_start=True) if self.keep != "tail" else ""
        tail = _lines(text[len(text) - half :], from_start=False) if self.keep != "head" else ""
        return "\n".join(part for part in (head, mark, tail) if part)


def _cuttable(fragment: Fragment) -> bool:
    return fragment.answers and fragment.form is None and bool(fragment.text)


def _lines(piece: str, *, from_start: bool) -> str:
    """Whole lines of a piece, as far as it has any."""
    if from_start:
        return piece.rpartition("\n")[0] or piece
    return piece.partition("\n")[2] or piece
