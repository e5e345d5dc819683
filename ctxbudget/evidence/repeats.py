"""D5 and D6: what was asked for before, and what was done before to no effect."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ctxbudget.evidence.sources import NEWEST, OLDEST
from ctxbudget.evidence.uses import Signal, Use
from ctxbudget.resources import READ, covers, reads, same_path

if TYPE_CHECKING:
    from ctxbudget.evidence.actions import Action
    from ctxbudget.evidence.changes import Changes
    from ctxbudget.trace import Resource

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Asked:
    """A resource that was asked for and came: ``ids`` are the fragments of the result, ``turn`` when they entered."""

    place: int
    resource: Resource
    turn: int
    ids: tuple[str, ...]


class Requests:
    """Resources asked for so far, filled in the order of the log."""

    def __init__(self) -> None:
        """Nothing asked for."""
        self._asked: dict[tuple[str, str], list[Asked]] = {}

    def again(self, action: Action, changes: Changes) -> Use | None:
        """D5, where an earlier result in reach holds all that this call asks for.

        ``changed`` names the last change of a file that was read, or else the last call that could have changed
        anything, in the same reply too. Two parts of one file, neither within the other, are two resources.
        """
        resource = action.call.resource
        if resource is None or not reads(resource) or resource.target is None:
            return None
        held = [one for one in self._near(resource) if one.turn <= action.turn and _holds(one.resource, resource)]
        if not held:
            return None
        last = held[-1]
        if resource.cls == READ:
            change = changes.of(resource.target, action.place)
            changed = change.id if change is not None and change.place > last.place else None
        else:
            changed = changes.any(last.place, action.place)
        ids = tuple(id for one in held for id in one.ids)
        return Use(
            Signal.AGAIN, action.turn, action.call.id, (), ids, last.ids[-1], resource.target, changed, action.failed
        )

    def reads_of(self, file: str, turn: int) -> list[Asked]:
        """The results of reading the file that the context of ``turn`` could hold, whatever lines they show."""
        near = _ends(self._asked.get((READ, _name(file)), []))
        return [one for one in near if one.turn <= turn and same_path(one.resource.target or "", file)]

    def note(self, action: Action) -> None:
        """A call and its result; a failed one brought nothing."""
        resource = action.call.resource
        if resource is not None and reads(resource) and resource.target and action.results and not action.failed:
            ids = tuple(result.id for result in action.results)
            asked = Asked(action.place, resource, action.results[-1].turn, ids)
            self._asked.setdefault((resource.cls, _name(resource.target)), []).append(asked)

    def _near(self, resource: Resource) -> list[Asked]:
        return _ends(self._asked.get((resource.cls, _name(resource.target or "")), []))


class Loops:
    """Calls made so far, by their exact text, filled in the order of the log."""

    def __init__(self, spoken: list[int]) -> None:
        """``spoken`` are the places at which the user said something: a new word may ask for the same again."""
        self._spoken = spoken
        self._made: dict[str, list[Action]] = {}

    def again(self, action: Action, changes: Changes) -> Use | None:
        """D6, where nothing could have changed since the same call.

        A call that may itself change something (a script, a click) counts only where its answer is the same to the
        letter. The answer of the first has to be in reach: two equal calls in one reply are no loop.
        """
        chained = self._made.get(action.call.text, [])
        if not chained or not self._idle(chained[-1], action, changes):
            self._made[action.call.text] = [action]
            return None
        chained.append(action)
        earlier = [made for made in _ends(chained[:-1]) if _entered(made) <= action.turn]
        if not earlier:
            return None
        ids = tuple(id for made in earlier for id in ([result.id for result in made.results] or [made.call.id]))
        return Use(Signal.LOOP, action.turn, action.call.id, (), ids, ids[-1], action.target, None, action.failed)

    def _idle(self, first: Action, second: Action, changes: Changes) -> bool:
        if changes.any(first.place, second.place) is not None:
            return False
        if bisect_left(self._spoken, second.place) > bisect_left(self._spoken, first.place):
            return False
        if first.may_change or second.may_change:
            return bool(first.results) and _answers(first) == _answers(second)
        return True


def _entered(action: Action) -> int:
    return action.results[-1].turn if action.results else action.call.turn


def _answers(action: Action) -> list[str]:
    return [result.text for result in action.results]


def _holds(outer: Resource, inner: Resource) -> bool:
    """Whether one result has all of what is asked for; the path of a file may be spelled in two ways."""
    if outer.target != inner.target and outer.cls == READ and same_path(outer.target or "", inner.target or ""):
        outer = replace(outer, target=inner.target)
    return covers(outer, inner)


def _name(target: str) -> str:
    return target.rstrip("/").rsplit("/", 1)[-1]


def _ends(items: list[_T]) -> list[_T]:
    """All of a short list, the oldest and the newest of a long one."""
    if len(items) <= OLDEST + NEWEST:
        return items
    return [*items[:OLDEST], *items[-NEWEST:]]
