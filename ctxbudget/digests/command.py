"""The output of a command: its lines that speak of errors, then its head and its tail."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Ends, Lines, Phrase
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import clip, several
from ctxbudget.resources import OTHER, SHELL, TEST, UNSURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.4
_CLASSES = frozenset({SHELL, TEST, OTHER, *UNSURE})
_TROUBLE = re.compile(
    r"^(?:[ \t]*(?:error|fatal|failed|failure|panic)\b"
    r"|[^\n]*(?:\b(?:error|fatal|failed|failure|exception|panic)(?:\[\w+\])?:"
    r"|\b(?:permission denied|command not found|no such file)\b|(?-i:\w(?:Error|Exception)\b)))[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""Lines that speak of an error, whether or not the command failed."""
_TROUBLED = ("error", "fatal", "fail", "exception", "panic", "denied", "not found", "no such file")
"""Without one of these no line does."""
_REASON = re.compile(
    r"^[^\n]*\b(?:error|fatal|failed|failure|exception|denied|not found|cannot|unable to|undefined|unresolved)\b"
    r"[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""Lines that may say why a command failed."""
_FINE = re.compile(r"\b(?:0|no) (?:\w+ )?(?:errors?|failures?|failed)\b|Errors?: 0\b", re.IGNORECASE)
_SHORT = 5
"""Lines up to which an output is simply copied."""
_MOST = 12
_FEW = 3


def score(seen: Observed) -> float:
    """What a command printed and nothing else knows."""
    return 0.4 if seen.answers and seen.cls in _CLASSES else 0.0


def sketch(seen: Observed) -> Sketch:
    """Lines, trouble, ends."""
    if seen.lines <= _SHORT:
        return Sketch((Ends(seen.text) if seen.roomy else Passage(seen.text),))
    parts: list[Part] = [Phrase(several(seen.lines, "line"))]
    if seen.cut:
        parts.append(Phrase("cut by the tool"))
    lines = (match[0].strip() for match in islice(_troubled(seen), 4 * _MOST))
    trouble = list(islice(dict.fromkeys(line for line in lines if not _FINE.search(line)), _MOST))
    if trouble and seen.roomy:
        parts.append(Lines([clip(line, 300) for line in trouble], before="trouble:", share=0.5))
    elif trouble:
        parts.append(Lines([clip(line, 160) for line in trouble[:_FEW]]))
        if len(trouble) > 1:
            return Sketch(tuple(parts))
    return Sketch((*parts, Ends(seen.text) if seen.roomy else Passage(seen.text)))


def _troubled(seen: Observed) -> Iterator[re.Match[str]]:
    """The lines that may say what went wrong."""
    if seen.status or seen.fragment.error:
        return _REASON.finditer(seen.text)
    lower = seen.text.lower()
    if seen.text.isascii() and not any(word in lower for word in _TROUBLED):  # else other letters may pass for these
        return iter(())
    return _TROUBLE.finditer(seen.text)
