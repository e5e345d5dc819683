"""The notice that a pass leaves in place of what it removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.trace import Edit, Form
from ctxbudget.view.placing import STRIDE
from ctxbudget.view.standins import notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.trace import Fragment
    from ctxbudget.view.view import View


def dropping(view: View, by: str, gone: Sequence[Fragment], text: str, reason: str) -> Edit:
    """The edit that drops fragments. With a ``text`` a notice stands in their place, where it is smaller than they
    were; ``{messages}`` in it is how many messages are missing by then.
    """
    ids = tuple(fragment.id for fragment in gone)
    if text:
        left = notice(view, by, text.replace("{messages}", f"{_missing(view, gone):,}"), gone)
        if left.tokens < sum(fragment.tokens for fragment in gone):
            return Edit(by, ids, (left,), Form.NOTICED, reason)
    return Edit(by, ids, reason=reason)


def _missing(view: View, gone: Sequence[Fragment]) -> int:
    """How many recorded messages have nothing in the view once ``gone`` has gone, the overhead aside."""
    leaving = {fragment.id for fragment in gone}
    standing, last = 0, -1
    for fragment in view.between(view.overhead * STRIDE, view.end):
        if fragment.message >= 0 and fragment.message != last and fragment.id not in leaving:
            standing, last = standing + 1, fragment.message
    return len(view.messages) - standing
