"""What a summary replaces."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ctxbudget.trace import Form, Kind
from ctxbudget.view import cut

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View


def tail_start(view: View, tokens: int, turns: int) -> int:
    """The place from which on everything stays: the newest ``tokens``, the newest ``turns``, and what has arrived.

    It begins with a message, never between a call and its results. The end, so that nothing stays, where both are 0.
    """
    if not tokens and not turns:
        return view.end
    edge = view.turns[-1]
    if turns:
        edge = min(edge, view.turn_start(view.turn - turns + 1))
    left = tokens
    for place in reversed(view.places):
        left -= view.live[place].tokens
        if left < 0:
            break
        edge = min(edge, place)
    return _opening(view, edge)


def _opening(view: View, edge: int) -> int:
    """The start of the message that holds ``edge``; for results that of their calls."""
    at = bisect_left(view.places, edge)
    while 0 < at < len(view.places):
        first, before = view.live[view.places[at]], view.live[view.places[at - 1]]
        if not first.answers and first.message != before.message:
            break
        at -= 1
    return view.places[at] if at < len(view.places) else edge


def oldest(view: View, candidates: list[Fragment], excess: int) -> list[Fragment]:
    """As many of the oldest as free ``excess`` tokens, or all that may go. A cut may leave more in place than was
    asked, so that more is asked of it then.
    """
    asked = excess
    while True:
        wanted = _first(candidates, asked)
        gone = cut(view, wanted)
        if sum(fragment.tokens for fragment in gone) >= excess or len(wanted) == len(candidates):
            return gone
        asked *= 2


def _first(candidates: list[Fragment], tokens: int) -> list[Fragment]:
    """The first of the candidates that hold so many tokens, up to where no unit and no message is half in."""
    last = {fragment.unit: number for number, fragment in enumerate(candidates)}
    freed = end = 0
    for number, fragment in enumerate(candidates):
        if freed >= tokens and number > end and fragment.message != candidates[number - 1].message:
            return candidates[:number]
        freed += fragment.tokens
        end = max(end, last[fragment.unit])
    return candidates


def fresh(fragment: Fragment) -> bool:
    """Whether it is more than an earlier summary or notice."""
    return fragment.kind is not Kind.SUMMARY and fragment.form is not Form.NOTICED
