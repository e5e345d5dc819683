"""What keeps a view valid: one list of rules, each answering "what is broken" and "where may I cut".

Passes ask ``cut`` before they drop anything, so that nothing breaks; ``mend`` is the fallback, for recorded edits and
for passes that did not ask. What the recording itself broke (a call never answered, a result without its call, a
first message that is not the user's) is nobody's fault: no rule counts it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from ctxbudget.trace import Edit, Form, Kind
from ctxbudget.view.notices import REMOVED, opens, put_in_front
from ctxbudget.view.parts import ENGINE
from ctxbudget.view.placing import STRIDE
from ctxbudget.view.standins import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ctxbudget.trace import Fragment
    from ctxbudget.view.loop import Stretch
    from ctxbudget.view.parts import Change
    from ctxbudget.view.view import View

_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that a view breaks: what is wrong in words, and the edit that mends it."""

    rule: str
    message: str
    edit: Edit


class Rule(Protocol):
    """One rule of validity."""

    def broken(self, view: View, touched: dict[str, Fragment]) -> list[Broken]:
        """What is broken, as far as the fragments that came or went since the last question can tell."""


class Limit(Rule, Protocol):
    """A rule that holds something back."""

    def cut(self, view: View, wanted: dict[str, Fragment]) -> None:
        """Take out of ``wanted`` what may not go; put in what must go along."""


class Pinned:
    """Pinned fragments are whole."""

    def broken(self, view: View, touched: dict[str, Fragment]) -> list[Broken]:
        """Pinned fragments that are gone or replaced; they come back."""
        pins = view.pins.ids
        if pins.isdisjoint(touched):
            return []
        gone = [fragment for one, fragment in touched.items() if one in pins and one not in view.here]
        return [Broken("pinned", f"{one.id} is pinned and was edited", _back(view, one)) for one in gone]

    def cut(self, view: View, wanted: dict[str, Fragment]) -> None:
        """Nothing pinned."""
        for one in view.pins.ids.intersection(wanted):
            del wanted[one]


class Loops:
    """Thinking of an unfinished tool loop stays whole while calls that rest on it are in view; the newest thinking
    stays in any case, for the next reply may rest on it.
    """

    def broken(self, view: View, touched: dict[str, Fragment]) -> list[Broken]:
        """Thinking that is missing; it comes back."""
        loop = view.loop
        loop.torn = [one for one in loop.torn if (one.live or one is loop.stretches[-1]) and _missing(one, view.here)]
        if not loop.torn:
            return []
        last, holder, home = loop.stretches[-1], loop.holder, loop.home
        near = [holder.get(one) or home.get(fragment.unit) for one, fragment in touched.items()]
        held = {one.start: one for one in near if one is not None and (one.live or one is last)}
        missing = [one for stretch in held.values() for one in _missing(stretch, view.here)]
        return [Broken("loop", f"{one.id} belongs to an unfinished tool loop", _back(view, one)) for one in missing]

    def cut(self, view: View, wanted: dict[str, Fragment]) -> None:
        """No thinking without all that rests on it; with ``atomic_loops`` the loop in one piece or not at all."""
        if view.atomic_loops and view.loop.stretches:
            _whole_loop(view, wanted)
        holder = view.loop.holder
        thinking = [one for one in wanted.values() if one.id in holder] if holder else []
        leaving: dict[int, set[str]] = {}
        for fragment in wanted.values() if thinking else ():
            home = view.loop.home.get(fragment.unit)
            if home is not None:
                leaving.setdefault(home.start, set()).add(fragment.unit)
        for fragment in thinking:
            stretch = view.loop.holder[fragment.id]
            if stretch is view.loop.stretches[-1] or stretch.live > len(leaving.get(stretch.start, ())):
                del wanted[fragment.id]


def _missing(stretch: Stretch, here: set[str]) -> list[Fragment]:
    """Its thinking that is not in view."""
    return [one for one in stretch.thinking if one.id not in here]


def _whole_loop(view: View, wanted: dict[str, Fragment]) -> None:
    """Take a part of the loop out again, and the calls before it that have a late result in it."""
    start = view.loop.stretches[0].start
    inside = [one for one in wanted.values() if view.place_of[one.id] >= start]
    if len(inside) < len(view.places) - bisect_left(view.places, start):
        for one in inside:
            for member in view.units.members(one):
                wanted.pop(member.id, None)


class Pairs:
    """Each result has its call before it, each call its results: units go whole, and the open one not at all."""

    def broken(self, view: View, touched: dict[str, Fragment]) -> list[Broken]:
        """Units with half a pair. They go, or are made whole again where something in them is pinned."""
        found: list[Broken] = []
        for unit in dict.fromkeys([one.unit for one in touched.values() if one.call is not None]):
            if unit in view.units.live and (wrong := view.units.unpaired(unit)):
                found += [Broken("pairs", f"{unit}: {wrong}", edit) for edit in _mended(view, unit, wrong)]
        return found

    def cut(self, view: View, wanted: dict[str, Fragment]) -> None:
        """Whole units."""
        for unit in dict.fromkeys(fragment.unit for fragment in wanted.values() if fragment.call is not None):
            members = [one.id for one in view.units.live[unit].values()]
            if unit == view.units.open or not all(map(wanted.__contains__, members)):
                for one in members:
                    wanted.pop(one, None)


