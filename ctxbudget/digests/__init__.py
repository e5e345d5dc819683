"""The short form of a fragment, made from nothing but the fragment, as it enters.

One function for now: the first lines that say something, with the turn; a call keeps its name, its target and the
size of what was shortened. A form per type of observation is one more file here.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ctxbudget.trace import Fragment

CHARS = 4
"""Characters per token to begin with; what does not fit is shortened further."""
_LINES = 40
_TARGET = 80
_SAYS = re.compile(r"\w")


def digest(fragment: Fragment, cap_tokens: int, count: Callable[[str], int]) -> str:
    """The fragment in at most ``cap_tokens`` by ``count``, with its turn; empty where not even its name fits.

    A number is copied whole or not at all.
    """
    if fragment.asks:
        return _fitted(f"{label(fragment)} [{fragment.tokens:,} tokens of arguments shortened]", "", cap_tokens, count)
    body = " | ".join(islice(_meaningful(fragment.text, cap_tokens * CHARS * 2), _LINES))
    return _fitted(f"{label(fragment)}:" if body else f"{label(fragment)} [{fragment.kind}]", body, cap_tokens, count)


def label(fragment: Fragment) -> str:
    """What a text calls a fragment: tool, target and turn, as far as there are any."""
    target = fragment.resource.target if fragment.resource is not None else None
    parts = [fragment.tool or "", " ".join(_shortened(target or "").split())]
    name = " ".join(part for part in parts if part)
    said = f"turn {named_turn(fragment)}"
    return f"{name}, {said}" if name else said


def _shortened(target: str) -> str:
    """The end of a long target: of a path that is the file's own name."""
    return target if len(target) <= _TARGET else "…" + target[1 - _TARGET :]


def _meaningful(text: str, chars: int) -> Iterator[str]:
    """Lines with a letter or digit in them, white space collapsed, from the first ``chars`` characters or so."""
    head = text if len(text) <= chars else text[:chars].rpartition(" ")[0] or text[:chars]
    for line in head.splitlines():
        if _SAYS.search(line):
            yield " ".join(line.split())


def _fitted(head: str, body: str, cap: int, count: Callable[[str], int]) -> str:
    """Head and as much of the body as fits, cut between words."""
    words = body.split(" ") if body else []
    chars = cap * CHARS
    kept = _words(words, chars)
    while True:
        text = " ".join([head, *words[:kept]]) + (" …" if kept < len(words) else "")
        size = count(text)
        if size <= cap:
            return text
        if kept == 0:
            return head if count(head) <= cap else ""
        kept = min(kept - 1, kept * cap // size)


def _words(words: list[str], chars: int) -> int:
    """How many words fit in ``chars`` characters."""
    for number, word in enumerate(words):
        chars -= len(word) + 1
        if chars < 0:
            return number
    return len(words)
