"""Key terms: the identifiers, amounts, dates and addresses that matter, by who named them and how often."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.summaries.entities import Entity, find
from ctxbudget.summaries.sections import Item
from ctxbudget.trace import Kind, named_turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ctxbudget.summaries.blocks import Piece

_SPEAKER: Mapping[Kind, float] = {
    Kind.USER: 6.0, Kind.CALL: 4.0, Kind.ANSWER: 3.0, Kind.REASONING: 2.0, Kind.PLAN: 2.0,
}  # fmt: skip
"""Worth of being named by the user, used by a call, told by the assistant; anything else is 1."""
_FAILED = 4.0
"""Worth of being named by a failed result."""
_SORT = {"identifier": 1.0, "amount": 1.0, "url": 0.7, "email": 0.7, "date": 0.5}
"""Worth of each sort; paths have a section of their own."""
_ONCE = 0.05
"""What naming it once more in the same text adds."""
_TABLE = 20
"""Different entities of one result that count in full; of a table with more, none matters much."""
_LEAST = 0.4
"""Worth less than this is no key term."""
MOST_WORTH = 30.0
_MOST = 3_000
"""Entities looked at in one text."""
_BEFORE = re.compile(r"([A-Za-z_]{3,24})[\"']?\s?[:=]?\s?[\"'(]?\Z")
_NO_NAME = frozenset({
    "about", "after", "against", "already", "and", "are", "before", "below", "but", "can", "das", "der", "die",
    "does", "each", "for", "from", "had", "has", "have", "into", "its", "les", "los", "more", "most", "not", "now",
    "one", "only", "onto", "over", "para", "per", "que", "than", "that", "the", "their", "then", "there", "these",
    "they", "this", "those", "through", "today", "under", "until", "upon", "using", "was", "were", "when", "which",
    "while", "will", "with", "within", "without", "would", "you", "your",
})  # fmt: skip
"""Words before an entity that do not name it."""


@dataclass(slots=True)
class _Term:
    """An entity as it is being found: its best spelling, the word before it, and what it is worth."""

    entity: Entity
    name: str
    turn: int
    best: float
    worth: float


def terms(pieces: Sequence[Piece], failed: Collection[str]) -> Iterator[Item]:
    """The entities of a span as items; ``failed`` are ids of fragments that report a failure."""
    found: dict[str, _Term] = {}
    for piece in pieces:
        named = [(at, one) for at, one in islice(find(piece.text), _MOST) if one.kind in _SORT]
        if not named:
            continue
        worth = _FAILED if piece.fragment.id in failed else _SPEAKER.get(piece.fragment.kind, 0.0)
        worth = worth or min(1.0, _TABLE / len({one.key for _, one in named}))
        turn, seen = named_turn(piece.fragment), set[str]()
        for at, one in named:
            again = one.key in seen
            seen.add(one.key)
            _note(found, one, _before(piece.text, at), turn, _ONCE if again else worth)
    for key, term in found.items():
        name = f"{term.name} " if term.name else ""
        worth = min(term.worth * _SORT[term.entity.kind], MOST_WORTH)
        if worth >= _LEAST:
            yield Item("terms", f"{name}{term.entity.text} (turn {term.turn})", worth, key=key)


def key_of(text: str) -> str:
    """The key of a term's item that was read back: that of the last entity in it."""
    return next((entity.key for _, entity in reversed(list(find(text.rpartition(" (")[0] or text)))), text)


def _note(found: dict[str, _Term], entity: Entity, name: str, turn: int, worth: float) -> None:
    """Add worth; the spelling and the word before it are those of whoever's naming is worth most."""
    term = found.get(entity.key)
    if term is None:
        found[entity.key] = _Term(entity, name, turn, worth, worth)
        return
    if worth > term.best or (not term.name and worth == term.best):
        term.entity, term.best = entity, worth
        term.name = name or term.name
    term.worth += worth


def _before(text: str, start: int) -> str:
    """The word before an entity where it names it: ``invoice #8842``, ``"request_id": "rq-…"``."""
    before = _BEFORE.search(text, max(0, start - 30), start)
    return before[1] if before and before[1].lower() not in _NO_NAME else ""
