"""A turn of a replay as a request, ready to post: what the model would have been sent, valid for the API.

``reading.py`` reads again what a trace keeps no text of, ``conversation.py`` makes messages of a view, and each API
has a file that gives them its shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from ctxbudget.errors import UnknownName
from ctxbudget.exports import anthropic, openai
from ctxbudget.exports.conversation import conversation
from ctxbudget.exports.reading import Blocks
from ctxbudget.prepared import prepare
from ctxbudget.safe import encodable

if TYPE_CHECKING:
    from pathlib import Path

    from ctxbudget.exports.parts import Conversation
    from ctxbudget.prepared import Prepared
    from ctxbudget.strategy import Strategy
    from ctxbudget.trace import Trace

APIS: Final = {"anthropic": anthropic.body, "openai": openai.body}
REPLY: Final = 4_096
"""Tokens of the reply where nothing is reserved for it: Anthropic's API wants a number."""
MODEL: Final = "MODEL"


@dataclass(frozen=True, slots=True)
class Exported:
    """The body of a request, and what of the view could not be sent as it was."""

    body: dict[str, Any]
    notes: tuple[str, ...]

    def to_json(self) -> bytes:
        """The body as indented JSON in UTF-8; halves of surrogate pairs become U+FFFD."""
        return json_of(self.body, indent=True)


def json_of(value: Any, *, indent: bool = False) -> bytes:
    """The value as JSON in UTF-8 with a line end; halves of surrogate pairs become U+FFFD."""
    options = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, option=options)
    except TypeError:  # orjson refuses such text
        return orjson.dumps(encodable(value), option=options)


def export(
    path_or_trace: str | Path | Trace, strategy: str | Strategy, turn: int | None = None, *, api: str, **options: Any
) -> Exported:
    """The request of a turn (None: the last) under a strategy, for ``anthropic`` or ``openai``.

    The other options are those of ``ctxbudget.prepare``. Raises UsageError for what cannot be used.
    """
    return export_of(prepare(path_or_trace, strategy, **options), turn, api=api)


def export_of(prepared: Prepared, turn: int | None = None, *, api: str, model: str | None = None) -> Exported:
    """The same of what was prepared; ``model`` in place of the recorded one."""
    if api not in APIS:
        raise UnknownName("API", api, APIS)
    trace = prepared.trace
    number = len(trace.turns) if turn is None else turn
    view = prepared.view(number)
    made = conversation(trace, view.fragments(), Blocks(trace))
    name = model or trace.turns[number - 1].model or trace.model
    if name is None:
        made.note(f"no model is recorded: {MODEL} stands in its place")
    body = APIS[api](made, name or MODEL, prepared.reserve or REPLY)
    return Exported(body, _noted(made))


def whole(trace: Trace, *, api: str) -> Exported:
    """Everything that was ever said in a trace as one request, edits the agent made of its context not applied."""
    made = conversation(trace, trace.fragments, Blocks(trace))
    if trace.model is None:
        made.note(f"no model is recorded: {MODEL} stands in its place")
    return Exported(APIS[api](made, trace.model or MODEL, REPLY), _noted(made))


def _noted(made: Conversation) -> tuple[str, ...]:
    return tuple(text if times == 1 else f"{text} ({times} times)" for text, times in made.notes.items())
