"""The least that can stand for a fragment whose unit stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.trace import Form
from ctxbudget.view import shortened, stand_in

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View

GONE = "[result no longer shown]"
_MARK = 40
"""Characters that a call's least form has beside its target: a call no longer than that has no smaller one."""


def least(view: View, item: Fragment) -> Fragment:
    """A call without its arguments, a marker for a result; itself where that would not be smaller. ``item`` is one of
    the two.
    """
    if len(item.text) <= _MARK and item.role == "assistant":
        return item
    return stand_in(view, item, _text(item), Form.CLEARED) or item


def least_tokens(view: View, item: Fragment) -> int:
    """What that costs. It is asked for every unit that a walk comes to; the form itself is hardly ever made."""
    if len(item.text) <= _MARK and item.role == "assistant":
        return item.tokens
    known = view.made.leasts.get(item.id)
    if known is None:
        known = view.made.leasts[item.id] = min(view.tokens_of(_text(item)), item.tokens)
    return known


def _text(item: Fragment) -> str:
    return shortened(item) if item.role == "assistant" else GONE
