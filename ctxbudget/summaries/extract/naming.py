"""How an item names things, and how it shortens text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment

_NAME = 110
"""Characters of a call's name."""
_PART = re.compile(r"[\W_]*\w*\Z")


def called(fragment: Fragment) -> str:
    """What a call or its result is called: its tool and what it works on, the same every time. Anything else is called
    by its kind."""
    tool = fragment.tool or fragment.kind.value
    target = fragment.resource.target if fragment.resource is not None else None
    name = target if target and target.startswith(f"{tool}(") else f"{tool} {target}" if target else tool
    return cut(name, _NAME)


def cut(text: str, limit: int) -> str:
    """``text`` on one line, in at most ``limit`` characters; a word or a number is left whole or left out."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    head = line[: limit - 2]
    return f"{_PART.sub('', head) or head} …"
