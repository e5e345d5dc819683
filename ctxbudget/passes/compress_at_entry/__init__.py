"""Compress tool output where it enters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.digests import digest
from ctxbudget.passes.compress_at_entry.hints import hints
from ctxbudget.trace import Edit, Form, Fragment
from ctxbudget.view import stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "compress-at-entry"


@dataclass(frozen=True, slots=True)
class CompressAtEntry:
    """Put the short form of a large result in its place, by its type, before it is ever sent.

    Keeps: count, columns and three rows of a table; the lines round each kind of error of a log; failed tests with
    their errors; of a file the part that earlier context points at, else its outline.
    Costs: nothing for the cache where it runs at entry; what was left out must be asked for again, more narrowly.
    Fails: an edit needs the exact old lines, and of a file that nothing pointed at only the outline is there.
    Use when: tools answer with far more than is asked of them.
    """

    cap: float = 400
    """Results larger than this are compressed to it: tokens, or a fraction of (window - reserve). At 400 a table shows
    three rows and a log five lines round each kind of error."""
    exclude_tools: tuple[str, ...] = ()
    """Tools whose results are never compressed."""
    classes: tuple[str, ...] = ()
    """Tool classes (read, search, shell ...) whose results alone are compressed; empty: all."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit per large result."""
        cap = view.share(self.cap)
        for _, fragment in list(view.standing(self, lambda one: self._large(one, cap)).oldest()):
            new = None if fragment.id in view.pins.ids else _short(view, fragment, cap)
            if new is not None:
                yield Edit(NAME, (fragment.id,), (new,), Form.DIGEST, f"a result over {cap:,} tokens")

    def _large(self, fragment: Fragment, cap: int) -> bool:
        if not fragment.answers or fragment.form is not None or fragment.tokens <= cap or not fragment.text:
            return False
        if fragment.tool in self.exclude_tools:
            return False
        return not self.classes or (fragment.resource is not None and fragment.resource.cls in self.classes)


def _short(view: View, fragment: Fragment, cap: int) -> Fragment | None:
    text = digest(fragment, cap, view.tokens_of, hints=hints(view, fragment))
    return stand_in(view, fragment, text, Form.DIGEST) if text else None
