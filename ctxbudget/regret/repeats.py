"""Requests that the recording makes again, split by whether the run still showed the earlier result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence import Signal
from ctxbudget.regret.losses import Repeats
from ctxbudget.regret.sight import WHOLE
from ctxbudget.resources import reads

if TYPE_CHECKING:
    from ctxbudget.evidence import Evidence, Use
    from ctxbudget.regret.sight import Sight
    from ctxbudget.trace import Trace


def repeats(trace: Trace, evidence: Evidence, sight: Sight) -> Repeats:
    """The repeated requests of a trace under a run. Where something had changed since, it was right to ask again."""
    again = [use for use in evidence.of(Signal.AGAIN) if use.changed is None]
    loops = evidence.of(Signal.LOOP)
    unseen = sum(not _seen(use, sight) for use in again)
    inside, outside = _exposure(trace, sight)
    rate = (len(again) - unseen) / inside if inside else 0.0
    hidden = sum(not _seen(use, sight) for use in loops)
    return Repeats(len(again), unseen, len(loops), hidden, rate * outside)


def _seen(use: Use, sight: Sight) -> bool:
    return any(sight.whole(id, use.turn) for id in use.sources)


def _exposure(trace: Trace, sight: Sight) -> tuple[int, int]:
    """Turns that results which could be asked for again spent in view, and out of it, summed."""
    inside = outside = 0
    for fragment in trace.fragments:
        if fragment.answers and fragment.resource is not None and reads(fragment.resource):
            for life in sight.lives.get(fragment.id, ()):
                turns = life.until - life.since + 1
                if life.form == WHOLE:
                    inside += turns
                else:
                    outside += turns
    return inside, outside
