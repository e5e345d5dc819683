"""How a digest begins: the target, what was done with it, and the turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.digests._wording import clip, flat
from ctxbudget.resources import (
    ACT,
    BROWSER,
    CREATE,
    DELEGATE,
    EDIT,
    FETCH,
    IMAGE,
    LIST,
    READ,
    RETRIEVAL,
    SCREENSHOT,
    SEARCH,
    WRITE,
)
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from ctxbudget.digests._parts import Sketch
    from ctxbudget.trace import Fragment

LONGEST = 80
"""Characters of a target. Of a longer path the end is kept, of anything else the beginning."""
_VERBS = {
    READ: "read", EDIT: "edited", WRITE: "written", CREATE: "created", LIST: "listed", SEARCH: "searched",
    FETCH: "fetched", RETRIEVAL: "asked", BROWSER: "seen", SCREENSHOT: "taken", IMAGE: "seen", DELEGATE: "delegated",
    ACT: "done",
}  # fmt: skip
_PATHS = frozenset({READ, EDIT, WRITE, CREATE, LIST, IMAGE})


def label(fragment: Fragment) -> str:
    """What a text calls a fragment: tool, target and turn, as far as there are any."""
    name = " ".join(part for part in (fragment.tool or "", _shown(fragment)) if part)
    turn = f"turn {named_turn(fragment)}"
    return f"{name}, {turn}" if name else turn


def leads(fragment: Fragment, sketch: Sketch) -> tuple[str, ...]:
    """Ways to begin, the best first, each shorter than the one before.

    A result begins ``config.py, read at turn 8``, a call ``Read config.py, turn 8``, other text ``user, turn 3``.
    """
    turn = named_turn(fragment)
    if fragment.asks:
        tool = fragment.tool or "call"
        named = f"{tool} {sketch.detail}" if sketch.detail else tool
        return f"{named}, turn {turn}", f"{tool}, turn {turn}"
    if not fragment.answers:
        return f"{fragment.kind.replace('_', ' ')}, turn {turn}", f"turn {turn}"
    shown = _shown(fragment)
    name = shown or fragment.tool or str(fragment.kind)
    cls = fragment.resource.cls if fragment.resource is not None else ""
    did = f"{sketch.verb or _VERBS.get(cls, 'run' if shown or fragment.tool else '')} at turn {turn}".strip()
    detail = f", {sketch.detail}" if sketch.detail else ""
    short = _last_name(name) if cls in _PATHS else clip(name, LONGEST // 3)
    return f"{name}{detail}, {did}", *((f"{short}, {did}",) if short else ()), f"{fragment.tool or 'it'}, turn {turn}"


def _shown(fragment: Fragment) -> str:
    """The target on one line, shortened."""
    resource = fragment.resource
    target = flat(resource.target or "") if resource is not None else ""
    if len(target) <= LONGEST or resource is None:
        return target
    if resource.cls in _PATHS and " " not in target:
        kept = target[len(target) - LONGEST :]
        return "…" + kept[max(kept.find("/"), 0) :]
    return clip(target, LONGEST)


def _last_name(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path
