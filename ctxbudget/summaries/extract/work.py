"""What the agent did and said: the approach in its own words, the calls that changed something, and the next step."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.constraints import sentences
from ctxbudget.resources import DELEGATE, MEMORY, TEST, changes
from ctxbudget.summaries.entities import find
from ctxbudget.summaries.extract.naming import called, cut
from ctxbudget.summaries.sections import Item
from ctxbudget.trace import Kind, named_turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ctxbudget.summaries.blocks import Piece
    from ctxbudget.trace import Fragment

_SPOKEN = frozenset({Kind.ANSWER, Kind.REASONING})
_LENGTH = 200
_NEW_IDS = 4
"""Ids of a result that are named with the call that brought them."""
_STEP, _ASKED = 14.0, 16.0
ACTED, WORKED = 15.0, 7.0
_ACTION = re.compile(r"[\w.-]{1,80}\(")


def approach(pieces: Sequence[Piece]) -> Iterator[Item]:
    """For each time the agent spoke, its first sentence that names something, else its first; newer weighs more."""
    spoken = [piece for piece in pieces if piece.fragment.kind in _SPOKEN]
    for number, piece in enumerate(spoken):
        naming = _naming(piece.text)
        line = naming or _longer(piece.text)
        if line:
            weight = 3.0 + (3.0 if naming else 0.0) + 2.0 * number / len(spoken)
            yield Item("approach", f"turn {named_turn(piece.fragment)}: {cut(line, _LENGTH)}", weight)


def _naming(text: str) -> str:
    """The first sentence that names something; empty where none does."""
    if next(find(text), None) is None:  # of most texts that is known, and says it of each sentence
        return ""
    return next((line for line in _lines(text) if next(find(line), None)), "")


def _longer(text: str) -> str:
    """The first sentence of five words, else the first; empty where there is none."""
    first = ""
    for line in _lines(text):
        if len(line.split()) >= 5:
            return line
        first = first or line
    return first


def progress(results: Sequence[Piece], calls: Mapping[str, Fragment], failed: Collection[str]) -> Iterator[Item]:
    """Calls that changed something, ran tests or handed work on, and worked; with the ids their results brought."""
    for piece in results:
        call = calls.get(piece.fragment.call or "")
        if call is None or piece.fragment.id in failed:
            continue
        cls = call.resource.cls if call.resource is not None else ""
        if not changes(call.resource) and cls not in {TEST, DELEGATE, MEMORY}:
            continue
        ids = [entity.text for _, entity in islice(find(piece.text), 200) if entity.kind == "identifier"]
        new = [text for text in dict.fromkeys(ids) if text not in call.text][:_NEW_IDS]
        told = "".join(f", {text}" for text in new)
        name = called(call)
        text = f"{name}, turn {named_turn(call)}: ok{told}"
        yield Item("progress", text, weight(text), key=name)


def weight(text: str) -> float:
    """What an item of progress is worth: an action outside the workspace, named like ``refund(amount=240)``, must not
    be done twice."""
    return ACTED if _ACTION.match(text) else WORKED


def next_step(pieces: Sequence[Piece]) -> Iterator[Item]:
    """What the agent said last, and what the user asked last where no answer follows it."""
    last = next((piece for piece in reversed(pieces) if piece.fragment.kind in _SPOKEN | {Kind.USER}), None)
    spoken = next((piece for piece in reversed(pieces) if piece.fragment.kind in _SPOKEN), None)
    if last is not None and last.fragment.kind is Kind.USER:
        line = next(iter(reversed(list(_lines(last.text)))), cut(last.text, _LENGTH))
        yield Item("next", f"turn {named_turn(last.fragment)}, the user: {cut(line, _LENGTH)}", _ASKED, key="user")
    if spoken is not None:
        line = next(iter(reversed(list(_lines(spoken.text)))), cut(spoken.text, _LENGTH))
        yield Item("next", f"turn {named_turn(spoken.fragment)}, the agent: {cut(line, _LENGTH)}", _STEP, key="agent")


def _lines(text: str) -> Iterator[str]:
    """Its first sentences."""
    return (text[start:end] for start, end in islice(sentences(text), 40))
