"""Files and paths: each with the last thing done to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.resources import CHANGING, READ
from ctxbudget.summaries.extract.naming import cut
from ctxbudget.summaries.sections import Item
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ctxbudget.summaries.blocks import Piece
    from ctxbudget.trace import Fragment

_LENGTH = 160
CHANGED, LOOKED_AT = 12.0, 5.0
_DONE = {"read": "read", "edit": "edited", "write": "written", "create": "created"}


def files(results: Sequence[Piece], calls: Mapping[str, Fragment], failed: Collection[str]) -> Iterator[Item]:
    """One item per file with its last action that worked; a later read does not hide that it was changed."""
    changed: dict[str, str] = {}
    looked: dict[str, str] = {}
    for piece in results:
        call = calls.get(piece.fragment.call or "")
        if call is None or call.resource is None or call.resource.target is None:
            continue
        cls, name = call.resource.cls, cut(call.resource.target, _LENGTH)
        if cls not in _DONE or piece.fragment.id in failed or not re.search(r"[^\W\d]", name):
            continue
        action = f"{_DONE[cls]} at turn {named_turn(call)}"
        (changed if cls in CHANGING else looked)[name] = action
        if cls in CHANGING:
            looked.pop(name, None)
    for name in dict.fromkeys((*changed, *looked)):
        done = ", ".join(filter(None, (changed.get(name), looked.get(name))))
        yield Item("files", f"{name}: {done}", CHANGED if name in changed else LOOKED_AT, key=name)


def changed_before(text: str) -> str:
    """Of an item that was read back, what it says of a change, such as ``edited at turn 12``; empty where nothing."""
    done = text.rpartition(": ")[2].split(", ")
    return next((part for part in done if not part.startswith(_DONE[READ])), "")
