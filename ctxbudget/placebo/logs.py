"""The logs of a placebo: the trace's fragments with texts that are not theirs."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxbudget.evidence.sources import is_observed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from ctxbudget.placebo.donors import Donor
    from ctxbudget.trace import Fragment

NEAR = 16
"""A text is drawn from so many that are about as long: the amount of text stays what it was."""
TRIES = 50
"""Draws for a text of another resource before a fragment keeps none."""


class Pool:
    """Texts of donors, by length."""

    def __init__(self, texts: Sequence[str]) -> None:
        """``texts`` are all that may be drawn."""
        self.texts = sorted(texts, key=lambda text: (len(text), text))
        self._lengths = [len(text) for text in self.texts]

    def draw(self, length: int, chance: Random) -> str:
        """One of those nearest in length; nothing where there are none."""
        if not self.texts:
            return ""
        at = bisect_left(self._lengths, length)
        start = max(0, min(at - NEAR // 2, len(self.texts) - NEAR))
        return chance.choice(self.texts[start : start + NEAR])


def foreign_log(
    log: Sequence[Fragment], donors: Sequence[Donor], chance: Random, *, said: bool
) -> tuple[Fragment, ...]:
    """The log with donors' observations for its own; with ``said`` also what was said and asked, by theirs."""
    seen, spoken = Pool([t for one in donors for t in one.observed]), Pool([t for one in donors for t in one.said])
    made = []
    for fragment in log:
        pool = seen if is_observed(fragment) else spoken
        if fragment.text and (said or pool is seen):
            made.append(replace(fragment, text=pool.draw(len(fragment.text), chance)))
        else:
            made.append(fragment)
    return tuple(made)


def swapped(log: Sequence[Fragment], chance: Random) -> dict[str, str]:
    """For the fragments that belong to a resource the text of another resource's, by id: results among results, calls
    among calls.
    """
    found: dict[str, str] = {}
    for asks in (False, True):
        mine = [one for one in log if one.resource is not None and one.resource.target and one.asks is asks]
        found.update((one.id, _other(one, mine, chance)) for one in mine)
    return found


def _other(fragment: Fragment, among: Sequence[Fragment], chance: Random) -> str:
    """The text of another resource's fragment; nothing where none was drawn in a while."""
    for _ in range(TRIES):
        other = chance.choice(among)
        if other.resource is not None and fragment.resource is not None and _apart(fragment, other):
            return other.text
    return ""


def _apart(one: Fragment, other: Fragment) -> bool:
    left, right = (each.resource.target if each.resource is not None else None for each in (one, other))
    return left != right and one.text != other.text
