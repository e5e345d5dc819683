"""Clear old tool results; their calls stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.trace import Edit, Form, Fragment
from ctxbudget.view import shortened_call, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "clear-tool-results"
_BARE: Final = frozenset({Form.CLEARED, Form.OFFLOADED, Form.DUPLICATE})


@dataclass(frozen=True, slots=True)
class ClearToolResults:
    """Replace old tool results by a short text, oldest first; the calls stay.

    Keeps: every call, so that the agent still sees what it did, and the newest results.
    Costs: the cached prefix breaks at the oldest result cleared, at every firing.
    Fails: calls and texts pile up and are never freed; what was read must be read again.
    Use when: results are large and can be fetched again.
    """

    keep: int = 3
    """How many of the newest results stay (Anthropic, clear_tool_uses_20250919: 3)."""
    keep_tokens: float = 0
    """Newest results that stay up to so many tokens together: a fraction of (window - reserve), or tokens."""
    keep_turns: int = 0
    """Results of so many of the newest turns stay."""
    keep_batches: int = 0
    """Results of so many of the newest replies stay, whole batches."""
    exclude_tools: tuple[str, ...] = ()
    """Tools whose results are never cleared."""
    only_tools: tuple[str, ...] = ()
    """Tools whose results alone are cleared; empty: all."""
    classes: tuple[str, ...] = ()
    """Tool classes (read, search, shell ...) whose results alone are cleared; empty: all."""
    kinds: tuple[str, ...] = ()
    """Kinds (result, retrieval, media) that alone are cleared; empty: all."""
    arriving: bool = False
    """Clear only what arrives this turn."""
    clear_at_least: float = 0
    """Do nothing unless so much can be freed: a fraction of (window - reserve), or tokens."""
    stop_early: bool = False
    """Stop once ``clear_at_least`` is freed (LangChain ClearToolUsesEdit) instead of clearing all (Anthropic)."""
    clear_inputs: bool = False
    """Shorten the arguments of the calls too."""
    skip_errors: bool = False
    """Leave results that report a failure."""
    text: str = "[tool result cleared; call the tool again if it is needed]"
    """What stands in place of a result."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit per result, oldest first."""
        edits, freed = [], 0
        least = view.share(self.clear_at_least) if self.clear_at_least else 0
        enough = least - view.freed.get(NAME, 0)
        for fragment in self._old(view):
            if self.stop_early and least and freed >= enough:
                break
            for edit, saved in self._cleared(view, fragment):
                edits.append(edit)
                freed += saved
        if freed >= enough:
            yield from edits

    def _old(self, view: View) -> Iterator[Fragment]:
        """Results that may go, oldest first."""
        size = view.tokens_of(self.text)
        index = view.standing(self, lambda one: self._admits(one) and one.tokens > size)
        since = view.turns[-1] if self.arriving else 0
        yield from (fragment for place, fragment in index.oldest(self._edge(view)) if self._may(view, place, fragment, since))

    def _may(self, view: View, place: int, fragment: Fragment, since: int) -> bool:
        return place >= since and fragment.id not in view.pins.ids

    def _admits(self, fragment: Fragment) -> bool:
        if not fragment.answers or fragment.form in _BARE or (self.skip_errors and fragment.error):
            return False
        if fragment.tool in self.exclude_tools or (self.only_tools and fragment.tool not in self.only_tools):
            return False
        if self.kinds and fragment.kind.value not in self.kinds:
            return False
        return not self.classes or (fragment.resource is not None and fragment.resource.cls in self.classes)

    def _edge(self, view: View) -> int:
        """The place from which on results stay."""
        edge = view.end
        if self.keep > 0:
            edge = view.units.answers[-self.keep] if len(view.units.answers) >= self.keep else 0
        if self.keep_batches > 0:
            starts = view.units.starts
            edge = min(edge, starts[-self.keep_batches] if len(starts) >= self.keep_batches else 0)
        if self.keep_turns > 0:
            edge = min(edge, view.turn_start(view.turn - self.keep_turns + 1))
        return min(edge, self._newest(view)) if self.keep_tokens else edge

    def _newest(self, view: View) -> int:
        """The place of the oldest result that still fits ``keep_tokens``."""
        left, edge = view.share(self.keep_tokens), view.end
        for place, fragment in view.standing("results", _answers).newest():
            left -= fragment.tokens
            if left < 0:
                break
            edge = place
        return edge

    def _cleared(self, view: View, fragment: Fragment) -> Iterator[tuple[Edit, int]]:
        for old in (fragment, *self._call(view, fragment)):
            new = stand_in(view, old, self.text, Form.CLEARED) if old is fragment else shortened_call(view, old)
            if new is not None:
                yield Edit(NAME, (old.id,), (new,), Form.CLEARED, "an old tool result"), old.tokens - new.tokens

    def _call(self, view: View, fragment: Fragment) -> list[Fragment]:
        """The call that a result answers, where its arguments are to go too."""
        if not self.clear_inputs:
            return []
        members = view.units.members(fragment)
        return [one for one in members if one.asks and one.call == fragment.call and one.form is None and one.id not in view.pins.ids]


def _answers(fragment: Fragment) -> bool:
    return fragment.answers
