"""The live fragments of one run.

The log of recorded fragments only grows; edits take fragments out of the view and put stand-ins in, or bring an
original back. Totals, units and indexes follow each edit, so that a turn costs what changed in it, not what the
history or the view holds. Every fragment has a place: recorded ones ``STRIDE`` apart in the order of the log, a
stand-in right where the first fragment it replaces stood; the view is its live fragments in order of place.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, TypeVar, cast

from ctxbudget.layers import AGENT
from ctxbudget.trace import Kind
from ctxbudget.view.index import Index
from ctxbudget.view.loop import Loop
from ctxbudget.view.parts import Change, Made
from ctxbudget.view.pins import Pins, overhead
from ctxbudget.view.placing import STRIDE, insert, places
from ctxbudget.view.prefix import Prefix
from ctxbudget.view.survival import Survival
from ctxbudget.view.task import TELLING, Task
from ctxbudget.view.totals import Measure, Totals
from ctxbudget.view.units import Units

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.trace import Edit, Fragment
    from ctxbudget.view.parts import Follower

T = TypeVar("T")
F = TypeVar("F", bound="Follower")


class View:
    """What the model would see, and everything a pass may ask about it. Passes read; the engine writes."""

    __slots__ = (
        "__weakref__", "_followers", "_indexes", "_prefix", "accompanied", "aids", "atomic_loops", "count", "freed",
        "here", "known", "limit", "live", "log", "loop", "made", "messages", "overhead", "pins", "place_of", "places",
        "recorded", "reserve", "scheme", "spoken", "survival", "task", "totals", "touched", "turn", "turns", "units",
        "window",
    )  # fmt: skip

    def __init__(
        self,
        *,
        window: int,
        count: Callable[[str], int],
        reserve: int = 0,
        factor: float = 1.0,
        scheme: Scheme = AGENT,
        pin: Collection[str] = (),
        must_keep: Callable[[Fragment], bool] | None = None,
        atomic_loops: bool = False,
        aids: Collection[object] = (),
    ) -> None:
        """An empty view.

        ``window`` and ``reserve`` are tokens; ``count`` counts text, ``factor`` scales the counts of stand-ins;
        ``pin`` names layers, kinds or fragment ids that stay whole, ``must_keep`` picks fragments that do;
        ``atomic_loops`` keeps a tool loop opened by thinking in one piece until it is finished; ``aids`` are what the
        run was given for its passes, such as a summariser.
        """
        self.window, self.reserve, self.limit = window, reserve, window - reserve
        self.scheme, self.atomic_loops, self.aids = scheme, atomic_loops, aids
        self.count = Measure(count, factor)
        self.turn = 0
        self.log: list[Fragment] = []
        """Every recorded fragment born so far."""
        self.known: dict[str, Fragment] = {}
        """Every fragment that was ever in view, by id."""
        self.live: dict[int, Fragment] = {}
        self.places: list[int] = []
        """Places of the live fragments, in order."""
        self.place_of: dict[str, int] = {}
        """Where every fragment that was ever in view stands, or stood last."""
        self.here: set[str] = set()
        """Ids of the live fragments."""
        self.totals, self.pins = Totals(scheme), Pins(pin, must_keep, scheme)
        self.units, self.loop, self.task, self.survival = Units(), Loop(), Task(), Survival()
        self.overhead = 0
        """How many leading fragments of the log came before the first user message: never edited."""
        self.spoken: set[int] = set()
        """Messages that hold user text."""
        self.accompanied: set[int] = set()
        """Messages that hold text which a harness injected."""
        self.messages: list[int] = []
        """Place of the first fragment of each message after the overhead."""
        self.turns: list[int] = []
        """Place where each turn's arrivals begin."""
        self.freed: dict[str, int] = {}
        """Tokens each pass has freed this turn."""
        self.recorded: Sequence[Edit] = ()
        """What the recorded agent itself edited before this turn."""
        self.touched: dict[str, Fragment] = {}
        """What came or went since the rules were last asked; of those that entered only what can break one: a part
        of a unit that is no longer whole, and what nothing stands before."""
        self.made = Made()
        self._prefix = Prefix()
        self._indexes: dict[Hashable, Index] = {}
        self._followers: dict[Hashable, Follower] = {}

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────────────

    def __contains__(self, id: str) -> bool:
        return id in self.here

    def __len__(self) -> int:
        return len(self.places)

    @property
    def tokens(self) -> int:
        """The whole view."""
        return self.totals.tokens

    @property
    def layers(self) -> Mapping[str, int]:
        """Tokens by layer; they add up to ``tokens``."""
        return self.totals.layers

    @property
    def end(self) -> int:
        """The place after everything."""
        return len(self.log) * STRIDE

    @property
    def arrivals(self) -> list[Fragment]:
        """What stands at the places of this turn's arrivals."""
        return list(self.between(self.turns[-1], self.end)) if self.turns else []

    def fragments(self) -> Iterator[Fragment]:
        """The live fragments, oldest first."""
        return (self.live[place] for place in self.places)

    def between(self, start: int, stop: int) -> Iterator[Fragment]:
        """The live fragments from place ``start`` up to ``stop`` (not included), oldest first."""
        for place in self.places[bisect_left(self.places, start) : bisect_left(self.places, stop)]:
            yield self.live[place]

    def tokens_since(self, start: int) -> int:
        """Tokens from place ``start`` on, summed up from the nearer end."""
        at = bisect_left(self.places, start)
        if at * 2 > len(self.places):
            return sum([self.live[place].tokens for place in self.places[at:]])
        return self.tokens - sum([self.live[place].tokens for place in self.places[:at]])

    def editable(self, stop: int) -> Iterator[Fragment]:
        """The live fragments before place ``stop`` that are not pinned, oldest first."""
        places, live, pins = self.places, self.live, self.pins.ids
        found = places[bisect_left(places, self.overhead * STRIDE) : bisect_left(places, stop)]
        return (one for place in found if (one := live[place]).id not in pins)

    def stand_for(self, id: str) -> Fragment | None:
        """What stands in the view for a fragment: itself, its stand-in, or nothing where it is lost."""
        name: str | None = id
        while name is not None:
            if name in self.here:
                return self.known[name]
            name = self.survival.holder.get(name)
        return None

    def turn_start(self, turn: int) -> int:
        """The place where the arrivals of a turn begin; 0 for turns before the first, the end for those to come."""
        if turn < 1:
            return 0
        return self.turns[turn - 1] if turn <= len(self.turns) else self.end

    def share(self, amount: float) -> int:
        """An amount in tokens: up to 1 it is a fraction of (window - reserve), above it is tokens already."""
        return int(amount * self.limit) if amount <= 1 else int(amount)

    def aid(self, kind: type[T]) -> T | None:
        """What the run was given of this type: never by a strategy file. None where it was given none."""
        return next((one for one in self.aids if isinstance(one, kind)), None)

    def tokens_of(self, text: str) -> int:
        """What a text of ours costs in a prompt."""
        return self.count(text)[1]

    def standing(self, question: Hashable, admits: Callable[[Fragment], bool]) -> Index:
        """The live fragments that ``admits`` lets in; ``question`` names it, so that it is asked once per fragment."""
        index = self._indexes.get(question)
        if index is None:
            index = self._indexes[question] = Index(admits)
            for place in self.places:
                if admits(self.live[place]):
                    index.add(place, self.live[place])
        return index

    def follower(self, question: Hashable, make: Callable[[View], F]) -> F:
        """What one pass remembers, such as the log by layer; made when first asked for, then kept up to date."""
        if question not in self._followers:
            self._followers[question] = make(self)
        return cast("F", self._followers[question])

    def prefix(self) -> int:
        """Tokens at the start that stand unchanged since the previous turn's view."""
        return self._prefix.tokens(self)

    # ── writing: the engine only ───────────────────────────────────────────────────────────────────────────────

    def begin(self, turn: int, recorded: Sequence[Edit] = ()) -> None:
        """The turn to come; its arrivals enter next."""
        self._prefix.begin()
        self.turn, self.recorded = turn, recorded
        self.turns.append(self.end)
        self.freed.clear()
        self.task.reached = False

    def enter(self, fragments: Sequence[Fragment]) -> None:
        """Recorded fragments enter the log and the view."""
        log, pins, units, touched, followers = self.log, self.pins, self.units, self.touched, self._followers.values()
        if not log:
            self.overhead = overhead(fragments)
        self.spoken.update([one.message for one in fragments if one.kind is Kind.USER])
        self.survival.born(fragments, self.turn)
        fixed, edge = self.overhead, self.overhead * STRIDE
        for fragment in fragments:
            number = len(log)
            place = number * STRIDE
            if number < fixed or fragment.pinned or (pins.choosy and pins.holds(fragment)):
                pins.ids.add(fragment.id)
            if number >= fixed and (not number or log[-1].message != fragment.message):
                self.messages.append(place)
            if not self.places or self.places[-1] < edge:
                touched[fragment.id] = fragment
            log.append(fragment)
            units.enter(place, fragment)
            if fragment.kind in TELLING:
                self.task.enter(place, fragment)
            finished = self.loop.enter(place, fragment)
            self._add(place, fragment)
            if fragment.call is not None and units.parted(fragment.unit):
                touched[fragment.id] = fragment
            for one in followers:
                one.enter(place, fragment, finished)

    def apply(self, edit: Edit) -> Change:
        """Carry out one edit. Raises ValueError where it removes what is not in view (a mistake of the pass)."""
        known, here, gone, new = self.known, self.here, edit.removed, edit.inserted
        removed = [known[one] for one in gone if one in here]
        if len(removed) < len(gone) or (len(gone) > 1 and len(set(gone)) < len(gone)):
            missing = [one for one in gone if one not in here]
            raise ValueError(f"{edit.by} removes {', '.join(missing) or 'a fragment twice'}: not in view")
        spots = places(self, removed, new) if new else []
        before = after = 0
        for fragment in removed:
            before += fragment.tokens
            self._drop(self.place_of[fragment.id], fragment, edit.by)
        for spot, fragment in zip(spots, new, strict=True):
            after += fragment.tokens
            self._put(spot, fragment, edit.by)
        self.freed[edit.by] = self.freed.get(edit.by, 0) + before - after
        change = Change(edit.by, edit.form, gone, new, before, after, edit.reason)
        self.survival.note(change, removed)
        return change

    def unpin(self, ids: Collection[str]) -> None:
        """Hold these no longer: the recorded agent itself removed them."""
        self.loop.release(ids)
        for one in self.pins.ids.intersection(ids):
            self.pins.ids.discard(one)
            self.pins.tokens -= self.known[one].tokens if one in self else 0

    def _put(self, place: int, fragment: Fragment, by: str) -> None:
        self._prefix.touch(place, None)
        self.touched[fragment.id] = fragment
        self._add(place, fragment)
        for follower in self._followers.values():
            follower.put(place, fragment, by)

    def _add(self, place: int, fragment: Fragment) -> None:
        self.known[fragment.id] = fragment
        self.place_of[fragment.id] = place
        self.here.add(fragment.id)
        self.live[place] = fragment
        insert(self.places, place)
        self.totals.add(fragment, 1)
        if fragment.id in self.pins.ids:
            self.pins.tokens += fragment.tokens
        if self._indexes:
            for index in self._indexes.values():
                if index.admits(fragment):
                    index.add(place, fragment)
        if fragment.call is not None:
            if self.units.add(place, fragment):
                self.loop.revived(fragment.unit)
        elif fragment.kind is Kind.THINKING:
            self.loop.show(fragment.id, 1)
        elif fragment.kind is Kind.INJECTED:
            self.accompanied.add(fragment.message)

    def _drop(self, place: int, fragment: Fragment, by: str) -> None:
        self._prefix.touch(place, fragment.id)
        self.touched[fragment.id] = fragment
        self.here.discard(fragment.id)
        del self.live[place]
        del self.places[bisect_left(self.places, place)]
        self.totals.add(fragment, -1)
        if fragment.id in self.pins.ids:
            self.pins.tokens -= fragment.tokens
        if self._indexes:
            for index in self._indexes.values():
                if place in index.held:
                    index.drop(place)
        if fragment.call is not None:
            if self.units.drop(place, fragment):
                self.loop.emptied(fragment.unit)
        elif fragment.kind is Kind.THINKING:
            self.loop.show(fragment.id, -1)
        for follower in self._followers.values():
            follower.drop(fragment, by)
