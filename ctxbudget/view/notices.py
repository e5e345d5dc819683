"""The notice that a pass leaves in place of what it removed, and the one that the engine puts in front."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.trace import Edit, Form
from ctxbudget.view.placing import STRIDE
from ctxbudget.view.standins import notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.trace import Fragment
    from ctxbudget.view.view import View

REMOVED = "[earlier turns removed]"


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


def opens(view: View, first: Fragment | None) -> bool:
    """Whether a fragment may be the first after the system: user text, or what the recording itself begins with."""
    return first is not None and ((first.role == "user" and not first.answers) or first is view.log[view.overhead])


def put_in_front(view: View) -> Fragment | None:
    """The engine's notice that the first turns are gone, where it stands."""
    return view.live.get(view.overhead * STRIDE - 1)


def freed(view: View, edit: Edit) -> int:
    """Tokens that the view loses by an edit that drops messages, the engine's notice included: what is first then may
    need one, or make one needless.
    """
    gone, first = set(edit.removed), None
    for place in islice(view.places, bisect_left(view.places, view.overhead * STRIDE), None):
        one = view.live[place]
        if one.id in gone and edit.inserted:
            first = edit.inserted[0]
            break
        if one.id not in gone and one.role != "system":
            first = one
            break
    standing = put_in_front(view)
    needed = 0 if opens(view, first) else view.tokens_of(REMOVED)
    left = sum(view.known[one].tokens for one in edit.removed) - sum(new.tokens for new in edit.inserted)
    return left + (standing.tokens if standing is not None else 0) - needed
