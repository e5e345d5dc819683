"""One turn of a run fragment by fragment, and one fragment's life turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.errors import UsageError
from ctxbudget.report.run import Chapter, RunContext, ShownFragment, Story
from ctxbudget.report.tables import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.replay import Run
    from ctxbudget.trace import Fragment, Trace
    from ctxbudget.view import Life, View


def shown_turn(run: Run, view: View, scheme: Scheme) -> RunContext:
    """Every fragment born by the turn of ``view``, and what was put in, in the order of the context."""
    row = run.turns[view.turn - 1]
    lives = {life.id: life for life in run.lives if life.since <= view.turn <= life.until}
    recorded = {fragment.id for fragment in view.log}
    merged = {stand.id for one in view.log if (stand := _own(view, one)) is not None}
    put = [one for one in view.fragments() if one.id not in recorded and one.id not in merged]
    listed = sorted([*view.log, *put], key=lambda one: view.place_of[one.id])
    fragments = [
        _recorded(view, one, lives[one.id], scheme) if one.id in recorded else _put(one, scheme) for one in listed
    ]
    return RunContext(view.turn, row.before, view.tokens, view.tokens / run.window, fragments)


def _own(view: View, fragment: Fragment) -> Fragment | None:
    """The stand-in that stands for this fragment alone."""
    stand = view.stand_for(fragment.id)
    alone = stand is not None and len(view.survival.members.get(stand.id, ())) == 1
    return stand if alone else None


def _recorded(view: View, fragment: Fragment, life: Life, scheme: Scheme) -> ShownFragment:
    stand, own = view.stand_for(fragment.id), _own(view, fragment)
    whole = stand is not None and stand.id == fragment.id
    now = fragment if whole else own
    return ShownFragment(
        id=fragment.id,
        kind=fragment.kind.value,
        layer=scheme.layer(fragment),
        role=fragment.role,
        tool=fragment.tool,
        turn=fragment.turn,
        tokens=fragment.tokens,
        now=now.tokens if now else 0,
        form=life.form,
        since=life.since,
        by=life.by,
        stand_in=None if whole or stand is None else stand.id,
        text=None if own is None else own.text,
        line=fragment.origin.line,
        what=describe(fragment),
    )


def _put(fragment: Fragment, scheme: Scheme) -> ShownFragment:
    """What was put in for several fragments, or for none."""
    return ShownFragment(
        id=fragment.id,
        kind=fragment.kind.value,
        layer=scheme.layer(fragment),
        role=fragment.role,
        tool=fragment.tool,
        turn=fragment.turn,
        tokens=fragment.tokens,
        now=fragment.tokens,
        form=fragment.form.value if fragment.form else "put in",
        since=fragment.turn,
        by="",
        stand_in=None,
        text=fragment.text,
        line=fragment.origin.line or None,
        what=describe(fragment),
    )


def story(trace: Trace, run: Run, name: str, scheme: Scheme, *, pinned: bool, holds: Sequence[str]) -> Story:
    """The life of the fragment with the id ``name``. Raises UnknownName, with the nearest id."""
    fragment = found(trace, name)
    return Story(
        id=fragment.id,
        kind=fragment.kind.value,
        layer=scheme.layer(fragment),
        role=fragment.role,
        tool=fragment.tool,
        turn=fragment.turn,
        tokens=fragment.tokens,
        line=fragment.origin.line,
        pinned=pinned,
        what=describe(fragment),
        holds=list(holds),
        chapters=list(_chapters(run, fragment)),
    )


def found(trace: Trace, name: str) -> Fragment:
    """The recorded fragment with that id. Raises UsageError, which says where the ids stand: there may be thousands."""
    known = {fragment.id: fragment for fragment in trace.fragments}
    if name not in known:
        raise UsageError(f"unknown fragment {name!r}", hint="--turn N lists the fragments of a turn with their ids")
    return known[name]


def _chapters(run: Run, fragment: Fragment) -> Iterator[Chapter]:
    stands = dict(_stands(run, fragment))
    for life in (life for life in run.lives if life.id == fragment.id):
        stand, reason = stands.get(life.since, (fragment, ""))
        replaced = stand is not None and stand.id != fragment.id
        yield Chapter(
            since=life.since,
            until=life.until,
            form=life.form,
            by=life.by,
            reason=reason if life.by else "",
            stand_in=stand.id if stand and replaced else None,
            tokens=stand.tokens if stand else 0,
            text=stand.text if stand and replaced else None,
        )


def _stands(run: Run, fragment: Fragment) -> Iterator[tuple[int, tuple[Fragment | None, str]]]:
    """By turn, where it changed: what stands for the fragment from then on, and why."""
    stand: Fragment | None = fragment
    for row in run.turns:
        before, reason = stand, ""
        for change in row.edits:
            if stand is not None and stand.id in change.removed:
                old, stand, reason = stand.id, None, change.reason
                heirs = [new for new in change.inserted if old in new.stands_for]
                stand = next(iter(heirs or (change.inserted if change.form else ())), None)
            if any(new.id == fragment.id for new in change.inserted):
                stand, reason = fragment, change.reason
        if stand is not before:
            yield row.turn, (stand, reason)
