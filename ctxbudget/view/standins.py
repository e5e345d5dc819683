"""Stand-ins: what a pass leaves in place of a fragment. Each has the kind of what it replaces and is smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.digests import digest, label
from ctxbudget.trace import Form, Fragment, Kind, Origin
from ctxbudget.view.parts import STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.view import View

NOWHERE = Origin("", 0)
"""Text of ours has no place in the recording."""


def stand_in(view: View, old: Fragment, text: str, form: Form) -> Fragment | None:
    """A stand-in for one fragment, in its message, role and unit; None where it would not be smaller.

    Its tokens are counted and scaled once by the trace's calibrated factor, like any other text.
    """
    counted, tokens = view.count(text)
    if tokens >= old.tokens:
        return None
    made = f"{old.id}:{form}"
    while (other := view.known.get(made)) is not None and other.text != text:
        made += "+"
    return Fragment(
        made, old.kind, text, tokens, counted, old.turn, old.unit, old.message, old.role, old.origin,
        old.call, old.tool, old.resource, old.error, False, False, False, (old.id,), form,
    )  # fmt: skip


def digested(view: View, old: Fragment, cap: int) -> Fragment | None:
    """The fragment's digest within ``cap`` tokens; None where there is none that is smaller."""
    key = old.id, cap
    try:
        return view.made.digests[key]
    except KeyError:
        text = view.made.drafts.pop(key, None)
        if text is None:
            text = _drafted(view, old, cap)
        form = view.made.digests[key] = stand_in(view, old, text, Form.DIGEST) if text else None
        return form


def draft(view: View, fragments: Iterable[Fragment], cap: int) -> None:
    """Write the digests of fragments that will need one soon. One after the other costs each a fifth less than each in
    its turn, when the processor has long had to do with something else.
    """
    for old in fragments:
        key = old.id, cap
        if key not in view.made.digests and key not in view.made.drafts:
            view.made.drafts[key] = _drafted(view, old, cap)


def _drafted(view: View, old: Fragment, cap: int) -> str:
    return digest(old, cap, view.tokens_of) if old.tokens > 1 else ""


def shortened(call: Fragment) -> str:
    """A call without its arguments, as text: its name, target and turn stay."""
    return f"{label(call)} [{call.tokens:,} tokens of arguments cleared]"


def state_block(view: View, by: str, text: str) -> Fragment:
    """A block of state: a message of ours at the tail of the view, in the user's role, pinned until it is rewritten."""
    made = f"{by}@{view.turn}"
    while (other := view.known.get(made)) is not None and other.text != text:
        made += "+"
    counted, tokens = view.count(text)
    return Fragment(made, Kind.SUMMARY, text, tokens, counted, view.turn, made, STATE, "user", NOWHERE, pinned=True)


def notice(view: View, by: str, text: str, removed: Sequence[Fragment]) -> Fragment:
    """A message of ours that says that ``removed`` are gone: injected, in the user's role."""
    made = f"{by}@{view.turn}"
    while made in view.known:
        made += "+"
    counted, tokens = view.count(text)
    return Fragment(
        made, Kind.INJECTED, text, tokens, counted, view.turn, made, -view.turn, "user", NOWHERE,
        stands_for=tuple(old.id for old in removed), form=Form.NOTICED,
    )  # fmt: skip
