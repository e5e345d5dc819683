"""Move large results to a store outside the context; an index line stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.digests import digest
from ctxbudget.store import SHOWN, Store, key_of
from ctxbudget.trace import Edit, Form, Fragment
from ctxbudget.view import stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "offload-results"


@dataclass(frozen=True, slots=True)
class OffloadResults:
    """Move results over a size to a store; a line that says what they are and how to get them stays.

    Keeps: of a large result its name, turn, counts and column or symbol names, and the key of the whole.
    Costs: nothing for the cache where it runs at entry; each later use of a stored result is a call to get it.
    Fails: an agent that does not look at its index works as if the result had never come.
    Use when: a few large results (tables, logs, pages) are asked about again and again.
    """

    over: float = 2_000
    """Results larger than this are moved: tokens, or a fraction of (window - reserve)."""
    line: int = 60
    """Most tokens of the index line, its key included (as much as a digest of category-budget, so that it stays)."""
    exclude_tools: tuple[str, ...] = ()
    """Tools whose results are never moved, such as the one that reads the store."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit per large result. Where the run was given a store its text is put there; without one the recorded
        log, which is in memory anyway, holds it.
        """
        store, most = view.aid(Store), max(view.share(self.over), self.line)
        for _, fragment in list(view.standing(self, lambda one: self._movable(one) and one.tokens > most).oldest()):
            if fragment.id in view.pins.ids:
                continue
            new = stand_in(view, fragment, self._index(view, fragment), Form.OFFLOADED)
            if new is not None:
                if store is not None:
                    store.put(fragment.text)
                yield Edit(NAME, (fragment.id,), (new,), Form.OFFLOADED, f"a result over {most:,} tokens")

    def _movable(self, fragment: Fragment) -> bool:
        named = fragment.tool in self.exclude_tools
        return fragment.answers and fragment.form is None and bool(fragment.text) and not named

    def _index(self, view: View, fragment: Fragment) -> str:
        """What it is, in what room the key leaves."""
        key = f"[in the store as {key_of(fragment.text)[:SHOWN]}]"
        told = digest(fragment, self.line - view.tokens_of(f"\n{key}"), view.tokens_of)
        return f"{told}\n{key}" if told else key
