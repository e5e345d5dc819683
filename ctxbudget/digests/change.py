"""What came back from a change to a file: done, or why it failed; with room the lines it shows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Phrase
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import clip, flat, whole_lines
from ctxbudget.resources import CREATE, EDIT, PLAN, WRITE

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed

SUREST = 0.6
_CLASSES = frozenset({EDIT, WRITE, CREATE, PLAN})
_DONE = re.compile(
    r"\b(?:has been (?:updated|edited|created|written)|Applied \d+ edits?"
    r"|(?:updated|created|edited|applied|wrote|written|saved|replaced|modified)(?: \w+)? successfully"
    r"|successfully \w+|Success\b|File created|Edit applied|Done!)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:not found|no match|did not (?:match|appear)|was not applied|failed|error|invalid|refused|has not been read|"
    r"multiple (?:matches|occurrences)|no changes|cannot|could not|no such file|trying to)\b",
    re.IGNORECASE,
)
_FILE = re.compile(r"\[File: ([^\n]*?) \(\d+ lines total\)\]")
"""SWE-agent's editor names the file in its answer, not in the call."""
_LOOKED_AT = 600


def score(seen: Observed) -> float:
    """By class."""
    return 0.6 if seen.answers and seen.cls in _CLASSES else 0.0


def sketch(seen: Observed) -> Sketch:
    """``ok`` where the text says so; else what it says."""
    said = seen.fragment.text[:_LOOKED_AT]
    named = _FILE.match(said)
    sketch = _sketch(seen, said)
    return replace(sketch, name=named[1]) if named else sketch


def _sketch(seen: Observed, said: str) -> Sketch:
    if not seen.fragment.error and not seen.status and _DONE.search(said):
        more = Lines(seen.top)
        return Sketch((Phrase("ok"), *([more] if seen.roomy and seen.first is not None else [])))
    reason = _reason(whole_lines(seen.text, _LOOKED_AT))
    if seen.first is not None and not reason and not seen.fragment.error:  # an editor that shows the file again
        return Sketch((Phrase("ok"), *([Lines(seen.top)] if seen.roomy else [])))
    text = flat(reason) if reason and not seen.roomy else seen.text
    return Sketch((Passage(clip(text, 2_000)),))


def _reason(said: str) -> str:
    """The first line that speaks of a refusal, empty where none does."""
    if (found := _REFUSED.search(said)) is None:
        return ""
    stop = said.find("\n", found.end())
    return said[said.rfind("\n", 0, found.start()) + 1 : stop if stop >= 0 else None]
