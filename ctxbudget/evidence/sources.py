"""The log as it is searched: which fragments hold a string. Built once, from words to places.

Only words that some needle has are kept. A needle is looked for where its rarest words stand, by reading there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.evidence.standing import all_stand, stands, words
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.trace import Fragment

OLDEST, NEWEST = 16, 64
"""How many holders are named where there are more."""
MOST = 500
"""How many of the newest candidates are read to find them: a bound on work where all words of a needle are common."""
RARE = 6
"""How many of a needle's words a candidate is picked by, the rarest first."""

_OBSERVED = frozenset({Kind.RESULT, Kind.RETRIEVAL, Kind.MEDIA})


class Sources:
    """Answers who held what. Places are indexes into the log; ``stop`` is the first place that is out of reach."""

    def __init__(self, log: Sequence[Fragment], wanted: Iterable[str], *, carries_thinking: bool = True) -> None:
        """``wanted`` are the words of all needles; without ``carries_thinking`` a thought is no source."""
        self.log = log
        self._turns = [fragment.turn for fragment in log]
        self._places = {fragment.id: place for place, fragment in enumerate(log)}
        self._seen, self._said = _Posted(), _Posted()
        self._first: dict[str, int] = {}
        known = set(wanted)
        for place, fragment in enumerate(log):
            if not fragment.text or not (carries_thinking or fragment.kind is not Kind.THINKING):
                continue
            posted = (self._seen if is_observed(fragment) else self._said).places
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
        return _read(self.log, self._seen, (needle,), stop)

    def said(self, needle: str) -> int:
        """The first fragment that holds the needle and is no observation; the length of the log if there is none."""
        if needle not in self._first:
            places, others = self._said.rarest((needle,))
            picked = (place for place in places if all(place in other for other in others))
            held = (place for place in picked if stands(needle, self.log[place].text))
            self._first[needle] = next(held, len(self.log))
        return self._first[needle]

    def frequency(self, word: str, stop: int) -> int:
        """How many observations before ``stop`` hold a single word."""
        return bisect_left(self._seen.places.get(word, ()), stop)


def is_observed(fragment: Fragment) -> bool:
    """Whether it is what a tool answered, and not what anybody said or asked."""
    return fragment.answers or fragment.kind in _OBSERVED


class _Posted:
    """Where the words of some fragments stand."""

    def __init__(self) -> None:
        self.places: dict[str, list[int]] = {}
        self._sets: dict[str, set[int]] = {}

    def rarest(self, needles: Sequence[str]) -> tuple[list[int], list[set[int]]]:
        """The places of the rarest word of the needles, in order, and those of the next rarest, to pick by."""
        wanted = {word for needle in needles for word in words(needle)}
        if not wanted or not all(word in self.places for word in wanted):
            return [], []
        rare = sorted(wanted, key=lambda word: (len(self.places[word]), word))[:RARE]
        places = self.places[rare[0]]
        return places, [self._set(word) for word in rare[1:]] if len(places) > OLDEST else []

    def _set(self, word: str) -> set[int]:
        if word not in self._sets:
            self._sets[word] = set(self.places[word])
        return self._sets[word]


def _read(log: Sequence[Fragment], posted: _Posted, needles: Sequence[str], stop: int) -> list[int]:
    """The places before ``stop`` that hold all needles: of many, the first and the last."""
    places, others = posted.rarest(needles)
    end = bisect_left(places, stop)
    known: dict[str, bool] = {}

    def held(place: int) -> bool:
        text = log[place].text
        if text not in known:  # copies of one file are read once
            known[text] = all_stand(needles, text)
        return known[text]

    picked = (places[at] for at in range(end - 1, OLDEST - 1, -1) if all(places[at] in other for other in others))
    newest = list(islice(filter(held, islice(picked, MOST)), NEWEST))
    return [*filter(held, places[: min(OLDEST, end)]), *reversed(newest)]
