"""What the block of state is written from: deeds, constraints, the plan, and a line of each unit that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ctxbudget import constraints
from ctxbudget.digests import digest
from ctxbudget.passes.keep_state.deeds import Deeds
from ctxbudget.summaries.blocks import Piece
from ctxbudget.summaries.extract.naming import called, cut
from ctxbudget.summaries.extract.plan import OPEN_MARKS, plan
from ctxbudget.trace import Form, Kind, named_turn
from ctxbudget.view import STRIDE, is_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View

_BINDING: Final = frozenset({Kind.USER, Kind.MEMORY_FILE})
_TOLD: Final = frozenset({Kind.USER, Kind.ANSWER, Kind.RETRIEVAL, Kind.SUMMARY})
"""Kinds of single fragments that leave a line. Reasoning served a decision that is taken; a harness's text says itself
again."""
_SEVERAL: Final = 200
"""Characters of the line of a unit with several calls."""


class Memory:
    """Follows one run (``View.follower``)."""

    def __init__(self, view: View, line: int) -> None:
        """``line`` is the most tokens that the line of a unit may cost."""
        self.view, self._line = view, line
        self.deeds = Deeds()
        self.rules: dict[str, int] = {}
        """Binding sentences of the user, to the turn that said them first."""
        self.todos: tuple[str, ...] = ()
        self.gone: dict[str, str] = {}
        """Lines of the units that nothing stands for in the view, by unit, in the order in which they went."""
        self._unsettled: dict[str, None] = {}
        for number, fragment in enumerate(view.log):
            self.enter(number * STRIDE, fragment, False)
            if fragment.id not in view:
                self._unsettled[fragment.unit] = None

    # ── what the view tells ────────────────────────────────────────────────────────────────────────────────────

    def enter(self, place: int, fragment: Fragment, finished: bool) -> None:
        """A recorded fragment entered."""
        del finished
        self.deeds.note(fragment)
        if fragment.kind in _BINDING and place >= self.view.overhead * STRIDE:
            for span in constraints.find(fragment.text):
                said = " ".join(fragment.text[span.start : span.end].split())
                self.rules.setdefault(said, named_turn(fragment))
        if fragment.kind is Kind.PLAN and fragment.asks:
            items = plan([Piece(fragment, fragment.text)])
            if items:
                self.todos = tuple(one.text for one in items if one.text.startswith(OPEN_MARKS))

    def put(self, place: int, fragment: Fragment, by: str) -> None:
        """A fragment came back, or a stand-in came in."""
        del place, by
        if fragment.unit in self.gone:
            self._unsettled[fragment.unit] = None

    def drop(self, fragment: Fragment, by: str) -> None:
        """A fragment went; what stands for it is asked at the next ``settle``."""
        del by
        if not is_state(fragment):
            self._unsettled.update(dict.fromkeys(self._units(fragment)))

    def _units(self, fragment: Fragment) -> Iterator[str]:
        """The recorded units behind a fragment: its own, or those that a summary or a notice stood for."""
        if len(fragment.stands_for) < 2:
            yield fragment.unit
        elif self.view.stand_for(fragment.id) is None:
            for one in fragment.stands_for:
                yield from self._units(self.view.known[one])

    # ── what the block asks ────────────────────────────────────────────────────────────────────────────────────

    def settle(self) -> None:
        """Give each unit that is gone its line, and take the line of each that is back."""
        for unit in self._unsettled:
            first = self._lost(unit)
            if first is None:
                self.gone.pop(unit, None)
            elif unit not in self.gone and unit not in self.deeds.units and (line := self._told(first)):
                self.gone[unit] = line
        self._unsettled.clear()

    def _lost(self, unit: str) -> Fragment | None:
        """The first fragment of a unit that nothing in the view stands for."""
        if unit in self.view.units.live:
            return None
        born = self.view.units.born.get(unit)
        first = born[0] if born else self.view.known.get(unit)
        holder = None if first is None else self.view.stand_for(first.id)
        return first if holder is None or holder.form is Form.NOTICED else None

    def _told(self, first: Fragment) -> str:
        """One line of a unit: the digest of its result, or the names of its calls."""
        if first.call is None:
            return _flat(self._digest(first)) if first.kind in _TOLD else ""
        members = self.view.units.born[first.unit]
        results = [one for one in members if one.answers and one.text]
        calls = [one for one in members if one.asks and one.kind is not Kind.PLAN]
        if len(calls) == 1 and results:
            return _flat(self._digest(results[0]))
        return cut(f"turn {named_turn(first)}: {'; '.join(map(called, calls))}", _SEVERAL) if calls else ""

    def _digest(self, fragment: Fragment) -> str:
        return digest(fragment, self._line, self.view.tokens_of)


def _flat(text: str) -> str:
    return " ".join(text.split())
