"""What a Kimi conversation is made of, before it is said: messages, steps, their calls and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxbudget.trace import Kind, Usage


@dataclass(slots=True)
class Call:
    """A call; ``more`` are pieces of its arguments that came behind it."""

    line: int
    id: str | None
    tool: str
    arguments: Any
    more: list[str] = field(default_factory=list)

    @property
    def whole(self) -> Any:
        """The arguments, all pieces together."""
        given = self.arguments
        return "".join([given or "", *self.more]) if self.more and isinstance(given, str | None) else given


@dataclass(slots=True)
class Result:
    """The result of a call: its texts, images and what it is told as."""

    line: int
    call: str
    content: Any
    failed: bool


@dataclass(slots=True)
class Message:
    """A message that is not of a step."""

    line: int
    kind: Kind
    content: Any


@dataclass(slots=True)
class Step:
    """One call of the model while it goes on; ``after`` is what was sent before it ended, but came behind it."""

    line: int
    parts: list[tuple[int, Any] | Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    after: list[Message] = field(default_factory=list)
    usage: Usage | None = None
    ended: bool = False
    key: str | None = None
    model: str | None = None
