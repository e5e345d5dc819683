"""What each action of a trace depended on: exact strings, and the earlier fragments that held them.

    evidence = index(trace)
    for use in evidence.of(Signal.EDIT):
        print(use.turn, use.target, use.newest)

The index is exact and needs no model: a use is counted where the very string stands in an earlier fragment. It is made
once per trace and says nothing of strategies; whether a source was still in view is for the reader of a run to ask,
at ``use.turn``, with ``holds`` for stand-ins.

How cases at the edge are counted:

* A call made in the reply of turn n is a use at n. Its sources entered at n or before: not the calls, thoughts and
  results of the same reply. Calls that stand in the first prompt (a demonstration, a resumed history) are sources only.
* Parallel calls count each. Lines that an earlier part of the same reply put in place are not needed from the context.
* A failed edit needed its old text like any other, and is marked. It changed nothing. New files have no old text.
* Sources are fragments of the recorded log. What a recorded compaction inserted is not searched: it exists only in
  ``as-recorded``, and there ``holds`` answers for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence.actions import actions
from ctxbudget.evidence.changes import Changes
from ctxbudget.evidence.finding import argument_uses, edit_use, rare_uses
from ctxbudget.evidence.needs import needs
from ctxbudget.evidence.repeats import Loops, Requests
from ctxbudget.evidence.sources import Sources
from ctxbudget.evidence.stale import stale
from ctxbudget.evidence.standing import holds, stands
from ctxbudget.evidence.uses import Evidence, Signal, Use
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.evidence.needs import Need
    from ctxbudget.trace import Fragment, Trace

__all__ = ["Evidence", "Signal", "Use", "holds", "index", "stands", "wanted"]


def index(trace: Trace, log: Sequence[Fragment] | None = None, wanting: Sequence[Need] | None = None) -> Evidence:
    """The evidence of a trace; near-linear in its text.

    ``log`` takes the place of the trace's own fragments as sources, one for one (a placebo puts other texts there);
    what the calls needed and did is read from the trace all the same, and once for any number of logs where
    ``wanting`` is given (``wanted``).
    """
    wanting = wanted(trace) if wanting is None else wanting
    known = {word for need in wanting for word in need.words()}
    sources = Sources(log if log is not None else trace.fragments, known, carries_thinking=trace.carries_reasoning)
    reading = _Reading(sources, [at for at, fragment in enumerate(trace.fragments) if fragment.kind is Kind.USER])
    for need in wanting:
        if need.action.turn > 0:
            reading.take(need)
        reading.note(need)
    return Evidence(tuple(reading.uses), tuple(reading.partly), tuple(reading.rare))


def wanted(trace: Trace) -> list[Need]:
    """What the calls of a trace needed, in the order of the log."""
    return needs(actions(trace))


class _Reading:
    """The walk through the calls, in the order of the log."""

    def __init__(self, sources: Sources, spoken: list[int]) -> None:
        self.sources = sources
        self.changes, self.requests, self.loops = Changes(), Requests(), Loops(spoken)
        self.uses: list[Use] = []
        self.partly: list[Use] = []
        self.rare: list[Use] = []

    def take(self, need: Need) -> None:
        """The uses of one call."""
        for part, lines in zip(need.parts, need.lines, strict=True):
            if lines:
                use, whole = edit_use(need.action, part, lines, self.sources)
                (self.uses if whole else self.partly).append(use)
                old = stale(use, self.changes, self.requests, self.sources, whole=whole)
                self.uses.extend([old] if old is not None else [])
        named = list(argument_uses(need, self.sources))
        self.uses.extend(named)
        self.rare.extend(rare_uses(need, self.sources, named))
        repeated = self.requests.again(need.action, self.changes), self.loops.again(need.action, self.changes)
        self.uses.extend(use for use in repeated if use is not None)

    def note(self, need: Need) -> None:
        """What the call did, for those that follow."""
        self.changes.note(need)
        self.requests.note(need.action)
