"""The short form of a fragment, made from nothing but the fragment, as it enters.

    config.py, read at turn 8: 39 lines; defines DATABASE_URL, TIMEOUT; 3 flags: BETA, DARK_MODE, AUDIT
    pytest -q tests, run at turn 9: 1 failed, 41 passed; failed: tests/test_pay.py::test_half (assert 3 == 4)

A digester is a module of this folder, or an entry point of the group ``ctxbudget.digests``, with a docstring whose
first line names the type of observation, and two functions:

``score(seen: Observed) -> float``
    How sure it is, 0 to 1, from the class, the target and the ends of the text. The best one wins, ties by name.

``sketch(seen: Observed) -> Sketch``
    What to say, the most important first; each part says itself what of it fits.

It may also have ``SUREST``, the highest score that it ever gives: it is not asked where another one is surer already.

Every number is counted from the content or copied whole from it.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import TYPE_CHECKING, Protocol

from ctxbudget.digests._blobs import without_blobs
from ctxbudget.digests._leads import label, leads
from ctxbudget.digests._observed import observe
from ctxbudget.digests._parts import Phrase
from ctxbudget.digests._sketch import Sketch, chars_per_token, fitted
from ctxbudget.digests._wording import number
from ctxbudget.digests.page_snapshot import skeleton
from ctxbudget.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ctxbudget.digests._observed import Observed
    from ctxbudget.trace import Fragment

__all__ = ["DIGESTERS", "Digester", "digest", "label", "skeleton", "without_blobs"]


class Digester(Protocol):
    """What a digester module offers."""

    def score(self, seen: Observed) -> float:
        """How sure it is that the observation is of its type, 0 to 1."""

    def sketch(self, seen: Observed) -> Sketch:
        """What to say of it."""


DIGESTERS: Registry[Digester] = Registry("digest", "ctxbudget.digests")


def digest(
    fragment: Fragment,
    cap_tokens: int,
    count: Callable[[str], int],
    *,
    hints: Sequence[str] = (),
    ok: bool | None = None,
) -> str:
    """The fragment in at most ``cap_tokens`` by ``count``, with its turn, and never in more than it costs itself.

    ``hints`` are strings that earlier context points at (a search hit, ``path:line`` of a traceback, the task's own
    words, newest last): with room, the parts of a file that hold them are shown. ``ok`` says whether a call succeeded,
    where the caller knows its result. Empty where not even a name fits.
    """
    limit = min(cap_tokens, fragment.tokens, (fragment.counted or fragment.tokens) if fragment.text else cap_tokens)
    if limit < 1:
        return ""
    seen = observe(fragment, cap_tokens, hints, ok)
    sketch = _sketched(seen)
    parts = (*_outcome(seen), *sketch.parts)
    per = chars_per_token(limit, len(fragment.text), fragment.counted, fragment.tokens)
    return fitted(leads(seen, sketch), parts, limit, count, not seen.answers, per)


def _sketched(seen: Observed) -> Sketch:
    if (not seen.text or seen.text.isspace()) and seen.fragment.text.strip():
        return Sketch((Phrase("no output"),))
    return _surest(seen).sketch(seen)


def _surest(seen: Observed) -> Digester:
    """The digester with the best score. The first ones are asked until none of the others can have a better one."""
    every = _digesters()
    best, sure, named = every[0][2], -inf, ""
    for surest, name, digester in every:
        if surest < sure:
            break
        score = digester.score(seen)
        if score > sure or (score == sure and name < named):
            best, sure, named = digester, score, name
    return best


@cache
def _digesters() -> tuple[tuple[float, str, Digester], ...]:
    """Every digester with its highest score and its name, the highest first."""
    working = DIGESTERS.working()[0].items()
    known = ((getattr(digester, "SUREST", inf), name, digester) for name, digester in working)
    return tuple(sorted(known, key=lambda each: (-each[0], each[1])))


def _outcome(seen: Observed) -> tuple[Phrase, ...]:
    """That a result reports a failure, and with which exit status."""
    if seen.status:
        return (Phrase(f"exit code {number(seen.status, '')}"),)
    return (Phrase("failed"),) if seen.fragment.error else ()
