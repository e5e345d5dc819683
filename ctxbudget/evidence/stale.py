"""D4: edits that relied on a copy of a file which had changed since.

The copy relied on is the newest source of the old text that shows this file: an observation, or what an earlier change
wrote. Where no fragment holds the old text whole, it is the newest read of the file. An edit's own result counts where
it shows the lines (a window, a ``cat -n`` excerpt), so an edit that has just seen them is not stale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence.changes import mentions
from ctxbudget.evidence.sources import is_observed
from ctxbudget.evidence.standing import stands
from ctxbudget.evidence.uses import Signal, Use

if TYPE_CHECKING:
    from ctxbudget.evidence.changes import Change, Changes
    from ctxbudget.evidence.repeats import Requests
    from ctxbudget.evidence.sources import Sources


def stale(use: Use, places: list[int], file: str, changes: Changes, requests: Requests, sources: Sources) -> Use | None:
    """D4 for an edit's ``use`` of old text that the fragments at ``places`` hold whole."""
