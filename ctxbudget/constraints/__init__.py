"""Constraints: the sentences of user and system text that bind later work, verbatim and with their place.

Precision comes before recall: what is listed should make a reader nod. Which words count is data, by language
(``data/constraints.toml``: English, Spanish, French, German, Portuguese); how they count is in ``rules.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.constraints.facts import TIMEOUT, Fact, must_keep, parse_fact, visible
from ctxbudget.constraints.prose import sentences
from ctxbudget.constraints.rules import rule, spoken
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from ctxbudget.trace import Trace

__all__ = [
    "SOURCES", "TIMEOUT", "Constraint", "Fact", "Span", "constraints", "find", "must_keep", "parse_fact", "sentences",
    "visible",
]  # fmt: skip

SOURCES = frozenset({Kind.USER, Kind.MEMORY_FILE, Kind.SYSTEM_PROMPT})
"""Kinds whose text can bind. A summary repeats what bound already; a harness's reminder leaves with its message."""

SHORTEST, LONGEST = 8, 400
"""Characters of a sentence that can be a constraint: shorter is a word, longer is not one sentence."""

MOST = 300
"""Constraints taken from one text; the longest system prompt in our sample has 49. More is pasted material."""

EDGE = 5_000
"""Sentences looked at from the beginning and from the end of one text: nobody writes more, and work stays bounded."""


@dataclass(frozen=True, slots=True)
class Span:
    """A normative sentence: ``text[start:end]``, and the language and rule that say so."""

    start: int
    end: int
    language: str
    rule: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """A normative sentence and where it was first said: turn, record, kind, fragment, position in its text."""

    text: str
    turn: int
    line: int
    source: str
    fragment: str
    start: int

    def visible(self, text: str) -> bool:
        """Whether ``text`` still shows the sentence, word by word."""
        return visible(self.text, text)


def find(text: str) -> tuple[Span, ...]:
    """The normative sentences of ``text``, in order and disjoint; at most ``MOST``."""
    among, found = spoken(text), list[Span]()
    ranges = list(sentences(text))
    if len(ranges) > 2 * EDGE:
        ranges = ranges[:EDGE] + ranges[-EDGE:]
    for start, end in ranges:
        hit = rule(text[start:end], among) if SHORTEST <= end - start <= LONGEST else None
        if hit is not None:
            found.append(Span(start, end, *hit))
            if len(found) == MOST:
                break
    return tuple(found)


def constraints(trace: Trace) -> tuple[Constraint, ...]:
    """The constraints of a trace in the order in which they were said, each once, where it was first said."""
    found: dict[str, Constraint] = {}
    for fragment in trace.fragments:
        if fragment.kind not in SOURCES:
            continue
        for span in find(fragment.text):
            text = fragment.text[span.start : span.end]
            said = Constraint(text, fragment.turn, fragment.origin.line, fragment.kind.value, fragment.id, span.start)
            found.setdefault(" ".join(text.split()), said)
    return tuple(found.values())
