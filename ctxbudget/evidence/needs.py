"""What each call needed, before anybody looks for who held it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.evidence.edits import added, needles, parts
from ctxbudget.evidence.standing import words
from ctxbudget.evidence.strings import identifiers, strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.evidence.actions import Action
    from ctxbudget.evidence.hunks import Part


@dataclass(frozen=True, slots=True)
class Need:
    """The exact strings of one call: the parts of an edit with their lines, the strings of D2, the names of D3."""

    action: Action
    parts: tuple[Part, ...]
    lines: tuple[tuple[str, ...], ...]
    """Of each part, the lines that the context had to hold."""
    strings: tuple[str, ...]
    names: tuple[str, ...]

    def words(self) -> Iterator[str]:
        """The words of everything that will be looked for."""
        for needle in (*(line for lines in self.lines for line in lines), *self.strings, *self.names):
            yield from words(needle)


def needs(acts: Sequence[Action]) -> list[Need]:
    """The needs of every call, in order.

    Lines that an earlier part of the same reply put in place are not needed from the context: a second edit of one
    MultiEdit, or of a parallel call, may build on the first.
    """
    found = []
    reply, own = -1, set[str]()
    for action in acts:
        if action.turn != reply:
            reply, own = action.turn, set()
        lines, pieces = [], tuple(parts(action))
        for part in pieces:
            lines.append(tuple(line for line in needles(part.old) if line not in own))
            own |= added(part)
        found.append(Need(action, pieces, tuple(lines), strings(action), identifiers(action)))
    return found
