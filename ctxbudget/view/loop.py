"""The unfinished tool loop: what came since the last user text or final answer, while calls and results alternate.

Providers want the thinking of such a loop back unchanged (Anthropic, extended thinking with tools), and agents such
as OpenHands keep a loop opened by thinking in one piece. Here each thinking of the loop opens a stretch: itself and
the units up to the next thinking. It stays whole while a unit of its stretch is in view, and is free to go after;
the newest thinking stays as long as the loop goes on, for the next reply may rest on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from ctxbudget.trace import Fragment

_FINISHING = frozenset({Kind.USER, Kind.ANSWER, Kind.SUMMARY})


@dataclass(slots=True)
class Stretch:
    """Thinking of one reply, and the units that rest on it: its own calls and those of later replies without any."""

    start: int
    """Place of its first thinking."""
    message: int
    thinking: list[Fragment] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    end: int = 0
    """Place of the newest call that rests on it."""
    live: int = 0
    """How many of its units are in view."""
    shown: int = 0
    """How many of its thinking are in view."""

    @property
    def tokens(self) -> int:
        """What its thinking costs."""
        return sum(fragment.tokens for fragment in self.thinking)


class Loop:
    """The stretches of the unfinished loop; empty where it holds no thinking."""

    __slots__ = ("holder", "home", "idle", "since", "stretches", "units")

    def __init__(self) -> None:
        """No loop yet."""
        self.clear(0)

    def clear(self, place: int) -> None:
        """The loop is finished; the next one begins at ``place``."""
        self.since = place
        self.stretches: list[Stretch] = []
        self.holder: dict[str, Stretch] = {}
        """Thinking by id, to its stretch."""
        self.home: dict[str, Stretch] = {}
        """Unit to the stretch it rests on."""
        self.idle: dict[int, Stretch] = {}
        """Stretches by start whose thinking is in view though nothing there rests on it, the newest aside."""
        self.units: set[str] = set()
        """Every unit of the loop."""

    def enter(self, place: int, fragment: Fragment) -> bool:
        """A recorded fragment entered the log; True where it finished a loop."""
        if fragment.kind in _FINISHING:
            self.clear(place)
            return True
        if fragment.kind is Kind.THINKING:
            self._think(place, fragment)
        elif fragment.asks:
            self._call(place, fragment)
        return False

    def _think(self, place: int, fragment: Fragment) -> None:
        last = self.stretches[-1] if self.stretches else None
        if last is None or last.message != fragment.message:
            before, last = last, Stretch(place, fragment.message, end=place)
            self.stretches.append(last)
            if before is not None:
                self._rest(before)
        last.thinking.append(fragment)
        last.end = place
        self.holder[fragment.id] = last

    def _call(self, place: int, fragment: Fragment) -> None:
        if fragment.unit not in self.units and self.stretches:
            self.stretches[-1].units.append(fragment.unit)
            self.home[fragment.unit] = self.stretches[-1]
        self.units.add(fragment.unit)
        if self.stretches:
            self.stretches[-1].end = place

    def revived(self, unit: str) -> None:
        """A unit has its first fragment in view."""
        if unit in self.home:
            self.home[unit].live += 1
            self._rest(self.home[unit])

    def emptied(self, unit: str) -> None:
        """A unit has no fragment in view any longer."""
        if unit in self.home:
            self.home[unit].live -= 1
            self._rest(self.home[unit])

    def show(self, id: str, sign: int) -> None:
        """Thinking came into the view (``sign`` 1) or left it (-1)."""
        if id in self.holder:
            self.holder[id].shown += sign
            self._rest(self.holder[id])

    def keeps(self, id: str) -> bool:
        """Whether this is thinking that cannot leave alone: something in view rests on it, or the next reply may."""
        stretch = self.holder.get(id)
        return stretch is not None and (stretch.live > 0 or stretch is self.stretches[-1])

    def _rest(self, stretch: Stretch) -> None:
        if stretch.shown and not stretch.live and stretch is not self.stretches[-1]:
            self.idle[stretch.start] = stretch
        else:
            self.idle.pop(stretch.start, None)

    def release(self, ids: Collection[str]) -> None:
        """Thinking that the recorded agent itself removed is not held."""
        for one in ids:
            stretch = self.holder.pop(one, None)
            if stretch is not None:
                stretch.thinking = [fragment for fragment in stretch.thinking if fragment.id != one]
                self.idle.pop(stretch.start, None)
