"""What is left of the originals after each generation of a summary.

A summary is made from the one before, so each spot check only sees what that one still named. Here every summary of a
run is held against the originals behind it, which the pass that made it could not see any longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.summaries import entities_in, recall
from ctxbudget.summaries.entities import MOST
from ctxbudget.trace import Form, Kind
from ctxbudget.view import is_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.replay.run import RunTurn
    from ctxbudget.summaries import Entity
    from ctxbudget.trace import Fragment
    from ctxbudget.view import Change


@dataclass(frozen=True, slots=True)
class Generation:
    """One summary of a run, held against everything that it stands for."""

    turn: int
    id: str
    """Of the summary."""
    number: int
    """1 where it was made from originals, 2 where one such was folded in, and so on."""
    tokens: int
    entities: int
    """Different identifiers, amounts, dates and paths of the originals, the first ``entities.MOST``."""
    recall: float
    """The share of them that the summary still names."""


def generations(fragments: Iterable[Fragment], turns: Iterable[RunTurn]) -> tuple[Generation, ...]:
    """Every summary of a run, in order; ``fragments`` is the log. Each original is looked through once."""
    known = {fragment.id: fragment for fragment in fragments}
    behind: dict[str, tuple[int, dict[str, Entity]]] = {}
    return tuple(one for row in turns for change in row.edits for one in _of(row.turn, change, known, behind))


def _of(
    turn: int, change: Change, known: dict[str, Fragment], behind: dict[str, tuple[int, dict[str, Entity]]]
) -> Iterator[Generation]:
    known.update((new.id, new) for new in change.inserted)
    for new in change.inserted:
        form = new.form or change.form
        if new.kind is not Kind.SUMMARY or form is not Form.SUMMARY or is_state(new) or new.id in behind:
            continue
        before = [behind.pop(one) for one in change.removed if one in behind]
        found = _joined([each for _, each in before], (known[one].text for one in change.removed))
        number = 1 + max((each for each, _ in before), default=0)
        behind[new.id] = number, found
        yield Generation(turn, new.id, number, new.tokens, len(found), recall(list(found.values()), new.text))


def _joined(sets: list[dict[str, Entity]], texts: Iterable[str]) -> dict[str, Entity]:
    """What is behind the summaries that were folded in, and what the rest names: at most ``MOST``."""
    found: dict[str, Entity] = {}
    for each in sets:
        found.update(each)
    for entity in entities_in(texts):
        if len(found) >= MOST:
            break
        found.setdefault(entity.key, entity)
    return found
