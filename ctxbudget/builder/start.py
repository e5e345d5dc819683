"""How a loader begins a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ctxbudget.builder import TraceBuilder


class Start(Protocol):
    """Begins a conversation; ``label`` tells apart the traces of one file (``3`` for ``file#3``)."""

    def __call__(self, label: str | None = None, path: str | None = None) -> TraceBuilder:
        """A builder for the next conversation; ``path`` where a sub-agent's lies in a file of its own."""
