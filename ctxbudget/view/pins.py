"""What must stay whole: the overhead, what the trace pins, what the strategy pins, and must-keep facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.trace import Fragment

FIXED = frozenset({Kind.SYSTEM_PROMPT, Kind.TOOL_DEFINITIONS, Kind.UNSEEN, Kind.MEMORY_FILE, Kind.INJECTED})
"""Kinds that can be overhead: what a harness sends before the first user message."""


class Pins:
    """Decides once per fragment, when it enters."""

    __slots__ = ("_must_keep", "_names", "_scheme", "choosy", "ids", "tokens")

    def __init__(self, names: Collection[str], must_keep: Callable[[Fragment], bool] | None, scheme: Scheme) -> None:
        """``names`` are layers, kinds or ids; ``must_keep`` picks fragments that hold a fact of the user's."""
        self._names, self._must_keep, self._scheme = frozenset(names), must_keep, scheme
        self.choosy = bool(self._names) or must_keep is not None
        """Whether anything is pinned beyond what the trace itself pins."""
        self.ids: set[str] = set()
        self.tokens = 0
        """Tokens of the pinned fragments that are in view."""

    def holds(self, fragment: Fragment) -> bool:
        """Whether a fragment after the overhead is pinned. To pin a layer does not pin what a harness injects later:
        that leaves with its message.
        """
        if fragment.pinned:
            return True
        if self._names:
            if fragment.kind.value in self._names or fragment.id in self._names:
                return True
            if fragment.kind is not Kind.INJECTED and self._scheme.layer(fragment) in self._names:
                return True
        return self._must_keep is not None and self._must_keep(fragment)


def overhead(fragments: Sequence[Fragment]) -> int:
    """How many of a trace's first fragments come before its first user message."""
    first = next((one.message for one in fragments if one.kind is Kind.USER), None)
    for number, fragment in enumerate(fragments):
        if fragment.kind not in FIXED or fragment.message == first:
            return number
    return len(fragments)
