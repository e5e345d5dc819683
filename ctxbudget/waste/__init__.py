"""What a context carries without need.

``copies.py`` follows a log and says which observations are repeated, read again or out of date: ``collect-garbage``
takes them out of a view as they turn up, and ``recorded.py`` tells what a recording carried of them. Nothing true is
lost with these. The others are a matter of opinion, and are only shown: tool definitions that no call used
(``definitions.py``), pages and pictures (``heavy.py``), calls made again and again (``loops.py``), and observations
that nothing came back to (``unused.py``).
"""

from __future__ import annotations

from ctxbudget.waste.copies import Copies, Spent, Why
from ctxbudget.waste.definitions import never_called
from ctxbudget.waste.heavy import heavy
from ctxbudget.waste.loops import loops
from ctxbudget.waste.piece import Piece, observed
from ctxbudget.waste.recorded import Carried, Until, carried
from ctxbudget.waste.unused import unused

__all__ = [
    "Carried", "Copies", "Piece", "Spent", "Until", "Why", "carried", "heavy", "loops", "never_called", "observed",
    "unused",
]  # fmt: skip
