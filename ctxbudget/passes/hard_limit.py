"""Drop the oldest until the rest fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.view import cut, dropping, freed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Edit, Fragment
    from ctxbudget.view import View

NAME: Final = "hard-limit"


@dataclass(frozen=True, slots=True)
class HardLimit:
    """Drop whole units from the oldest on until the view fits.

    Keeps: what is pinned, the newest message, the unit that has just arrived, and as much of the newest as fits.
    Costs: the cached prefix ends right after what is pinned.
    Fails: it looks at age only, so the assignment goes first unless it is pinned.
    Use when: as the last stage of a strategy, so that a call is never refused.
    """

    limit: float = 1.0
    """What must fit: a fraction of (window - reserve), or tokens."""
    notice: str = ""
    """Text of a message left in place of what went; ``{messages}`` is how many messages are missing by then."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit with as many of the oldest as it takes."""
        excess = view.tokens - view.share(self.limit)
        if excess > 0:
            edit = self._oldest(view, excess)
            if any(view.known[one].message >= 0 for one in edit.removed):  # an earlier notice alone stays
                yield edit

    def _oldest(self, view: View, excess: int) -> Edit:
        """Drop enough of the oldest to free ``excess`` tokens, or all that may go. A cut may leave more in place than
        was asked, and the engine's notice takes room, so that more is asked of it then.
        """
        edge = view.messages[-1] if view.messages else 0
        if view.units.starts and view.units.starts[-1] >= view.turns[-1]:
            edge = min(edge, view.units.starts[-1])
        asked = excess + view.tokens_of(self.notice)
        candidates = list(view.editable(edge))
        while True:
            wanted: list[Fragment] = []
            tokens = 0
            for fragment in candidates:
                if tokens >= asked:
                    break
                wanted.extend(view.units.members(fragment))
                tokens += fragment.tokens
            edit = dropping(view, NAME, cut(view, wanted), self.notice, "over the limit")
            short = excess - freed(view, edit)
            if short <= 0 or tokens < asked:
                return edit
            asked += max(short, asked // 8)
