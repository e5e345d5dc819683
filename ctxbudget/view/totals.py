"""Running sums over the live fragments of a view."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxbudget.layers import Scheme
    from ctxbudget.trace import Fragment

_SHORT = 300
"""Characters of a text whose count is remembered: markers and the lines of a summary come again."""
_FEW = 8
"""Longer texts whose counts are remembered, the last ones: a summary is counted at every step of its check."""


class Totals:
    """Tokens of a view, by layer and by kind."""

    __slots__ = ("kinds", "layers", "scheme", "tokens")

    def __init__(self, scheme: Scheme) -> None:
        """All zero."""
        self.scheme, self.tokens = scheme, 0
        self.layers = dict.fromkeys(scheme.layers, 0)
        self.kinds: dict[str, int] = {}

    def add(self, fragment: Fragment, sign: int) -> None:
        """One fragment came (``sign`` 1) or went (-1)."""
        tokens, kind, kinds, scheme = fragment.tokens * sign, fragment.kind, self.kinds, self.scheme
        self.tokens += tokens
        self.layers[scheme.layer(fragment) if scheme.tools else scheme.kinds[kind]] += tokens
        if kind not in kinds:
            kinds[kind.value] = 0  # a plain name; a kind finds it, being a string
        kinds[kind] += tokens


class Measure:
    """What a text of ours costs: its exact count, scaled once by the trace's factor and rounded."""

    __slots__ = ("_count", "_factor", "_known", "_last")

    def __init__(self, count: Callable[[str], int], factor: float) -> None:
        """``count`` counts text; ``factor`` is the trace's calibrated one, 1 without."""
        self._count, self._factor = count, factor
        self._known: dict[str, tuple[int, int]] = {}
        self._last: dict[str, tuple[int, int]] = {}

    def __call__(self, text: str) -> tuple[int, int]:
        """Counted tokens, and tokens in a prompt."""
        memory = self._known if len(text) < _SHORT else self._last
        known = memory.get(text)
        if known is None:
            counted = self._count(text)
            known = memory[text] = counted, counted if self._factor == 1.0 else round(counted * self._factor)
            if len(self._last) > _FEW:
                del self._last[next(iter(self._last))]
        return known
