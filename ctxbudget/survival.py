"""Constraint survival: which sentences and must-keep facts each turn's view still shows word by word.

Followed along the edits of a run: a sentence can only be lost when a fragment that holds it leaves the view, and comes
back when one enters, an original, a stand-in or a summary. Each text is searched once, when its fragment first enters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxbudget.constraints import constraints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ctxbudget.constraints import Fact
    from ctxbudget.replay import Run
    from ctxbudget.trace import Fragment, Trace


MUST_KEEP = "must-keep"
"""The source of what the user asked for."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A sentence to look for: where it was said, and whether a text shows it. A pattern is not ``literal``."""

    text: str
    source: str
    line: int | None
    visible: Callable[[str], bool]
    literal: bool = True


def sought(trace: Trace, facts: Sequence[Fact] = ()) -> list[Sought]:
    """The user's facts, then the constraints of a trace that are not among them."""
    asked = [Sought(fact.raw, MUST_KEEP, None, fact.visible, fact.pattern is None) for fact in facts]
    known = {" ".join(one.text.split()) for one in asked}
    said = (one for one in constraints(trace) if " ".join(one.text.split()) not in known)
    return [*asked, *(Sought(one.text, one.source, one.line, one.visible) for one in said)]


@dataclass(frozen=True, slots=True)
class Gap:
    """Turns, both inclusive, at which nothing in view showed it; ``by`` removed what showed it last."""

    since: int
    until: int
    by: str


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one sentence: ``said`` is the first turn whose arrivals held it, None where none did."""

    said: int | None
    gaps: tuple[Gap, ...] = ()

    @property
    def lost_at(self) -> int | None:
        """The first turn at which it was gone."""
        return self.gaps[0].since if self.gaps else None

    @property
    def kept(self) -> bool:
        """Whether it was visible at every turn since it was said."""
        return self.said is not None and not self.gaps


class Finder:
    """Finds which of some sentences a fragment holds. A text is cut into words once, whatever number there are."""

    def __init__(self, sentences: Sequence[Sought]) -> None:
        """``sentences`` are known by their number from then on."""
        self.sentences = sentences
        self._anchored: dict[str, list[int]] = {}
        self._scanned: list[int] = []
        self._inner: dict[int, frozenset[str]] = {}
        self._found: dict[str, tuple[int, ...]] = {}
        for number, sentence in enumerate(sentences):
            self._anchor(number, sentence.text.split()[1:-1] if sentence.literal else [])

    def _anchor(self, number: int, inner: list[str]) -> None:
        """Words between the first and the last stand in a text just so, with white space round them: where the
        longest of them is missing, so is the sentence. Without such a word the text itself is looked at.
        """
        if not inner:
            self._scanned.append(number)
            return
        self._inner[number] = frozenset(inner)
        self._anchored.setdefault(max(inner, key=len), []).append(number)

    def __call__(self, fragment: Fragment) -> tuple[int, ...]:
        """The numbers of the sentences that its text shows, in order."""
        found = self._found.get(fragment.id)
        if found is None:
            found = self._found[fragment.id] = tuple(sorted(self._search(fragment.text)))
        return found

    def _search(self, text: str) -> Iterator[int]:
        if not text:
            return
        words = set(text.split()) if self._anchored else set()
        near = (number for anchor in self._anchored.keys() & words for number in self._anchored[anchor])
        likely = [number for number in near if self._inner[number] <= words]
        yield from (number for number in (*likely, *self._scanned) if self.sentences[number].visible(text))


@dataclass(slots=True)
class _Watched:
    """One sentence while the run is followed."""

    said: int | None = None
    holders: int = 0
    by: str = ""
    """Who removed its last holder."""
    since: int | None = None
    """Turn since which it is gone."""
    gaps: list[Gap] = field(default_factory=list)


def follow(trace: Trace, run: Run, finder: Finder) -> list[Fate]:
    """The fate of each of the finder's sentences in a run of ``trace``."""
    watched = [_Watched() for _ in finder.sentences]
    touched: set[int] = set()
    held: dict[str, tuple[int, ...]] = {}

    def enter(fragments: Iterable[Fragment], turn: int) -> None:
        for fragment in fragments:
            found = finder(fragment)
            if found:
                held[fragment.id] = found
                touched.update(found)
            for one in found:
                watched[one].holders += 1
                watched[one].said = watched[one].said or turn

    def leave(ids: Iterable[str], by: str) -> None:
        for one in (one for id in ids for one in held.pop(id, ())):
            watched[one].holders -= 1
            watched[one].by = by
            touched.add(one)

    for row in run.turns:
        enter(trace.entering(trace.turns[row.turn - 1]), row.turn)
        for change in row.edits:
            leave(change.removed, change.by)
            enter(change.inserted, row.turn)
        for one in touched:
            _settle(watched[one], row.turn)
        touched.clear()
    last = run.turns[-1].turn if run.turns else 0
    return [_fate(one, last) for one in watched]


def _settle(one: _Watched, turn: int) -> None:
    """The view of a turn is final: a gap opens, goes on or ends."""
    if one.holders == 0:
        one.since = turn if one.since is None else one.since
    elif one.since is not None:
        one.gaps.append(Gap(one.since, turn - 1, one.by))
        one.since = None


def _fate(one: _Watched, last: int) -> Fate:
    still = () if one.since is None else (Gap(one.since, last, one.by),)
    return Fate(one.said, (*one.gaps, *still))
