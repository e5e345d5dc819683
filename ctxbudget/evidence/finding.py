"""D1 to D3: the exact strings that calls needed, and the fragments that held them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence.standing import words
from ctxbudget.evidence.strings import inner
from ctxbudget.evidence.uses import Signal, Use

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.evidence.actions import Action
    from ctxbudget.evidence.hunks import Part
    from ctxbudget.evidence.needs import Need
    from ctxbudget.evidence.sources import Sources

COMMON = 3
"""D3: an identifier that more observations hold than this is not rare."""


def edit_use(action: Action, part: Part, lines: tuple[str, ...], sources: Sources) -> tuple[Use, bool]:
    """D1 of one part of an edit, and whether one fragment holds all of its lines.

    Where none does, the sources are the newest holder of each line.
    """
    stop = sources.before(action.turn)
    places = sources.holders(lines, stop)
    if places:
        return use_of(Signal.EDIT, action, lines, places, sources, part.file), True
    newest = {held[-1] for line in lines if (held := sources.holders((line,), stop))}
    return use_of(Signal.EDIT, action, lines, sorted(newest), sources, part.file), False


def argument_uses(need: Need, sources: Sources) -> Iterator[Use]:
    """D2: the longest strings of the arguments that nothing but observations held when the call was made."""
    stop = sources.before(need.action.turn)
    known: set[str] = set()
    for token in need.strings:
        for needle, places in _longest(token, stop, sources):
            if needle not in known:
                known.add(needle)
                yield use_of(Signal.ARGUMENT, need.action, (needle,), places, sources)


def _longest(token: str, stop: int, sources: Sources) -> Iterator[tuple[str, list[int]]]:
    """The token itself, or, where nobody ever showed or said it, the strings inside it."""
    if sources.said(token) < stop:
        return
    if places := sources.observed(token, stop):
        yield token, places
        return
    for piece in inner(token):
        yield from _longest(piece, stop, sources)


def rare_uses(need: Need, sources: Sources, known: Sequence[Use]) -> Iterator[Use]:
    """D3: identifiers that at most ``COMMON`` observations held by then, and nothing else. None that D2 has already."""
    stop = sources.before(need.action.turn)
    taken = {word for use in known for word in words(use.text[0])}
    for name in need.names:
        if name in taken or not 0 < sources.frequency(name, stop) <= COMMON:
            continue
        if sources.said(name) >= stop and (places := sources.observed(name, stop)):
            yield use_of(Signal.RARE, need.action, (name,), places, sources)


def use_of(
    kind: Signal,
    action: Action,
    text: tuple[str, ...],
    places: Sequence[int],
    sources: Sources,
    file: str | None = None,
) -> Use:
    """A use with its sources by name."""
    ids = tuple(sources.log[place].id for place in places)
    newest = ids[-1] if ids else None
    return Use(kind, action.turn, action.call.id, text, ids, newest, file or action.target, failed=action.failed)
