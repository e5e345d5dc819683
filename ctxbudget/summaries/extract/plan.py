"""The plan: what is open and what is done, by the newest plan call."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ctxbudget.summaries.extract.naming import cut
from ctxbudget.summaries.sections import Item
from ctxbudget.trace import Kind, named_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.summaries.blocks import Piece

_TITLES = ("content", "step", "title", "text", "task", "description", "subject")
"""Where a plan item says what it is (TodoWrite: content; update_plan: step; write_todos: description)."""
_DONE = frozenset({"completed", "complete", "done", "finished"})
_ACTIVE = frozenset({"in_progress", "in-progress", "active", "doing", "started"})
_BOX = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])?\s*\[([ xX✓✔~>-])\]\s+(.{1,400})$", re.MULTILINE)
_LENGTH = 160
_MOST = 60
PENDING, ACTIVE, DONE = 22.0, 26.0, 9.0
OPEN_MARKS = ("[ ]", "[~]")
"""Before the text of an item that is not done; ``[x]`` stands before one that is."""


def plan(pieces: Sequence[Piece]) -> tuple[Item, ...]:
    """The items of the newest plan in the span; none where it holds no plan."""
    for piece in reversed(pieces):
        if piece.fragment.kind is Kind.PLAN and piece.fragment.asks:
            found = tuple(_items(piece.text, named_turn(piece.fragment)))
            if found:
                return found
    return ()


def _items(text: str, turn: int) -> Iterator[Item]:
    for title, state in list(_todos(text))[:_MOST]:
        shown = cut(title, _LENGTH)
        if state in _DONE:
            yield Item("progress", f"[x] {shown} (by turn {turn})", DONE, key=f"plan {shown}")
        elif state in _ACTIVE:
            yield Item("pending", f"[~] {shown} (turn {turn})", ACTIVE, key=f"plan {shown}")
        else:
            yield Item("pending", f"[ ] {shown} (turn {turn})", PENDING, key=f"plan {shown}")


def _todos(text: str) -> Iterator[tuple[str, str]]:
    """Title and state of each item: of the JSON in the call, else of ticked boxes."""
    start = text.find("{")
    data: Any = None
    if start >= 0:
        try:
            data = json.loads(text[start:])
        except (ValueError, RecursionError):
            data = None
    listed = list(_listed(data))
    if listed:
        yield from listed
        return
    for mark, title in _BOX.findall(text):
        yield title.strip(), "done" if mark in "xX✓✔" else "active" if mark in "~>" else "pending"


def _listed(data: Any) -> Iterator[tuple[str, str]]:
    lists = data.values() if isinstance(data, dict) else ()
    for one in (item for value in lists if isinstance(value, list) for item in value):
        if not isinstance(one, dict):
            continue
        title = next((one[key] for key in _TITLES if isinstance(one.get(key), str) and one[key].strip()), None)
        if title is not None:
            yield title.strip(), str(one.get("status", "")).lower()
