"""Fragments that the edits of a run put in: which of them hold a string, and at which turns they stood in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence import holds
from ctxbudget.evidence.standing import words

if TYPE_CHECKING:
    from collections.abc import Container

    from ctxbudget.evidence import Use
    from ctxbudget.replay import Run
    from ctxbudget.trace import Fragment


class Inserted:
    """The stand-ins, summaries and notices of a run."""

    def __init__(self, run: Run, recorded: Container[str]) -> None:
        """``recorded`` are the ids of the trace: an original that comes back is none of these."""
        self.fragments: dict[str, Fragment] = {}
        self.spans: dict[str, list[tuple[int, int]]] = {}
        """First and last turn, both inclusive, at which each was sent."""
        self._posted: dict[str, list[str]] | None = None
        self._holders: dict[tuple[str, ...], list[str]] = {}
        open_since: dict[str, int] = {}
        for row in run.turns:
            for change in row.edits:
                for one in change.removed:
                    if one in open_since:
                        self._close(one, open_since.pop(one), row.turn - 1)
                for new in change.inserted:
                    if new.id not in recorded:
                        self.fragments[new.id] = new
                        open_since[new.id] = row.turn
        for one, since in open_since.items():
            self._close(one, since, run.turns[-1].turn)

    def _close(self, one: str, since: int, until: int) -> None:
        if since <= until:  # else it came and went within one turn, and was never sent
            self.spans.setdefault(one, []).append((since, until))

    def show(self, use: Use) -> bool:
        """Whether one that was sent at the turn of the use holds what it needed."""
        return any(since <= use.turn <= until for one in self.holding(use) for since, until in self.spans[one])

    def last(self, use: Use) -> int:
        """The last turn before the use at which one of them held what it needed; 0 if none did."""
        ends = (until for one in self.holding(use) for _, until in self.spans[one] if until < use.turn)
        return max(ends, default=0)

    def holding(self, use: Use) -> list[str]:
        """Ids of those whose text holds all that the use needed."""
        found = self._holders.get(use.text)
        if found is None:
            near = self._near({word for needle in use.text for word in words(needle)})
            found = self._holders[use.text] = [one for one in near if holds(self.fragments[one].text, use)]
        return found

    def _near(self, wanted: set[str]) -> list[str]:
        """Those that have the rarest of the words."""
        if self._posted is None:
            self._posted = {}
            for one in self.spans:
                for word in words(self.fragments[one].text):
                    self._posted.setdefault(word, []).append(one)
        posted = self._posted
        return min((posted.get(word, []) for word in wanted), key=len, default=[])
