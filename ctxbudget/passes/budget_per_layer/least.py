"""The least that can stand for a fragment whose unit stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.trace import Form
from ctxbudget.view import shortened_call, stand_in

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View

GONE = "[result no longer shown]"
_LEAST = -1
"""The key under which a view remembers the least form of a fragment, beside its digests by their cap."""


def least(view: View, item: Fragment) -> Fragment:
    """A call without its arguments, a marker for a result; itself where that would not be smaller."""
    key = item.id, _LEAST
    try:
        return view.digests[key] or item
    except KeyError:
        form = shortened_call(view, item) if item.asks else stand_in(view, item, GONE, Form.CLEARED)
        view.digests[key] = form
        return form or item
