"""View: what the model would see at a turn, carried live from turn to turn.

``view.py`` holds the live fragments, ``rules.py`` what keeps them valid, ``standins.py`` makes what a pass leaves in
place, ``lanes.py`` shows the log by layer to a pass that divides it, ``survival.py`` follows every fragment's form.
"""

from __future__ import annotations

from ctxbudget.view.index import Index
from ctxbudget.view.notices import dropping, freed
from ctxbudget.view.parts import ENGINE, RECORDED, Change, Life, Note, SummaryNote, is_state
from ctxbudget.view.placing import STRIDE
from ctxbudget.view.rules import COMPANIONS, RULES, Broken, cut, mend, message_of
from ctxbudget.view.standins import digested, draft, notice, shortened, stand_in, state_block
from ctxbudget.view.view import View

__all__ = [
    "COMPANIONS",
    "ENGINE",
    "RECORDED",
    "RULES",
    "STRIDE",
    "Broken",
    "Change",
    "Index",
    "Life",
    "Note",
    "SummaryNote",
    "View",
    "cut",
    "digested",
    "draft",
    "dropping",
    "freed",
    "is_state",
    "mend",
    "message_of",
    "notice",
    "shortened",
    "stand_in",
    "state_block",
]
