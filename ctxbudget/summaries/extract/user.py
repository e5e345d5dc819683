"""What the user said: the first message as the intent, what binds later work, and the other messages, verbatim."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.constraints import SOURCES, find, sentences
from ctxbudget.summaries.entities import find as find_entities
from ctxbudget.summaries.extract.naming import cut
from ctxbudget.summaries.extract.terms import key_of
from ctxbudget.summaries.sections import Item
from ctxbudget.trace import Kind, named_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.summaries.blocks import Piece

_LENGTH = 240
"""Characters of a sentence; one that binds later work stays whole."""
_OF_FIRST, _OF_OTHERS = 8, 4
"""Sentences taken from the first message, and from each later one."""
BINDS, TASK, SAID = 100.0, 50.0, 10.0


def said(pieces: Sequence[Piece], *, first: bool) -> Iterator[Item]:
    """Sentences of the user. ``first``: the span begins the session, so its first message is the task."""
    number = 0
    for piece in pieces:
        if piece.fragment.kind not in SOURCES:
            continue
        turn, text = named_turn(piece.fragment), piece.text
        spans = find(text)
        for span in spans:
            yield Item("intent", f"turn {turn}: {' '.join(text[span.start : span.end].split())}", BINDS)
        if piece.fragment.kind is not Kind.USER:
            continue
        task = first and number == 0
        bound = {span.start for span in spans}
        yield from _others(text, turn, bound, task=task, number=number)
        number += 1


def kept(protected: Sequence[str]) -> Iterator[Item]:
    """Must-keep facts: single words and numbers as terms, longer ones as they are."""
    for text in protected:
        if len(text.split()) == 1:
            yield Item("terms", f"{text} (must keep)", BINDS, key=key_of(text))
        else:
            yield Item("intent", f"must keep: {' '.join(text.split())}", BINDS)


def _others(text: str, turn: int, bound: set[int], *, task: bool, number: int) -> Iterator[Item]:
    """Sentences that bind nothing; the first line where nothing in the message reads like one."""
    ranges = [(start, end) for start, end in islice(sentences(text), 40) if start not in bound]
    most = _OF_FIRST if task else _OF_OTHERS
    lines = [text[start:end] for start, end in ranges[:most]]
    if not lines and not bound and text.strip():
        lines = [text.strip().splitlines()[0]]
    for place, line in enumerate(lines):
        names = 3.0 if len(line.split()) >= 5 or next(find_entities(line), None) else 0.0
        weight = (TASK if task else SAID + min(number, 400) / 100) + names - place
        yield Item("intent" if task else "user", f"turn {turn}: {cut(line, _LENGTH)}", weight)
