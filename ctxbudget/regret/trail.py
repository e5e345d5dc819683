"""The artifact trail: which files a trace touched, and which call touched each last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence.actions import actions
from ctxbudget.evidence.standing import stands
from ctxbudget.regret.losses import Trail
from ctxbudget.resources import CREATE, EDIT, READ, WRITE, same_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.regret.sight import Sight
    from ctxbudget.trace import Fragment, Trace

_TOUCHING = frozenset({READ, EDIT, WRITE, CREATE})


def touched(trace: Trace) -> dict[str, Fragment]:
    """Each file that a call in some prompt read, made or changed, with the last such call, in order of first touch.

    The path is as the trace spells it first; other spellings of it are the same file.
    """
    last = trace.turns[-1].index if trace.turns else 0
    named: dict[str, list[str]] = {}
    found: dict[str, Fragment] = {}
    for action in actions(trace):
        if action.cls not in _TOUCHING or action.call.turn > last:
            continue
        for file in action.files or ((action.target,) if action.target else ()):
            known = named.setdefault(file.rstrip("/").rsplit("/", 1)[-1], [])
            path = next((one for one in known if same_path(one, file)), None)
            if path is None:
                known.append(file)
            found[path or file] = action.call
    return found


def trail(files: Mapping[str, Fragment], sight: Sight, turn: int) -> Trail:
    """Which of the files the context of ``turn`` still accounts for."""
    standing = [
        sight.inserted.fragments[one]
        for one, spans in sight.inserted.spans.items()
        if any(since <= turn <= until for since, until in spans)
    ]
    lost = tuple(file for file, call in files.items() if not _accounted(file, call, sight, turn, standing))
    return Trail(len(files), len(files) - len(lost), lost)


def _accounted(file: str, call: Fragment, sight: Sight, turn: int, standing: list[Fragment]) -> bool:
    if sight.whole(call.id, turn):
        return True
    place = sight.place[call.id]
    return any(_covers(one, place, sight) and stands(file, one.text) for one in standing)


def _covers(stand_in: Fragment, place: int, sight: Sight) -> bool:
    """Whether it was made of the call or of something later. A summary that names nothing it stands for may be."""
    places = [sight.place[one] for one in stand_in.stands_for if one in sight.place]
    return not places or max(places) >= place
