"""Repeat what the recorded agent did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget.view import RECORDED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Edit
    from ctxbudget.view import View


@dataclass(frozen=True, slots=True)
class AsRecorded:
    """Carry out the compactions that the recorded agent made, where it made them.

    Keeps: what the recorded agent kept.
    Costs: what it cost in the recording.
    Fails: a file that holds no compaction replays as its full log.
    Use when: comparing with what really happened, or checking our counts against the reported ones.
    """

    def plan(self, view: View) -> Iterator[Edit]:
        """The recorded edits of this turn, as far as what they remove is still there."""
        for edit in view.recorded:
            removed = tuple(one for one in edit.removed if one in view)
            if removed or any(new.id not in view.known for new in edit.inserted):
                yield replace(edit, by=RECORDED, removed=removed)
