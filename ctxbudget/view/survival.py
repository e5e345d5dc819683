"""The form of every recorded fragment at every turn: whole, a stand-in's form, or lost."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from ctxbudget.view.parts import Life, nonzero

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ctxbudget.trace import Fragment
    from ctxbudget.view.parts import Change

WHOLE = "whole"
LOST = "lost"
_BORN = WHOLE, ""

_State: TypeAlias = "tuple[str, int, str, _State | None]"
"""A form, the turn since when, who brought it there, and the state before."""


class Survival:
    """Follows the edits of a run. Work is done per fragment whose form changes, not per fragment of the history."""

    __slots__ = ("_changed", "_forms", "_now", "_stands_for", "counts", "holder", "members")

    def __init__(self) -> None:
        """Nothing born."""
        self.counts: dict[str, int] = defaultdict(int)
        """Recorded fragments by form, as of the last ``commit``; those born since are whole there."""
        self.holder: dict[str, str] = {}
        """What was replaced, to the stand-in that took its place last."""
        self.members: dict[str, dict[str, None]] = {}
        """Recorded fragments behind each stand-in, in the order in which they came there."""
        self._stands_for: dict[str, tuple[str, ...]] = {}
        self._forms: dict[str, str] = {}
        self._now: dict[str, _State] = {}
        """Every recorded fragment's state as of the last ``commit``; what is born at one turn shares one."""
        self._changed: dict[str, tuple[str, str]] = {}
        """Those born or moved since, to their form and who brought it there: in this order forms are first told."""

    def born(self, fragments: Sequence[Fragment], turn: int) -> None:
        """Recorded fragments entered, at ``turn``."""
        now, changed, state = self._now, self._changed, (WHOLE, turn, "", None)
        for fragment in fragments:
            now[fragment.id], changed[fragment.id] = state, _BORN
        self.counts[WHOLE] += len(fragments)

    def note(self, change: Change, removed: list[Fragment]) -> None:
        """An edit was applied; ``removed`` are the fragments of ``change.removed``."""
        if not change.inserted:
            self._lose(change.removed, change.by)
            return
        if self._swaps(change):
            self._swap(change.removed[0], change.inserted[0], change)
            return
        gone = {fragment.id: fragment for fragment in removed}
        back = [one for one in change.inserted if one.id in self._stands_for or one.id in self._now]
        for fragment in back:  # first: what comes back may stand for what had stood for it
            self._leave_holder(fragment.id, list(self._originals(fragment.id)))
        for fragment in change.inserted:
            taken = _taken(fragment, gone, change)
            here = set(taken)
            away = [one for one in fragment.stands_for if one not in here and (one in self._forms or one in self._now)]
            self.holder.update((old, fragment.id) for old in (*taken, *away))
            if fragment not in back:
                self._replace(fragment, taken, away, change)
        self._lose(gone, change.by)
        for fragment in back:
            self._restore(fragment, change.by)

    def _lose(self, ids: Iterable[str], by: str) -> None:
        """Nothing stands for what is behind these any longer."""
        members, now, changed, lost = self.members, self._now, self._changed, (LOST, by)
        for one in ids:
            if one in members:
                self._move(members[one], LOST, by)
            elif one in now:
                changed[one] = lost

    def _swaps(self, change: Change) -> bool:
        """Whether one fragment has taken the place of the one it stands for: true of most edits."""
        if len(change.inserted) > 1 or len(change.removed) != 1:
            return False
        first = change.inserted[0]
        return first.stands_for == change.removed and first.id not in self._stands_for and first.id not in self._now

    def _swap(self, old: str, new: Fragment, change: Change) -> None:
        """A new stand-in takes over what is behind the one fragment that it replaces."""
        form = self._forms[new.id] = str(new.form or change.form or LOST)
        behind = self.members[new.id] = self._behind(old)
        if self._forms.get(old) != form:
            self._move(behind, form, change.by)
        self.holder[old] = new.id
        self._stands_for[new.id] = change.removed

    def _replace(self, fragment: Fragment, taken: Sequence[str], away: Sequence[str], change: Change) -> None:
        """A new stand-in takes over what is behind the fragments it replaces, in view until now or lost before."""
        form = self._forms[fragment.id] = str(fragment.form or change.form or LOST)
        behind: dict[str, None] = {}
        lost = set(away)
        for old in (*taken, *away):
            ids = self._behind(old)
            if old in lost or self._forms.get(old) != form:
                self._move(ids, form, change.by)
            behind = _joined(behind, ids)
        self.members[fragment.id] = behind
        self._stands_for[fragment.id] = (*taken, *away)

    def _restore(self, fragment: Fragment, by: str) -> None:
        """A fragment that was in view before is back."""
        ids = list(self._originals(fragment.id))
        if fragment.id in self._stands_for:
            self.members[fragment.id] = dict.fromkeys(ids)
        self._move(ids, self._forms.get(fragment.id, WHOLE), by)

    def _leave_holder(self, id: str, ids: list[str]) -> None:
        """They are not behind what stood for them any longer."""
        top = id
        while top in self.holder:
            top = self.holder[top]
        if top != id and top in self.members:
            for one in ids:
                self.members[top].pop(one, None)
        self.holder.pop(id, None)

    def _originals(self, id: str) -> Iterator[str]:
        if id in self._now:
            yield id
        for inner in self._stands_for.get(id, ()):
            yield from self._originals(inner)

    def _behind(self, id: str) -> dict[str, None]:
        if id in self.members:
            return self.members[id]
        return {id: None} if id in self._now else {}

    def _move(self, ids: Iterable[str], form: str, by: str) -> None:
        changed, moved = self._changed, (form, by)
        for one in ids:
            changed[one] = moved

    def commit(self, turn: int) -> None:
        """The view of ``turn`` is final: what changed since the one before becomes a new stretch of life."""
        now, counts = self._now, self.counts
        for one, moved in self._changed.items():
            if moved is _BORN:
                continue
            (form, by), before = moved, now[one]
            was, since, _, _ = before
            if was != form:
                now[one] = form, turn, by, before if since < turn else None
                counts[was] -= 1
                counts[form] += 1
        self._changed.clear()

    def tally(self) -> dict[str, int]:
        """Recorded fragments born so far, by form; forms that nothing has are left out."""
        return nonzero(self.counts)

    def lives(self, turn: int) -> list[Life]:
        """Every stretch of every life up to ``turn``, the last one, in order of birth."""
        found: list[Life] = []
        made = tuple.__new__  # a run has more of them than fragments: without the call that ``Life(…)`` is
        state: _State | None
        for one, last in reversed(self._now.items()):
            until, state = turn, last
            while state is not None:
                form, since, by, state = state
                found.append(made(Life, (one, since, until, form, by)))
                until = since - 1
        found.reverse()
        return found


def _taken(fragment: Fragment, gone: dict[str, Fragment], change: Change) -> list[str]:
    """The removed fragments that a stand-in replaces, taken out of ``gone``: those it names and other stand-ins of
    those, else all that are left (a recorded summary names none).
    """
    if fragment.stands_for:
        names = set(fragment.stands_for)
        mine = [
            one for one in gone.values() if one.id in names or (one.stands_for and names.issuperset(one.stands_for))
        ]
    else:
        mine = list(gone.values()) if fragment.form or change.form else []
    return [gone.pop(one.id).id for one in mine]


def _joined(left: dict[str, None], right: dict[str, None]) -> dict[str, None]:
    """Both together; the larger one is reused, so that a long chain of summaries stays linear."""
    if len(left) < len(right):
        left, right = right, left
    left.update(right)
    return left
