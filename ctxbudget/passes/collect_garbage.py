"""Collect garbage: what stands twice, and copies that no longer hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ctxbudget.digests import digest, label
from ctxbudget.resources import READ
from ctxbudget.trace import Edit, Form, named_turn
from ctxbudget.view import stand_in
from ctxbudget.waste import Copies, Why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View
    from ctxbudget.waste import Spent

NAME: Final = "collect-garbage"
LONGEST: Final = 80
"""Characters of a path that is given whole."""


@dataclass(frozen=True, slots=True)
class CollectGarbage:
    """Replace observations that came again, re-reads, and copies of files that have changed, by a line each.

    Keeps: the newest true copy of everything, every call, and of a stale copy a digest that says which turn it is of.
    Costs: the cached prefix breaks at each copy that goes, most often when a file is edited soon after it was read.
    Fails: a stale copy goes whole, though its untouched lines were still true; what a command changed unseen stays;
        and a later pass that removes the copy which stayed takes along what its duplicates stood for.
    Use when: files are read, edited and read again; before any other pass.
    """

    least: int = 50
    """Smaller observations are left alone, in tokens."""
    line: int = 60
    """Most tokens of the digest of a stale copy."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit per observation that may go, oldest verdict first."""
        followed = _followed(view, self.least)
        for spent, standing in followed.due(view):
            text, form = self._left(view, spent, standing)
            new = stand_in(view, standing, text, form)
            if new is None:
                followed.forget(spent)
            else:
                yield Edit(NAME, (standing.id,), (new,), form, _reason(spent))

    def _left(self, view: View, spent: Spent, standing: Fragment) -> tuple[str, Form]:
        """What to leave in place of it."""
        if spent.why is not Why.STALE:
            return f"[duplicate of {_named(spent.by)}]", Form.DUPLICATE
        mark = f"[stale since turn {named_turn(spent.by)}]"
        if standing.form is None:
            told = f"{mark} {digest(standing, self.line, view.tokens_of)}"
            if view.tokens_of(told) < standing.tokens:
                return told, Form.CLEARED
        return mark, Form.CLEARED


def _named(fragment: Fragment) -> str:
    """The copy that stays: ``src/config.py, read at turn 38``."""
    resource = fragment.resource
    if resource is None or resource.cls != READ or len(resource.target or "") > LONGEST:
        return label(fragment)
    return f"{resource.target}, read at turn {named_turn(fragment)}"


def _reason(spent: Spent) -> str:
    if spent.why is Why.STALE:
        return f"a copy that is out of date since {label(spent.by)}"
    return "the same text came again" if spent.why is Why.REPEATED else "the same lines stand in another copy"


class _Followed:
    """The log of one view, as far as it has been looked at, and the verdicts that are still to be carried out."""

    def __init__(self, least: int) -> None:
        self._copies = Copies(least)
        self._seen = 0
        self._spent: dict[str, Spent] = {}

    def due(self, view: View) -> list[tuple[Spent, Fragment]]:
        """Verdicts with what stands in the view for each; those that have nothing left to do are forgotten."""
        for fragment in view.log[self._seen :]:
            for spent in self._copies.enter(fragment, view.__contains__):
                self._spent[spent.fragment.id] = spent
        self._seen = len(view.log)
        found = [(spent, standing) for spent in self._spent.values() if (standing := self._standing(view, spent))]
        self._spent = {spent.fragment.id: spent for spent, _ in found}
        return [(self._now(spent), standing) for spent, standing in found if standing.id not in view.pins.ids]

    def forget(self, spent: Spent) -> None:
        """There is no line smaller than it."""
        self._spent.pop(spent.fragment.id, None)

    def _standing(self, view: View, spent: Spent) -> Fragment | None:
        """What there is to replace: the observation itself or, once its copy is stale too, its duplicate's line."""
        standing = view.stand_for(spent.fragment.id)
        if standing is None:
            return None
        if spent.why is Why.STALE:
            return standing if standing.form in {None, Form.DUPLICATE} else None
        return standing if standing.form is None and spent.by.id in view else None

    def _now(self, spent: Spent) -> Spent:
        """The same verdict with the copy that stays in the end, where several went in one go."""
        by = spent.by
        while spent.why is not Why.STALE and (other := self._spent.get(by.id)) is not None and other.why is spent.why:
            by = other.by
        return replace(spent, by=by)


_VIEWS: WeakKeyDictionary[View, dict[int, _Followed]] = WeakKeyDictionary()
"""What is known of each view's log. A log only grows, so it is read once, however often a plan is made."""


def _followed(view: View, least: int) -> _Followed:
    return _VIEWS.setdefault(view, {}).setdefault(least, _Followed(least))
