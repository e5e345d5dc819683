"""Clear old tool results; their calls stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.trace import Edit, Form, Fragment
from ctxbudget.view import shortened, stand_in

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
        if not self.clear_at_least:
            for edits in self._cleared(view):
                yield from edits
            return
        enough = view.share(self.clear_at_least) - view.freed.get(NAME, 0)
        planned: list[Edit] = []
        freed = 0
        for edits in self._cleared(view):
            if self.stop_early and freed >= enough:
                break
            planned += edits
            freed += sum(view.known[one].tokens for edit in edits for one in edit.removed)
            freed -= sum(new.tokens for edit in edits for new in edit.inserted)
        if freed >= enough:
            yield from planned

    def _old(self, view: View) -> Iterator[Fragment]:
        """Results that may go, oldest first."""
        size = view.tokens_of(self.text)
        index = view.standing(self, lambda one: self._admits(one) and one.tokens > size)
        since = view.turns[-1] if self.arriving else -1
        for place, fragment in index.oldest(self._edge(view)):
            if place >= since and fragment.id not in view.pins.ids:
                yield fragment

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

    def _cleared(self, view: View) -> Iterator[list[Edit]]:
        """For each result that may go the edits that clear it. A call that has several results (a text and its
        pictures) goes with the first of them.
        """
        calls: set[str] = set()
        for fragment in self._old(view):
            new = stand_in(view, fragment, self.text, Form.CLEARED)
            if new is None:
                continue
            edits = [Edit(NAME, (fragment.id,), (new,), Form.CLEARED, "an old tool result")]
            if self.clear_inputs:
                edits += [edit for edit in self._call_cleared(view, fragment) if edit.removed[0] not in calls]
                calls.update(edit.removed[0] for edit in edits)
            yield edits

    def _call_cleared(self, view: View, fragment: Fragment) -> Iterator[Edit]:
        """The call that a result answers, without its arguments."""
        for call in view.units.members(fragment):
            if call.asks and call.call == fragment.call and call.form is None and call.id not in view.pins.ids:
                new = stand_in(view, call, shortened(call), Form.CLEARED)
                if new is not None:
                    yield Edit(NAME, (call.id,), (new,), Form.CLEARED, "the call of an old tool result")


def _answers(fragment: Fragment) -> bool:
    return fragment.answers
