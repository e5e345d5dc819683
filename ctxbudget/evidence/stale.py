"""D4: edits that relied on a copy of a file which had changed since.

The copy relied on is the newest source of the old text that shows this file: an observation, or what an earlier change
wrote. Where no such fragment holds the old text whole, it is the newest read of the file. An edit's own result counts
where it shows the lines (a window, a ``cat -n`` excerpt): an edit that has just seen them is not stale.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ctxbudget.evidence.sources import is_observed
from ctxbudget.evidence.standing import holds
from ctxbudget.evidence.uses import Signal

if TYPE_CHECKING:
    from ctxbudget.evidence.changes import Changes
    from ctxbudget.evidence.repeats import Requests
    from ctxbudget.evidence.sources import Sources
    from ctxbudget.evidence.uses import Use
    from ctxbudget.trace import Fragment


def stale(use: Use, changes: Changes, requests: Requests, sources: Sources, *, whole: bool) -> Use | None:
    """D4 for a D1; None where the copy relied on is not older than the file's last change.

    ``whole``: each source holds all the lines.
    """
    file = use.target
    last = changes.of(file, sources.before(use.turn)) if file is not None else None
    if file is None or last is None:
        return None
    copies = [id for id in use.sources if _shows(sources.fragment(id), use, file, changes)] if whole else []
    if not copies:
        copies = [id for asked in requests.reads_of(file, use.turn) for id in asked.ids]
    if not copies or sources.place(copies[-1]) >= last.place:
        return None
    return replace(use, kind=Signal.STALE, sources=tuple(copies), newest=copies[-1], changed=last.id)


def _shows(fragment: Fragment, use: Use, file: str, changes: Changes) -> bool:
    """Whether a source shows the lines as this file's own: it is named there, or this call wrote them."""
    if is_observed(fragment):
        base = file.rstrip("/").rsplit("/", 1)[-1]
        target = fragment.resource.target if fragment.resource is not None else None
        return base in (target or "") or base in fragment.text
    change = changes.by(fragment.id)
    return change is not None and holds("\n".join(change.new), use)
