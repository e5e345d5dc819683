"""Tool definitions that no call used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.trace import Kind
from ctxbudget.waste.piece import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.ledger import Life
    from ctxbudget.trace import Trace

NAMED = 8
"""Tools that are named, those that cost most first."""
_NESTED = ("tools", "function_declarations", "functionDeclarations")
"""Keys of objects that hold several tools: of MCP servers and namespaces, and of Gemini."""


def never_called(trace: Trace, lives: Sequence[Life]) -> Iterator[Piece]:
    """One piece for all definitions that were sent and never called; none where the file does not hold them.

    Where one fragment holds several tools, its tokens are divided by the length of their JSON: an estimate.
    """
    shares = [(life, tool) for life in lives if life.fragment.kind is Kind.TOOL_DEFINITIONS for tool in _tools(life)]
    if not shares:
        return
    called = {fragment.tool for fragment in trace.fragments if fragment.asks}
    idle = [(life, name, tokens) for life, (name, tokens) in shares if name not in called]
    if not idle:
        return
    idle.sort(key=lambda one: (-one[2], one[1]))
    names = ", ".join(name for _, name, _ in idle[:NAMED])
    more = f" and {len(idle) - NAMED:,} more" if len(idle) > NAMED else ""
    text = f"{len(idle):,} of {len(shares):,} tool definitions are never called: {names}{more}"
    rent = sum(tokens * life.turns for life, _, tokens in idle)
    yield Piece(idle[0][0].fragment, sum(tokens for _, _, tokens in idle), rent, text)


def _tools(life: Life) -> list[tuple[str, int]]:
    """The tools that a definition fragment holds, by name, with the tokens of each."""
    fragment = life.fragment
    named = [(name, len(orjson.dumps(tool))) for tool in _each(_parsed(fragment.text)) if (name := _name(tool))]
    if len(named) < 2:
        return [(fragment.tool or name, fragment.tokens) for name, _ in named] or _known(life)
    whole = sum(size for _, size in named)
    return [(name, fragment.tokens * size // whole) for name, size in named]


def _known(life: Life) -> list[tuple[str, int]]:
    return [(life.fragment.tool, life.fragment.tokens)] if life.fragment.tool else []


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _each(value: Any) -> Iterator[dict[str, Any]]:
    """Single tools: of a list, or of an object that holds several."""
    if isinstance(value, list):
        for one in value:
            yield from _each(one)
    elif isinstance(value, dict):
        nested = [value[key] for key in _NESTED if key in value]
        if not nested:
            yield value
        for one in nested:
            yield from _each(one)


def _name(tool: dict[str, Any]) -> str:
    inner = tool.get("function")
    name = (inner if isinstance(inner, dict) else tool).get("name")
    return name if isinstance(name, str) else ""
