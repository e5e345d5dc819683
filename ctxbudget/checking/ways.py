"""The cheapest ways down: what strategies would have made of the quantity that broke a limit, on the same trace.

They are tried in the order of what they give up: first what removes nothing true (collect-garbage), then what can be
fetched again (old results cleared, observations kept in a store or shortened where they enter), then presets that
summarise or drop. The first two that would have been enough are the cheapest; where fewer are, the lowest follow.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ctxbudget.checking.measured import Measured, replayed
from ctxbudget.findings import GREW, LARGE_RESULT, LAYER_OVER, OVER_BUDGET, OVER_WINDOW
from ctxbudget.models import Window
from ctxbudget.report.check import WayDown
from ctxbudget.strategy.naming import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.checking.breaches import Breach
    from ctxbudget.layers import Scheme
    from ctxbudget.prepared import Prepared
    from ctxbudget.replay import Run

MOST: Final = 2
_PLAIN: Final = re.compile(r"[\w-]+")
_WHOLE: Final = ("collect-garbage", "clear-tool-results:when={most}", "five-layer", "sliding-window")
_CLEARED: Final = "clear-tool-results:clear-tool-results.when_layer.{layer}={most}"
_LAYER: Final = ("collect-garbage", _CLEARED, "boundary", "sliding-window")
_ENTRY: Final = ("collect-garbage", "external-memory", "boundary")
_TRIED: Final = {
    OVER_WINDOW.id: _WHOLE, OVER_BUDGET.id: _WHOLE, LAYER_OVER.id: _LAYER, GREW.id: _ENTRY, LARGE_RESULT.id: _ENTRY,
}  # fmt: skip
_WITHIN: Final = frozenset({"five-layer", "sliding-window"})
"""Presets whose triggers are shares of the window: of the whole's limit they are given the limit for a window."""


@dataclass(slots=True)
class Replays:
    """Replays of one trace, each made once. ``flags`` are what a command repeats to show the same (``--window 9k``)."""

    base: Prepared
    flags: tuple[str, ...] = ()
    _done: dict[tuple[str, int, str], Measured] = field(default_factory=dict)

    def measured(self, strategy: str, scheme: Scheme, window: int) -> Measured:
        """The trace under a strategy, in a window of so many tokens."""
        key = (strategy, window, scheme.name)
        if key not in self._done:

            def again(wanted: Scheme) -> Run:
                reserve = self.base.reserve if self.base.reserve < window else 0
                limit = Window(window, "a limit")
                return replace(
                    self.base, strategy=find(strategy), scheme=wanted, window=limit, reserve=reserve
                ).run()  # fmt: skip

            self._done[key] = replayed(self.base.trace, again(scheme), again)
        return self._done[key]


def ways_down(breach: Breach, measured: Measured, replays: Replays) -> list[WayDown]:
    """The two cheapest ways down from a breach of ``measured``; fewer where nothing makes it smaller."""
    enough: list[WayDown] = []
    lower: list[WayDown] = []
    for way in _ways(breach, measured, replays):
        (enough if way.enough else lower).append(way)
        if len(enough) == MOST:
            break
    lower.sort(key=lambda way: way.tokens)
    return [*enough, *lower][:MOST]


def _ways(breach: Breach, measured: Measured, replays: Replays) -> Iterator[WayDown]:
    most, before = breach.most, breach.measured
    scheme = (breach.limit.wish.scheme if breach.limit is not None else None) or replays.base.scheme
    if most is None or most < 2 or before is None:  # up to 1 an amount would be a share
        return
    for pattern in _TRIED.get(breach.rule.id, ()):
        strategy = pattern.format(most=most, layer=breach.layers[0] if breach.layers else "")
        if breach.layers and not _PLAIN.fullmatch(breach.layers[0]):
            continue  # no name that a command line could carry
        narrow = strategy in _WITHIN and breach.rule.id != LAYER_OVER.id
        window = min(most, replays.base.window.tokens) if narrow else replays.base.window.tokens
        after = _amount(breach, measured, replays.measured(strategy, scheme, window))
        if after < before:
            yield _told(strategy, after, most, _command(replays, strategy, scheme, window if narrow else None))


def _amount(breach: Breach, measured: Measured, after: Measured) -> int:
    """The same quantity under the strategy. Of the whole, what the provider counts beyond our count of a turn stays."""
    match breach.rule.id:
        case LAYER_OVER.id:
            scheme = breach.limit.wish.scheme if breach.limit is not None else None
            rows = after.by_layer(scheme) if scheme is not None else []
            return max((sum(row[name] for name in breach.layers) for row in rows), default=0)
        case GREW.id:
            return sum(one.tokens for one in after.arrivals(breach.turn or 0))
        case LARGE_RESULT.id:
            call = breach.fragment.call if breach.fragment is not None else None
            left = after.results.get((breach.turn or 0, call or ""))
            return left.tokens if left is not None else 0
        case _:
            pairs = zip(after.turns, measured.turns, strict=True)
            return max((turn.size + old.size - old.estimated for turn, old in pairs), default=0)


def _told(strategy: str, after: int, most: int, command: str) -> WayDown:
    enough = after <= most
    name = strategy.partition(":")[0]
    text = f"{name} would have brought it to ~{after:,} tokens, {'within' if enough else 'still over'} the limit"
    return WayDown(name, after, enough, command, text)


def _command(replays: Replays, strategy: str, scheme: Scheme, window: int | None) -> str:
    trace = replays.base.trace
    label = trace.source.label
    path = trace.source.path if label is None else f"{trace.source.path}#{label}"
    words = ["ctxbudget", "replay", path, "--strategy", strategy]
    if scheme.name != "agent":
        words += ["--scheme", scheme.name]
    words += ["--window", str(window)] if window is not None else replays.flags
    return shlex.join(words)
