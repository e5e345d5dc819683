"""The summary that the recording itself holds for a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.summaries.sections import titled
from ctxbudget.summaries.summary import Summary, SummaryError
from ctxbudget.trace import Compaction, Kind

if TYPE_CHECKING:
    from ctxbudget.summaries.summary import Request

NAME = "recorded"
COVERED = 0.5
"""Share of the span's tokens that a recorded compaction must have replaced for its summary to be that of the span."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Gives back what the recorded agent wrote, where it compacted about the same stretch by then."""

    compactions: tuple[Compaction, ...]
    """``trace.recorded``."""

    def summarise(self, request: Request) -> Summary:
        """The recorded summary whose compaction replaced most of the span, of two the later one.

        It is not cut: one over the cap is for the spot check to refuse. Raises SummaryError where the recording holds
        none for this place, or one without text.
        """
        ids = {fragment.id: fragment.tokens for fragment in request.span}
        shares = [(_share(one, ids), one) for one in self._summarised() if one.turn <= request.turn]
        share, best = max(shares, key=lambda each: (each[0], each[1].turn), default=(0.0, None))
        if best is None or share < COVERED:
            raise SummaryError(f"the recording holds no summary of this span; {self._held()}")
        parts = [one for one in best.edit.inserted if one.kind is Kind.SUMMARY]
        text = "\n".join(one.text for one in parts if one.text.strip())
        if not text:
            raise SummaryError(f"the summary recorded at turn {best.turn} has no readable text")
        note = f"recorded at turn {best.turn}; it replaced {share:.0%} of this span"
        return Summary(
            text,
            tokens_in=best.pre_tokens or request.size,
            tokens_out=request.count(text),
            calls=1,
            simulated=False,
            by=NAME,
            sections=titled(text),
            notes=(note,),
        )

    def _summarised(self) -> tuple[Compaction, ...]:
        """Those that put a summary in: not every compaction does."""
        return tuple(one for one in self.compactions if any(new.kind is Kind.SUMMARY for new in one.edit.inserted))

    def _held(self) -> str:
        turns = ", ".join(str(one.turn) for one in self._summarised())
        return f"it has summaries at turns {turns}" if turns else "it has none at all"


def _share(compaction: Compaction, tokens: dict[str, int]) -> float:
    """The share of a span's tokens that a compaction replaced."""
    total = sum(tokens.values())
    return sum(tokens.get(one, 0) for one in compaction.edit.removed) / total if total else 0.0
