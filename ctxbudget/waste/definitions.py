"""Tool definitions that no call used."""

from __future__ import annotations

import json
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
    named = [(name, len(json.dumps(tool))) for tool in _each(_parsed(fragment.text)) if (name := _name(tool))]
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
    """Single tools: of a list, of an object with ``tools``, of Gemini's ``function_declarations``."""
    if isinstance(value, list):
        for one in value:
            yield from _each(one)
    elif isinstance(value, dict):
        inner = next((value[key] for key in ("tools", "function_declarations", "functionDeclarations") if key in value), None)
        if inner is None:
            yield value
        else:
            yield from _each(inner)


def _name(tool: dict[str, Any]) -> str:
    inner = tool.get("function")
    name = (inner if isinstance(inner, dict) else tool).get("name")
    return name if isinstance(name, str) else ""
