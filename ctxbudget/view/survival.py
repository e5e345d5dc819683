"""The form of every recorded fragment at every turn: whole, a stand-in's form, or lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.view.parts import Life

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ctxbudget.trace import Fragment
    from ctxbudget.view.parts import Change

WHOLE = "whole"
LOST = "lost"


class Survival:
    """Follows the edits of a run. Work is done per fragment whose form changes, not per fragment of the history."""

    __slots__ = ("_changed", "_closed", "_forms", "_now", "_stands_for", "counts", "holder", "members")

    def __init__(self) -> None:
        """Nothing born."""
        self.counts: dict[str, int] = {}
        """Recorded fragments by form, as of the last ``commit``."""
        self.holder: dict[str, str] = {}
        """What was replaced, to the stand-in that took its place last."""
        self.members: dict[str, dict[str, None]] = {}
        """Recorded fragments behind each stand-in, in the order in which they came there."""
        self._stands_for: dict[str, tuple[str, ...]] = {}
        self._forms: dict[str, str] = {}
        self._now: dict[str, tuple[str, int, str]] = {}
        self._changed: dict[str, tuple[str, str]] = {}
        self._closed: dict[str, list[Life]] = {}

    def born(self, id: str) -> None:
        """A recorded fragment entered."""
        self._changed[id] = WHOLE, ""

    def form(self, id: str) -> str:
        """The form of a recorded fragment right now."""
        return self._changed[id][0] if id in self._changed else self._now[id][0]

    def note(self, change: Change, removed: list[Fragment]) -> None:
        """An edit was applied; ``removed`` are the fragments of ``change.removed``."""
        if not change.inserted:
            for fragment in removed:
                self._move(self._behind(fragment.id), LOST, change.by)
            return
        if self._swaps(change):
            self.holder[change.removed[0]] = change.inserted[0].id
            self._replace(change.inserted[0], change.removed, (), change)
            return
        gone = {fragment.id: fragment for fragment in removed}
        back = [one for one in change.inserted if one.id in self._stands_for or self._recorded(one.id)]
        for fragment in back:  # first: what comes back may stand for what had stood for it
            self._leave_holder(fragment.id, list(self._originals(fragment.id)))
        for fragment in change.inserted:
            taken = _taken(fragment, gone, change)
            here = set(taken)
            away = [
                one for one in fragment.stands_for if one not in here and (one in self._forms or self._recorded(one))
            ]
            self.holder.update((old, fragment.id) for old in (*taken, *away))
            if fragment not in back:
                self._replace(fragment, taken, away, change)
        for one in gone:
            self._move(self._behind(one), LOST, change.by)
        for fragment in back:
            self._restore(fragment, change.by)

    def _swaps(self, change: Change) -> bool:
        """Whether one fragment has taken the place of the one it stands for: true of most edits."""
        first = change.inserted[0]
        new = first.id not in self._stands_for and not self._recorded(first.id)
        return len(change.inserted) == len(change.removed) == 1 and first.stands_for == change.removed and new

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
        if self._recorded(id):
            yield id
        for inner in self._stands_for.get(id, ()):
            yield from self._originals(inner)

    def _recorded(self, id: str) -> bool:
        return id in self._now or id in self._changed

    def _behind(self, id: str) -> dict[str, None]:
        if id in self.members:
            return self.members[id]
        return {id: None} if self._recorded(id) else {}

    def _move(self, ids: Iterable[str], form: str, by: str) -> None:
        for one in ids:
            self._changed[one] = form, by

    def commit(self, turn: int) -> None:
        """The view of ``turn`` is final: what changed since the one before becomes a new stretch of life."""
        for one, (form, by) in self._changed.items():
            known = self._now.get(one)
            if known is not None:
                if known[0] == form:
                    continue
                self.counts[known[0]] -= 1
                self._closed.setdefault(one, []).append(Life(one, known[1], turn - 1, known[0], known[2]))
            self._now[one] = form, turn, "" if form == WHOLE and known is None else by
            self.counts[form] = self.counts.get(form, 0) + 1
        self._changed.clear()

    def tally(self) -> dict[str, int]:
        """Recorded fragments born so far, by form; forms that nothing has are left out."""
        return {form: count for form, count in self.counts.items() if count}

    def lives(self, turn: int) -> Iterator[Life]:
        """Every stretch of every life up to ``turn``, the last one, in order of birth."""
        for one, (form, since, by) in self._now.items():
            yield from self._closed.get(one, ())
            yield Life(one, since, turn, form, by)


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
