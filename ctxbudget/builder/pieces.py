"""What a loader has said so far: parts, calls of the model and compactions, not yet counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.records.lines import is_deep

if TYPE_CHECKING:
    from ctxbudget.trace import Form, Kind, Origin, Resource, Usage


@dataclass(slots=True, eq=False)
class Piece:
    """A fragment while the file is still being read. Loaders pass it back, and look at nothing inside: a piece is
    itself, whatever another one says."""

    kind: Kind | None
    text: str
    turn: int
    reply: int
    message: int
    role: str
    origin: Origin
    call: str | None = None
    tool: str | None = None
    resource: Resource | None = None
    error: bool = False
    pinned: bool = False
    size: tuple[int, int] | None = None
    opaque: int = 0
    unit: str | None = None
    cost: int | None = None
    """Tokens of a part without text, where the file says them."""
    id: str = ""


@dataclass(slots=True)
class Cut:
    """A recorded compaction while the file is still being read: the drafts it removes, those it brings."""

    turn: int
    by: str
    trigger: str
    pre_tokens: int | None
    post_tokens: int | None
    line: int
    form: Form | None
    removed: list[Piece]
    inserted: list[Piece] = field(default_factory=list)


@dataclass(slots=True)
class Call:
    """A call of the model while the file is still being read; ``stop`` is how many parts its context held."""

    stop: int
    model: str | None
    usage: Usage | None = None
    line: int | None = None
    pending: bool = False


def arguments_of(arguments: Any) -> Any:
    """Arguments as data: a JSON string of an object is parsed, anything else stays as it is."""
    if isinstance(arguments, str):
        try:
            parsed = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return arguments
        # what is nested too deep to be written again stays as it was written
        return parsed if isinstance(parsed, dict) and not is_deep(arguments.encode(), parsed) else arguments
    return {} if arguments is None else arguments


def written(arguments: Any) -> str:
    """Arguments as text: what the model wrote, or compact JSON."""
    return arguments if isinstance(arguments, str) else orjson.dumps(arguments, option=orjson.OPT_NON_STR_KEYS).decode()
