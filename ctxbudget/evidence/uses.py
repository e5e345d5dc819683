"""What was found: uses of exact strings, with the fragments that held them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Signal(StrEnum):
    """Why a call depended on something earlier (the names of docs/evidence.md)."""

    EDIT = "D1"
    """The old text of an edit: lines that some fragment showed."""
    ARGUMENT = "D2"
    """An id, hash, number, path or URL that only an observation held."""
    RARE = "D3"
    """A rare identifier that only an observation held. Shown, never summed."""
    STALE = "D4"
    """An edit by old text whose file had changed after the copy it relied on."""
    AGAIN = "D5"
    """The same resource was asked for before."""
    LOOP = "D6"
    """The same call was made before, and nothing had changed since."""


@dataclass(frozen=True, slots=True)
class Use:
    """One dependence of one call on what came before it."""

    kind: Signal
    turn: int
    """The turn whose reply made the call: its context had to hold a source. Every source entered at it or before."""
    fragment: str
    """Id of the call."""
    text: tuple[str, ...] = ()
    """The exact strings needed, all of them: lines without margins (D1, D4), one string (D2, D3), none (D5, D6)."""
    sources: tuple[str, ...] = ()
    """Ids of recorded fragments that held them, oldest first; at most the 16 oldest and the 64 newest."""
    newest: str | None = None
    target: str | None = None
    """File or resource that the call works on."""
    changed: str | None = None
    """D4, D5: id of the last call known to have changed the target after the newest source; None: not changed."""
    failed: bool = False
    """The call's result reports a failure. It needed its strings all the same."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the actions of a trace depended on. ``uses`` may be counted; the other two are shown apart."""

    uses: tuple[Use, ...]
    """D1 held whole by one fragment, D2, D4, D5, D6, in the order of the calls."""
    partly: tuple[Use, ...]
    """D1 that no single fragment holds: ``sources`` are the newest holders of each line, none if no line was seen."""
    rare: tuple[Use, ...]
    """D3."""

    def of(self, kind: Signal) -> tuple[Use, ...]:
        """The uses of one kind; of D1 only those that one fragment holds whole."""
        return self.rare if kind is Signal.RARE else tuple(use for use in self.uses if use.kind is kind)
