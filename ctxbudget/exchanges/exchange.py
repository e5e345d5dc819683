"""What a loader says of its provider: what a record holds, and how a message is said to a builder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage


@dataclass(slots=True)
class Exchange:
    """A model call as a log holds it, or a whole conversation: then nothing was ``called`` for its last message."""

    messages: list[Any]
    overhead: list[tuple[Kind, str]] = field(default_factory=list)
    """System prompt and tool definitions that stand beside the messages, in the order they are sent."""
    called: bool = False
    """The call was answered: it counts as a turn, billed with ``usage``."""
    reply: Any = None
    model: str | None = None
    usage: Usage | None = None
    key: str | None = None
    """The provider's id of the response."""
    agent: str | None = None
    window: int | None = None
    session: str | None = None
    notes: tuple[tuple[str, str], ...] = ()
    """Warnings, code and message."""

    @property
    def has_tools(self) -> bool:
        """Whether the model was offered tools: the main loop of an agent was, its small helper calls were not."""
        return any(kind is Kind.TOOL_DEFINITIONS for kind, _ in self.overhead)

    @property
    def is_silent(self) -> bool:
        """A call of which only the counts were logged."""
        return self.called and not self.messages and self.reply is None and self.usage is not None

    @property
    def finished(self) -> bool:
        """A conversation that ends with a reply, as training data does: no later line continues it."""
        return not self.called and (not self.messages or is_reply(self.messages[-1]))


class Speaker(Protocol):
    """Says messages of one provider to a builder."""

    skipped: Counter[str]
    """What it had to leave out, by kind."""

    def message(self, message: Any, line: int) -> list[Piece]:
        """Add a message and its parts. For a reply the turn has been begun already."""

    def billed(self, message: dict[str, Any]) -> tuple[str | None, Usage | None, str | None]:
        """Model, usage and id of the call that gave this reply, where the message itself holds them."""


class Provider(Protocol):
    """What a loader knows of its provider: a module with these functions."""

    def exchange(self, data: dict[str, Any], skipped: Counter[str]) -> Exchange | None:
        """The call or conversation that a record holds; None for any other record, which ``skipped`` then counts."""

    def speaker(self, build: TraceBuilder) -> Speaker:
        """Says messages to ``build``."""

    def identity(self, message: Any) -> Any:
        """The message without what changes from request to request although it was not sent anew."""


def is_reply(message: Any) -> bool:
    """Whether the model wrote this message."""
    return isinstance(message, dict) and message.get("role") == "assistant"
