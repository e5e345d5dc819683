"""What a harness sees of a view, for strategies whose triggers go by its own estimate of the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View


class Harness:
    """Counted tokens and characters of a view, kept up to date by it."""

    __slots__ = ("chars", "counted")

    def __init__(self, view: View) -> None:
        """As the view stands."""
        self.counted = self.chars = 0
        for fragment in view.fragments():
            self._add(fragment, 1)

    def enter(self, place: int, fragment: Fragment, finished: bool) -> None:
        """A recorded fragment entered."""
        del place, finished
        self._add(fragment, 1)

    def put(self, place: int, fragment: Fragment, by: str) -> None:
        """An edit put a fragment in."""
        del place, by
        self._add(fragment, 1)

    def drop(self, fragment: Fragment, by: str) -> None:
        """An edit took a fragment out."""
        del by
        self._add(fragment, -1)

    def _add(self, fragment: Fragment, sign: int) -> None:
        self.counted += fragment.counted * sign
        self.chars += len(fragment.text) * sign