def _mended(view: View, unit: str, wrong: str) -> list[Edit]:
    """The edits that take the rest of a unit out, or bring back what is missing where something in it is pinned."""
    live = [one.id for one in view.units.live[unit].values()]
    if view.pins.ids.isdisjoint(live):
        return [Edit(ENGINE, tuple(live), reason=wrong)]
    lost = [one for one in view.units.born[unit] if view.stand_for(one.id) is None]
    return [Edit(ENGINE, (), (one,), reason=wrong) for one in lost]


class Together:
    """What a harness injected leaves with the message it came in."""

    def broken(self, view: View, touched: dict[str, Fragment]) -> list[Broken]:
        """Injected text whose message is gone; it goes too."""
        if not view.accompanied:
            return []
        gone = {one: fragment for one, fragment in touched.items() if one not in view.here}
        left = tuple([one.id for one in _companions(view, gone)])
        if not left:
            return []
        reason = "the message it came in is gone"
        return [Broken("together", f"{', '.join(left)}: {reason}", Edit(ENGINE, left, reason=reason))]

    def cut(self, view: View, wanted: dict[str, Fragment]) -> None:
        """Companions of what goes."""
        for fragment in list(_companions(view, wanted)) if view.accompanied else ():
            wanted[fragment.id] = fragment


def _companions(view: View, leaving: dict[str, Fragment]) -> Iterator[Fragment]:
    """Live injected fragments of messages that lose everything else."""
    seen: set[int] = set()
    for fragment in list(leaving.values()):
        message = fragment.message
        if message not in view.accompanied or message in seen or fragment.kind is Kind.INJECTED:
            continue
        seen.add(message)
        rest = [one for one in message_of(view, fragment) if one.id not in leaving]
        if all(one.kind is Kind.INJECTED and one.id not in view.pins.ids for one in rest):
            yield from rest


def message_of(view: View, fragment: Fragment) -> Iterator[Fragment]:
    """The live fragments round a fragment's place that belong to its message."""
    at = bisect_left(view.places, view.place_of[fragment.id])
    for steps in (range(at - 1, -1, -1), range(at, len(view.places))):
        for step in steps:
            other = view.live[view.places[step]]
            if other.message != fragment.message:
                break
            yield other


class First:
    """The first message after the system is a user message; where none is left a notice stands in, so that anything
    may go.
    """

    def broken(self, view: View, touched: dict[str, Fragment]) -> list[Broken]:
        """A first message of another role; or a notice that is not needed any longer."""
        del touched
        if len(view.log) <= view.overhead:
            return []
        fine, put = opens(view, _first(view)), put_in_front(view)
        if fine is (put is None):
            return []
        reason = "the first message must be the user's"
        if put is None:
            edit = Edit(ENGINE, (), (notice(view, ENGINE, REMOVED, ()),), Form.NOTICED, reason)
        else:
            edit = Edit(ENGINE, (put.id,), (), Form.NOTICED, "a user message is first again")
        return [Broken("first", reason, edit)]


def _first(view: View) -> Fragment | None:
    """What is first after the overhead and after whatever else is the system's."""
    for place in islice(view.places, bisect_left(view.places, view.overhead * STRIDE), None):
        if view.live[place].role != "system":
            return view.live[place]
    return None


class Adjacent:
    """Results directly follow their call's message: no message of ours stands between. Places are chosen so that it
    holds whatever goes.
    """

    def broken(self, view: View, touched: dict[str, Fragment]) -> list[Broken]:
        """A summary or notice with a result right after it; it goes."""
        ours = [one for one in touched.values() if one.message < 0 and one.form is not None and one.call is None]
        parting = [one.id for one in ours if one.id in view.here and _before_result(view, one)]
        reason = "it stood between a call and its result"
        return [Broken("adjacent", f"{one}: {reason}", Edit(ENGINE, (one,), reason=reason)) for one in parting]


def _before_result(view: View, fragment: Fragment) -> bool:
    at = bisect_left(view.places, view.place_of[fragment.id]) + 1
    return at < len(view.places) and view.live[view.places[at]].answers


COMPANIONS: tuple[Limit, ...] = (Together(),)
"""For a pass that holds to the others itself."""
LIMITS: tuple[Limit, ...] = (Pinned(), Pairs(), Loops(), *COMPANIONS)
"""In this order: what is pinned decides over units, units over thinking, both over companions."""
RULES: tuple[Rule, ...] = (*LIMITS, Adjacent(), First())


def _back(view: View, fragment: Fragment) -> Edit:
    """The edit that brings an original back, in place of the stand-in that is its alone."""
    holder = view.stand_for(fragment.id)
    alone = holder is not None and len(view.survival.members.get(holder.id, ())) == 1
    return Edit(ENGINE, (holder.id,) if holder and alone else (), (fragment,), reason="it must stay whole")


def cut(view: View, wanted: Iterable[Fragment], limits: Sequence[Limit] = LIMITS) -> list[Fragment]:
    """What may go of what a pass wants to drop, and what must go along, in order of place."""
    found = {fragment.id: fragment for fragment in wanted}
    for limit in limits:
        limit.cut(view, found)
    return [found[one] for one in sorted(found, key=view.place_of.__getitem__)]


def mend(view: View) -> list[Change]:
    """Make the view valid again, as far as what was touched since the last time has broken it."""
    changes: list[Change] = []
    for _ in range(_ROUNDS):
        touched, view.touched = view.touched, {}
        if not touched:
            break
        for rule in RULES:
            for broken in rule.broken(view, touched):
                changes.append(view.apply(broken.edit))  # noqa: PERF401 - mostly there is none
    return changes
