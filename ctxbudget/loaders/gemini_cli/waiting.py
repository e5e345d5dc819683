"""Calls without an id, and which of them a response answers."""

from __future__ import annotations

from collections import deque


class Waiting:
    """Calls without an id that no response has answered yet."""

    def __init__(self) -> None:
        self._order: deque[str] = deque()
        self._by_tool: dict[str, deque[str]] = {}
        self._taken: set[str] = set()

    def add(self, tool: str, call: str) -> None:
        """A call, in the order of the reply."""
        self._order.append(call)
        self._by_tool.setdefault(tool, deque()).append(call)

    def take(self, tool: str) -> str | None:
        """The oldest call of that tool, else the oldest of all."""
        for queue in (self._by_tool.get(tool), self._order):
            while queue:
                call = queue.popleft()
                if call not in self._taken:
                    self._taken.add(call)
                    return call
        return None
