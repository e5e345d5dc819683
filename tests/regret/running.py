"""Runs of told traces, small enough that every preset has something to do."""

from __future__ import annotations

from dataclasses import dataclass

from ctxbudget.evidence import index
from ctxbudget.regret import regret, touched
from ctxbudget.replay import replay, view_at
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.strategy.naming import STRATEGIES, find
from ctxbudget.trace import Edit, Form
from ctxbudget.view import stand_in

WINDOW = 1_500
TIGHT = {
    "boundary": ["cap=20"],
    "compaction": ["when=400", "summarize.to=60", "summarize.floor=0"],
    "external-memory": ["over=20", "line=15"],
    "sliding-window": ["sliding-window.keep=4"],
    "tool-result-clearing": ["clear-tool-results.when=400", "clear-tool-results.keep=1"],
}
"""Presets whose own numbers are for long sessions."""


def count(text):
    return (len(text) + 3) // 4


def presets():
    return {name: find(name, settings=TIGHT.get(name, ())) for name in STRATEGIES.names()}


def run_of(trace, strategy="none", window=WINDOW):
    return replay(trace, strategy, window=window, count=count)


def regret_of(trace, strategy="none", window=WINDOW):
    return regret(trace, run_of(trace, strategy, window), index(trace), touched(trace))


def seen(trace, strategy, turn, window=WINDOW):
    """The fragments that a turn would be sent."""
    return list(view_at(trace, strategy, turn, window=window, count=count).fragments())


@dataclass(frozen=True, slots=True)
class Swap:
    """At one turn, one fragment's text becomes another; without one its unit goes."""

    id: str = ""
    at: int = 0
    text: str | None = None
    form: str = "cleared"

    def plan(self, view):
        if view.turn != self.at:
            return
        old = view.known[self.id]
        if self.text is None:
            yield Edit("swap", tuple(one.id for one in view.units.members(old)))
            return
        new = stand_in(view, old, self.text, Form(self.form))
        yield Edit("swap", (self.id,), (new,), Form(self.form))


def swapping(*swaps):
    return Strategy("swap", tuple(Stage(passes=(one,)) for one in swaps))
