"""Pages, pictures and encoded data that were carried on long after they had been looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.digests import without_blobs
from ctxbudget.resources import BROWSER, FETCH, SCREENSHOT
from ctxbudget.trace import Kind
from ctxbudget.waste.piece import carried_on, piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.ledger import Life
    from ctxbudget.trace import Fragment
    from ctxbudget.waste.piece import Piece

PICTURE = 300
"""Tokens from which a picture counts; Claude's price of 475 × 475 pixels."""
PAGE = 1_000
"""Tokens from which a page or encoded data counts."""
LONG = 5
"""Prompts that held it after the first, from which it was carried on."""

_PAGES = frozenset({FETCH, BROWSER, SCREENSHOT})
_DENSE = 2.8
"""Characters per token below which a text may be base64: it has about 1.4, prose and code 3 and more."""


def heavy(observations: Sequence[Life]) -> Iterator[Piece]:
    """Each of them, oldest first."""
    for life in observations:
        if carried_on(life) >= LONG and life.fragment.tokens >= PICTURE and (name := _named(life.fragment)):
            yield piece(life, f"{name} carried on for {carried_on(life)} turns")


def _named(fragment: Fragment) -> str:
    """What kind of heavy thing it is; empty where it is none."""
    if fragment.kind is Kind.MEDIA:
        return "a picture"
    if fragment.tokens < PAGE:
        return ""
    if fragment.resource is not None and fragment.resource.cls in _PAGES:
        return "a page"
    dense = len(fragment.text) < _DENSE * fragment.counted
    return "encoded data" if dense and 2 * len(without_blobs(fragment.text)) < len(fragment.text) else ""
