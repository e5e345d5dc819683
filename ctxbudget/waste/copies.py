"""Which observations nobody needs any longer, as the log grows: repeated, read again, or out of date.

    copies = Copies()
    for fragment in log:
        for spent in copies.enter(fragment, stands):
            ...     # spent.fragment may go since spent.turn; spent.by says why

Nothing looks ahead, and every verdict rests on the text itself:

* A text that comes again to the letter leaves the newest (``repeated``). Copies of files have rules of their own: two
  files may look the same and part ways later.
* A copy of a file that stands in another one, the same lines at the same places, may go (``reread``). The newer stays,
  unless it shows less.
* A copy that shows a line which a successful edit or write replaced is ``stale``, and so is one that a newer copy
  contradicts: the whole copy, though its other lines may still be true. What an unknown command may have changed counts
  as unchanged until it is seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ctxbudget.digests._envelope import unwrapped
from ctxbudget.evidence.actions import BY_TEXT, Action
from ctxbudget.evidence.arguments import arguments
from ctxbudget.evidence.sources import is_observed
from ctxbudget.resources import READ, same_path, targets
from ctxbudget.waste.contents import Copy, akin, changed, holds, numbered, part
from ctxbudget.waste.files import Files
from ctxbudget.waste.refusals import refused
from ctxbudget.waste.touched import Touched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.waste.contents import Span

LEAST = 50
"""Tokens below which an observation is not looked at: a marker in its place would cost as much."""
NEAREST = 16
"""Copies of one file, the newest ones, that a new one is held against: a bound on work."""


class Why(StrEnum):
    """Why an observation may go."""

    REPEATED = "repeated"
    """The same text came again."""
    REREAD = "reread"
    """Another copy of the file shows the same lines."""
    STALE = "stale"
    """The file has changed since."""


@dataclass(frozen=True, slots=True)
class Spent:
    """An observation that may go: ``by`` is the copy that stays or, where it is stale, what changed the file (a call)
    or shows that it changed (a newer copy). A spent copy may be named again, as stale, when the file changes."""

    fragment: Fragment
    why: Why
    turn: int
    by: Fragment


@dataclass(slots=True, eq=False)
class _Held:
    """A copy of a file that stays, and the spent ones whose content it carries."""

    copy: Copy
    behind: list[Fragment] = field(default_factory=list)

    def stale(self, turn: int, by: Fragment) -> Iterator[Spent]:
        """It and all that it carried are out of date."""
        for one in (*self.behind, self.copy.fragment):
            yield Spent(one, Why.STALE, turn, by)

    def carry(self, other: _Held) -> None:
        """``other`` goes in favour of this one."""
        small, large = sorted((self.behind, other.behind), key=len)
        large.extend(small)
        large.append(other.copy.fragment)
        self.behind = large


class Copies:
    """What stands in a context twice or no longer holds, fragment by fragment in the order of the log."""

    def __init__(self, least: int = LEAST) -> None:
        """``least`` is the smallest observation that counts, in tokens."""
        self._least = least
        self._calls: dict[str | None, Fragment] = {}
        self._wrote: dict[str | None, tuple[str, ...]] = {}
        """The files that each call changed, once it was answered."""
        self._files: Files[list[_Held]] = Files(list)
        self._texts: dict[tuple[int, int], Fragment] = {}

    def enter(self, fragment: Fragment, stands: Callable[[str], bool]) -> Iterator[Spent]:
        """What may go now that this fragment has entered. ``stands`` tells whether an earlier one is still in the
        context, whole: what has left it makes nothing redundant."""
        if fragment.asks:
            self._calls[fragment.call] = fragment
            self._wrote.pop(fragment.call, None)
        elif is_observed(fragment):
            call = self._calls.get(fragment.call) if fragment.call is not None else None
            if call is not None and call.call not in self._wrote and _writes(call):
                yield from self._changed(call, fragment)
            if fragment.tokens >= self._least and fragment.text:
                file, copy = self._copy(fragment, call)
                yield from self._said(fragment, stands) if file is None else self._read(file, _Held(copy), stands)

    def _changed(self, call: Fragment, answer: Fragment) -> Iterator[Spent]:
        """The first answer to a call that writes: the earlier copies of its files are out of date."""
        done = Action(0, call, arguments(call), (answer,))
        files = () if done.failed or refused(answer.text) else done.files
        self._wrote[call.call] = files
        touched = Touched(done)
        for file in files:
            self._files.of(file)
            for record in self._files.same(file):
                standing, record[:] = record[:], ()
                for held in standing:
                    if touched(held.copy, file):
                        yield from held.stale(answer.turn, call)
                    else:
                        record.append(held)

    def _copy(self, fragment: Fragment, call: Fragment | None) -> tuple[str | None, Copy]:
        """The file that an observation shows, and which lines; no file where it is something else.

        An edit often answers with the lines round the change, numbered: a copy like any other.
        """
        wrote = self._wrote.get(fragment.call, ())
        if len(wrote) == 1:
            lines = numbered(fragment)
            return (None if lines is None else wrote[0]), Copy(fragment, lines)
        if call is None or call.resource is None or fragment.error or not _one_file(call):
            return None, Copy(fragment)
        return call.resource.target, Copy(fragment, call.resource.span or part(fragment))

    def _read(self, file: str, new: _Held, stands: Callable[[str], bool]) -> Iterator[Spent]:
        """A copy of a file came in: hold it against those that stand, of each range of lines the newest."""
        entered = new.copy.fragment
        own = self._files.of(file)
        for record in list(self._files.same(file)):
            ranges: set[Span | None] = set()
            for old in record[: -NEAREST - 1 : -1]:
                other = old.copy.fragment
                if not stands(other.id):
                    record.remove(old)
                    continue
                nearest = old.copy.span not in ranges
                ranges.add(old.copy.span)
                if not (nearest and akin(entered, other)):
                    continue
                if holds(new.copy, old.copy):
                    record.remove(old)
                    new.carry(old)
                    yield Spent(other, Why.REREAD, entered.turn, entered)
                elif holds(old.copy, new.copy):
                    old.carry(new)
                    yield Spent(entered, Why.REREAD, entered.turn, other)
                    return
                elif changed(new.copy, old.copy):
                    record.remove(old)
                    yield from old.stale(entered.turn, entered)
        own.append(new)

    def _said(self, fragment: Fragment, stands: Callable[[str], bool]) -> Iterator[Spent]:
        """Any other observation: has its very text been here before?"""
        text = unwrapped(fragment.text)[0]
        key = len(text), hash(text)
        old = self._texts.get(key)
        if old is not None and stands(old.id) and unwrapped(old.text)[0] == text:
            yield Spent(old, Why.REPEATED, fragment.turn, fragment)
        self._texts[key] = fragment


def _writes(call: Fragment) -> bool:
    return call.resource is not None and call.resource.cls in BY_TEXT


def _one_file(call: Fragment) -> bool:
    """Whether a call reads one file, in one piece."""
    resource = call.resource
    if resource is None or resource.cls != READ or not resource.target:
        return False
    if " " not in resource.target and ";" not in resource.target:
        return True
    named = targets(call.tool or "", arguments(call))
    return len(named) == 1 and same_path(named[0], resource.target)
