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
        return sum([fragment.tokens for fragment in self.thinking])


class Loop:
    """The stretches of the unfinished loop; empty where it holds no thinking."""

    __slots__ = ("holder", "home", "idle", "since", "stretches", "torn", "units")

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
        self.torn: list[Stretch] = []
        """Those that lost thinking, or to which a unit came back, until the rules have seen that nothing is missing."""

    def enter(self, place: int, fragment: Fragment) -> bool:
        """A recorded fragment entered the log; True where it finished a loop."""
        kind = fragment.kind
        if kind is Kind.THINKING:
            self._think(place, fragment)
        elif kind in _FINISHING:
            self.clear(place)
            return True
        elif fragment.call is not None and fragment.role == "assistant":
            self._call(place, fragment)
        return False

    def _think(self, place: int, fragment: Fragment) -> None:
        stretches = self.stretches
        if not stretches or stretches[-1].message != fragment.message:
            stretches.append(Stretch(place, fragment.message))
            if len(stretches) > 1:
                self._rest(stretches[-2])
        last = self.holder[fragment.id] = stretches[-1]
        last.thinking.append(fragment)
        last.end = place

    def _call(self, place: int, fragment: Fragment) -> None:
        last, unit = self.stretches[-1] if self.stretches else None, fragment.unit
        if last is not None:
            if unit not in self.units:
                last.units.append(unit)
                self.home[unit] = last
            last.end = place
        self.units.add(unit)

    def revived(self, unit: str) -> None:
        """A unit has its first fragment in view."""
        stretch = self.home.get(unit)
        if stretch is not None:
            stretch.live += 1
            if stretch is not self.stretches[-1]:
                self.torn.append(stretch)
                self._rest(stretch)

    def emptied(self, unit: str) -> None:
        """A unit has no fragment in view any longer."""
        stretch = self.home.get(unit)
        if stretch is not None:
            stretch.live -= 1
            if stretch.live <= 0:
                self._rest(stretch)

    def show(self, id: str, sign: int) -> None:
        """Thinking came into the view (``sign`` 1) or left it (-1)."""
        stretch = self.holder.get(id)
        if stretch is None:
            return
        stretch.shown += sign
        if sign < 0:
            self.torn.append(stretch)
        if stretch is not self.stretches[-1] and not stretch.live:
            self._rest(stretch)

    def keeps(self, id: str) -> bool:
        """Whether this is thinking that cannot leave alone: something in view rests on it, or the next reply may."""
        stretch = self.holder.get(id)
        return stretch is not None and (stretch.live > 0 or stretch is self.stretches[-1])

    def _rest(self, stretch: Stretch) -> None:
        """Whether its thinking is idle: asked where that may have changed."""
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
