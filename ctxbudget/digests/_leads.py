"""How a digest begins: the target, what was done with it, and the turn."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ctxbudget.digests._wording import clip, flat
from ctxbudget.resources import classes
from ctxbudget.resources.names import tail
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._sketch import Sketch
    from ctxbudget.trace import Fragment

LONGEST = 80
"""Characters of a target that stands whole."""
_PATH_END = 48
"""Of a longer path so much of the end is kept; of anything else the beginning, up to ``LONGEST``."""
_VERBS = {
    classes.READ: "read", classes.EDIT: "edited", classes.WRITE: "written", classes.CREATE: "created",
    classes.LIST: "listed", classes.SEARCH: "searched", classes.FETCH: "fetched", classes.RETRIEVAL: "asked",
    classes.BROWSER: "seen", classes.SCREENSHOT: "taken", classes.IMAGE: "seen", classes.DELEGATE: "delegated",
    classes.ACT: "done",
}  # fmt: skip
_PATHS = frozenset({
    classes.READ, classes.EDIT, classes.WRITE, classes.CREATE, classes.LIST, classes.IMAGE, classes.BROWSER,
    classes.FETCH,
})  # fmt: skip


def label(fragment: Fragment) -> str:
    """What a text calls a fragment: tool, target and turn, as far as there are any."""
    tool, target = tail(fragment.tool or ""), _shown(fragment)
    named = f"{tool} {target}" if target else tool
    name = target if not tool or target.startswith(f"{tool}(") else named
    turn = f"turn {named_turn(fragment)}"
    return f"{name}, {turn}" if name else turn


def leads(seen: Observed, sketch: Sketch) -> tuple[str, ...]:
    """Ways to begin, the best first, each shorter than the one before.

    A result begins ``config.py, read at turn 8``, a call ``Read config.py, turn 8``, other text ``user, turn 3``.
    """
    fragment, lines = seen.fragment, seen.range
    detail = f", {lines}" if lines else ""
    turn, tool = named_turn(fragment), tail(fragment.tool or "")
    if fragment.asks:
        name, _, turn_said = label(fragment).rpartition(", ")
        return f"{name or 'call'}{detail}, {turn_said}", f"{tool or 'call'}, {turn_said}"
    if not seen.answers:
        return f"{fragment.kind.replace('_', ' ')}, turn {turn}", f"turn {turn}"
    target = _shown(fragment)
    name = (
        (f"{tool} {target}".strip() if target.startswith("-") else target) or sketch.name or tool or str(fragment.kind)
    )
    did = f"{sketch.verb or _VERBS.get(seen.cls, 'run')} at turn {turn}"
    short = _last_name(name) if seen.cls in _PATHS else clip(name, LONGEST // 3)
    return f"{name}{detail}, {did}", f"{short or tool or 'it'}, {did}", f"{tool or 'it'}, turn {turn}"


def _shown(fragment: Fragment) -> str:
    """The target on one line, shortened."""
    resource = fragment.resource
    target = flat(resource.target or "") if resource is not None else ""
    if len(target) <= LONGEST or resource is None:
        return target
    if resource.cls in _PATHS and " " not in target and "/" in (kept := target[-_PATH_END:]):
        return "…" + kept[kept.find("/") :]
    return clip(target, LONGEST)


@lru_cache(maxsize=256)
def _last_name(path: str) -> str:
    """Remembered, since what is worked on comes again."""
    names = path.rstrip("/\\").replace("\\", "/").split("/")
    return "/".join(names[-2:] if "://" in path else names[-1:]) or path
