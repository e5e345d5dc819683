"""The log as it is searched: which fragments hold a string. Built once, from words to places.

Only words that some needle has are kept. A needle is looked for where its rarest word stands, and then read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from ctxbudget.evidence.standing import all_stand, stands, words
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ctxbudget.trace import Fragment

OLDEST, NEWEST = 16, 64
"""How many candidates are read where more hold the rarest word: a bound on work and on the size of the answer."""

_OBSERVED = frozenset({Kind.RESULT, Kind.RETRIEVAL, Kind.MEDIA})


class Sources:
    """Answers who held what. Places are indexes into the log; ``stop`` is the first place that is out of reach."""

    def __init__(self, log: Sequence[Fragment], wanted: Iterable[str], *, carries_thinking: bool = True) -> None:
        """``wanted`` are the words of all needles; without ``carries_thinking`` a thought is no source."""
        self.log = log
        self._turns = [fragment.turn for fragment in log]
        self._places = {fragment.id: place for place, fragment in enumerate(log)}
        self._seen: dict[str, list[int]] = {}
        self._said: dict[str, list[int]] = {}
        self._first: dict[str, int] = {}
        known = set(wanted)
        for place, fragment in enumerate(log):
            if not fragment.text or not (carries_thinking or fragment.kind is not Kind.THINKING):
                continue
            posted = self._seen if is_observed(fragment) else self._said
            for word in known.intersection(words(fragment.text)):
                posted.setdefault(word, []).append(place)

    def before(self, turn: int) -> int:
        """The first place that the context of ``turn`` could not hold."""
        return bisect_right(self._turns, turn)

    def place(self, id: str) -> int:
        """Where in the log a fragment stands."""
        return self._places[id]

    def fragment(self, id: str) -> Fragment:
        """The fragment of that name."""
        return self.log[self._places[id]]

    def holders(self, needles: Sequence[str], stop: int) -> list[int]:
        """The fragments before ``stop`` that hold all needles, in order."""
        return sorted([*_read(self.log, self._seen, needles, stop), *_read(self.log, self._said, needles, stop)])

    def observed(self, needle: str, stop: int) -> list[int]:
        """The observations before ``stop`` that hold the needle."""
        return list(_read(self.log, self._seen, (needle,), stop))

    def said(self, needle: str) -> int:
        """The first fragment that holds the needle and is no observation; the length of the log if there is none."""
        if needle not in self._first:
            places = _rarest(self._said, (needle,))
            held = (place for place in places if stands(needle, self.log[place].text))
            self._first[needle] = next(held, len(self.log))
        return self._first[needle]

    def frequency(self, word: str, stop: int) -> int:
        """How many observations before ``stop`` hold a single word."""
        return bisect_left(self._seen.get(word, ()), stop)


def is_observed(fragment: Fragment) -> bool:
    """Whether it is what a tool answered, and not what anybody said or asked."""
    return fragment.answers or fragment.kind in _OBSERVED


def _read(log: Sequence[Fragment], posted: dict[str, list[int]], needles: Sequence[str], stop: int) -> Iterator[int]:
    places = _rarest(posted, needles)
    known: dict[str, bool] = {}
    for place in _bounded(places, bisect_left(places, stop)):
        text = log[place].text
        if text not in known:  # copies of one file are read once
            known[text] = all_stand(needles, text)
        if known[text]:
            yield place


def _rarest(posted: dict[str, list[int]], needles: Sequence[str]) -> Sequence[int]:
    """The places of the word that stands in the fewest fragments; none where a word stands in none."""
    rarest: Sequence[int] | None = None
    for word in {word for needle in needles for word in words(needle)}:
        places = posted.get(word, ())
        if rarest is None or len(places) < len(rarest):
            rarest = places
    return rarest or ()


def _bounded(places: Sequence[int], count: int) -> Sequence[int]:
    """The first ``count`` places, or the oldest and the newest of them."""
    if count <= OLDEST + NEWEST:
        return places[:count]
    return [*places[:OLDEST], *places[count - NEWEST : count]]
