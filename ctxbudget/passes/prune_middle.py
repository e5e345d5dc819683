"""Drop the middle of the conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.view import cut, dropping, freed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Edit, Fragment
    from ctxbudget.view import View

NAME: Final = "prune-middle"


@dataclass(frozen=True, slots=True)
class PruneMiddle:
    """Drop whole messages from the middle, with a notice in their place.

    Keeps: the fixed overhead, the first user message, what is pinned, the last messages and the one just arrived.
    Costs: the cached prefix ends after the first user message.
    Fails: everything between the assignment and the last few messages is gone at once.
    Use when: the view does not fit any longer and nothing gentler has helped.
    """

    limit: float = 1.0
    """Prune only above this: a fraction of (window - reserve), or tokens."""
    keep_first: bool = True
    """Keep the first user message."""
    keep_last: int = 6
    """How many of the last messages stay, besides the one just arrived."""
    keep_share: float = 1 / 3
    """But no more than this fraction of the messages in view."""
    text: str = "[context compacted: {messages} earlier messages removed]"
    """The notice; ``{messages}`` is how many are missing by then. Empty: none."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit with the whole middle. What is left holds fewer messages and so has a smaller tail: the middle grows
        until it is enough, or the tail no smaller.
        """
        limit = view.share(self.limit)
        if view.tokens <= limit:
            return
        messages = _messages(view)
        count = len(messages)
        while True:
            middle = self._middle(view, messages, min(self.keep_last, int(count * self.keep_share)) + 1)
            edit = self._dropped(view, middle)
            ours = len(edit.inserted) if edit.removed else sum(message[0].message < 0 for message in middle)
            left = len(messages) - len(middle) + ours
            if left >= count or view.tokens - freed(view, edit) <= limit:
                break
            count = left
        if edit.removed:
            yield edit

    def _middle(self, view: View, messages: list[list[Fragment]], tail: int) -> list[list[Fragment]]:
        first = view.task.first if self.keep_first else None
        return [message for message in messages[: max(0, len(messages) - tail)] if message[0].message != first]

    def _dropped(self, view: View, middle: list[list[Fragment]]) -> Edit:
        """Drop it, units whole. Earlier notices alone stay where they are."""
        gone = cut(view, (fragment for message in middle for fragment in message))
        recorded = any(one.message >= 0 for one in gone)
        return dropping(
            view, NAME, gone if recorded else (), self.text, "the middle of a conversation that does not fit"
        )


def _messages(view: View) -> list[list[Fragment]]:
    """The messages in view after the overhead, without what is pinned in them."""
    found: list[list[Fragment]] = []
    for fragment in view.editable(view.end):
        if found and found[-1][0].message == fragment.message:
            found[-1].append(fragment)
        else:
            found.append([fragment])
    return found
