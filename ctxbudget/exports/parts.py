"""What a request consists of, before it has a provider's shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(slots=True)
class Text:
    """Words of anybody."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Thinking as the provider wants it back: its text with its signature, or ``sealed`` data alone."""

    text: str
    signature: str = ""
    sealed: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a document: base64 ``data`` of a ``type`` (``image/png``), or a ``url``; else only a note of it."""

    note: str
    type: str = ""
    data: str = ""
    url: str = ""

    @property
    def is_image(self) -> bool:
        """Whether it can be sent as an image."""
        return (self.type in IMAGES and bool(self.data)) or self.url.startswith(("https://", "http://"))


IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What both providers take."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; ``key`` joins it to its result."""

    key: tuple[str, str]
    tool: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class Result:
    """What answers a call."""

    key: tuple[str, str]
    texts: list[str] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)
    error: bool = False


Part: TypeAlias = Text | Thinking | Media | Call | Result


@dataclass(slots=True)
class Said:
    """One message: ``role`` is ``system``, ``user`` or ``assistant``; results stand in a user message of their own."""

    role: str
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class Conversation:
    """The messages of a request with everything they need. ``tools`` are definitions as recorded; ``notes`` say what
    could not be sent as it was."""

    said: list[Said] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    def note(self, text: str, times: int = 1) -> None:
        """Keep a note, counted."""
        self.notes[text] = self.notes.get(text, 0) + times
