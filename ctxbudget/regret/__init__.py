"""Regret: what later actions needed and a run would not have shown them. Exact, and without a model.

    found = regret(trace, run, index(trace), touched(trace))
    for loss in found.losses:
        print(loss.use.turn, loss.use.target, loss.gone, loss.tokens)

A use of a string (D1, D2) is in view where the context of its turn holds a source whole, or a stand-in, summary or
notice whose own text still holds the string. Where neither is so, it is a loss, or a recall if a source is in an
external store then. A replay follows the recorded log: what the agent read again by itself is in it already and
costs nothing extra. A loss says that the only visible source was gone, and never that a task would have failed.

Signals that a placebo finds too often are followed in the same way, and stand apart (``shown``): nothing adds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence import Signal
from ctxbudget.regret.losses import COUNTED, Loss, Regret, Repeats, Trail
from ctxbudget.regret.repeats import repeats
from ctxbudget.regret.sight import Sight
from ctxbudget.regret.trail import touched, trail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxbudget.evidence import Evidence, Use
    from ctxbudget.replay import Run
    from ctxbudget.trace import Fragment, Trace

__all__ = ["COUNTED", "Loss", "Regret", "Repeats", "Sight", "Trail", "missed", "regret", "touched"]


def regret(
    trace: Trace,
    run: Run,
    evidence: Evidence,
    files: Mapping[str, Fragment],
    sight: Sight | None = None,
    counted: Sequence[Signal] = COUNTED,
) -> Regret:
    """What a run of ``trace`` would have taken away before it was needed.

    ``evidence`` is the trace's index and ``files`` what it touched (``touched``): both are the same for every run of a
    trace, and made once. ``counted`` are the signals that may be added up. Near-linear: each use asks for one turn of
    its sources' lives.
    """
    sight = sight or Sight(trace, run)
    last = run.turns[-1].turn if run.turns else 0
    losses, recalls = _gone(trace, evidence, sight, counted)
    shown, _ = _gone(trace, evidence, sight, [kind for kind in COUNTED if kind not in counted])
    return Regret(
        losses=losses,
        recalls=recalls,
        shown=shown,
        stale=tuple(use for use in evidence.of(Signal.STALE) if _relied_on(use, sight)),
        rare=sum(not sight.shows(use) for use in evidence.rare),
        repeats=repeats(trace, evidence, sight),
        trail=trail(files, sight, last),
    )


def _gone(
    trace: Trace, evidence: Evidence, sight: Sight, kinds: Sequence[Signal]
) -> tuple[tuple[Loss, ...], tuple[Loss, ...]]:
    """The losses of some signals, and the recalls."""
    fetches, recalls = _Fetches(trace, sight), _Fetches(trace, sight)
    losses, recalled = [], []
    for use in evidence.uses if kinds else ():
        if use.kind in kinds and not sight.shows(use):
            stored = sight.stored(use)
            if stored:
                recalled.append(recalls.loss(use, stored))
            else:
                losses.append(fetches.loss(use, use.sources))
    return tuple(losses), tuple(recalled)


def missed(uses: Sequence[Use], sight: Sight) -> int:
    """How many of some uses (of a placebo) have no source whole in view. Stand-ins do not count: their texts are of
    this trace, and the sources of a placebo are not.
    """
    return sum(not any(sight.whole(id, use.turn) for id in use.sources) for use in uses)


def _relied_on(use: Use, sight: Sight) -> bool:
    """Whether an old copy stood in view and the change that made it old did not."""
    return sight.shows(use) and not (use.changed is not None and sight.whole(use.changed, use.turn))


class _Fetches:
    """What has to be fetched, each source once per gap."""

    def __init__(self, trace: Trace, sight: Sight) -> None:
        self.trace, self.sight = trace, sight
        self._done: set[tuple[str, int]] = set()

    def loss(self, use: Use, ids: Sequence[str]) -> Loss:
        """A use without a source in view; ``ids`` are those that may be fetched."""
        gaps = {id: self.sight.gap(id, use.turn) for id in use.sources}
        last = max(use.sources, key=lambda id: (gaps[id], self.sight.place[id]))
        gone = max(gaps[last], self.sight.inserted.last(use) + 1)
        life = self.sight.life(last, gone)
        done = next((id for id in ids if (id, gaps[id]) in self._done), None)
        cheapest = done or min(ids, key=lambda id: (self._tokens(id), -self.sight.place[id]))
        self._done.add((cheapest, gaps[cheapest]))
        form, by = (life.form, life.by) if life is not None else ("lost", "")
        return Loss(use, last, gone, form, by, cheapest, 0 if done else self._tokens(cheapest))

    def _tokens(self, id: str) -> int:
        return self.trace.fragments[self.sight.place[id]].tokens
