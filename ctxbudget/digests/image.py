"""A picture: its size, or what it costs where the size is unknown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Phrase
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import number
from ctxbudget.media import base64_size
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed

SUREST = 1.0
_DATA = re.compile(r"\s*data:(?P<type>image/[\w.+-]+)?(?:;[\w=-]+)*;base64,")


def score(seen: Observed) -> float:
    """Media, and text that is nothing but a ``data:`` URL of an image."""
    if seen.fragment.kind is Kind.MEDIA:
        return 1.0
    head = seen.fragment.text[:200]
    return 1.0 if "data:" in head and seen.answers and _DATA.match(head) else 0.0


def sketch(seen: Observed) -> Sketch:
    """Width and height where the bytes tell them."""
    text = seen.fragment.text
    size = base64_size(text.strip()) if text else None
    told = f"{number(size[0], '')} x {number(size[1], '')} pixels" if size else f"{number(seen.fragment.tokens)} tokens"
    return Sketch((Phrase(f"image, {told}"),))
