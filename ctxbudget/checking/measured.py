"""What a check measures: the size of every turn, of its layers, of what it adds, and of each result; recorded, or
replayed under a strategy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget import ledger
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.replay import Run, RunTurn
    from ctxbudget.trace import Fragment, Trace


@dataclass(frozen=True, slots=True)
class TurnSize:
    """One turn, in tokens: ``size`` is reported where ``reported``, else ``estimated``; ``added`` entered at it."""

    turn: int
    line: int | None
    size: int
    estimated: int
    reported: bool
    added: int


@dataclass(frozen=True, slots=True)
class Entered:
    """A fragment as it entered, and what it cost then: whole, or the stand-in made of it at once."""

    fragment: Fragment
    tokens: int
    turn: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One trace, measured. ``entered`` holds what came in by turn, ``results`` every result by turn and call, with all
    its parts (a call may be answered by texts and pictures), told by its largest one. ``by_layer`` gives the layers of
    every turn under a scheme, always estimated; ``error`` is that of our counts (median, a fraction), None where
    nothing tells."""

    trace: Trace
    turns: tuple[TurnSize, ...]
    entered: Mapping[int, Sequence[Entered]]
    results: Mapping[tuple[int, str], Entered]
    by_layer: Callable[[Scheme], list[Mapping[str, int]]]
    error: float | None

    @property
    def peak(self) -> TurnSize | None:
        """The fullest turn, of equal ones the first."""
        return max(self.turns, key=lambda one: one.size, default=None)

    def arrivals(self, turn: int) -> Sequence[Entered]:
        """What entered at a turn."""
        return self.entered.get(turn, ())


def recorded(trace: Trace, scheme: Scheme) -> Measured:
    """The contexts as they were sent."""
    entries = list(ledger.entries(trace, scheme))
    turns = tuple(
        TurnSize(
            entry.turn.index, entry.turn.line, entry.size, entry.tokens, entry.turn.reported is not None, entry.added
        )
        for entry in entries
    )
    entered = {
        turn.index: [Entered(one, one.tokens, turn.index) for one in trace.entering(turn)] for turn in trace.turns
    }

    def by_layer(wanted: Scheme) -> list[Mapping[str, int]]:
        return [entry.layers for entry in (entries if wanted == scheme else ledger.entries(trace, wanted))]

    return Measured(trace, turns, entered, _results(entered), by_layer, error_of(trace))


def replayed(trace: Trace, run: Run, again: Callable[[Scheme], Run]) -> Measured:
    """The contexts that a strategy would have sent; ``again`` replays under another scheme."""
    entered = {row.turn: list(_entered(trace, row)) for row in run.turns}
    turns = tuple(
        TurnSize(
            turn=row.turn,
            line=trace.turns[row.turn - 1].line,
            size=row.tokens,
            estimated=row.tokens,
            reported=False,
            added=sum(one.tokens for one in entered[row.turn]),
        )
        for row in run.turns
    )

    def by_layer(wanted: Scheme) -> list[Mapping[str, int]]:
        same = wanted.name == run.scheme and wanted.layers == run.layers
        return [row.layers for row in (run if same else again(wanted)).turns]

    return Measured(trace, turns, entered, _results(entered), by_layer, error_of(trace))


def _results(entered: Mapping[int, Sequence[Entered]]) -> dict[tuple[int, str], Entered]:
    parts: dict[tuple[int, str], list[Entered]] = {}
    for one in (one for members in entered.values() for one in members):
        if one.fragment.answers and one.fragment.call is not None:
            parts.setdefault((one.turn, one.fragment.call), []).append(one)
    found = {}
    for key, members in parts.items():
        largest = max(members, key=lambda one: one.tokens)
        found[key] = Entered(largest.fragment, sum(one.tokens for one in members), largest.turn)
    return found


def error_of(trace: Trace) -> float | None:
    """The median error of our counts on this trace, a fraction; None where the file reports too little to tell."""
    return trace.calibration.median_error if trace.calibration is not None else None


def hides_tools(trace: Trace) -> bool:
    """Whether what was billed and is not in the file may hold the definitions of the tools."""
    kinds = {fragment.kind for fragment in trace.fragments if fragment.tokens}
    return Kind.UNSEEN in kinds and Kind.TOOL_DEFINITIONS not in kinds


def _entered(trace: Trace, row: RunTurn) -> Iterator[Entered]:
    """What arrived at a turn, as the edits of the same turn left it."""
    came = {fragment.id: fragment for fragment in trace.entering(trace.turns[row.turn - 1])}
    stands = {id: fragment.tokens for id, fragment in came.items()}
    behind = {id: id for id in came}
    for change in row.edits:
        for gone in change.removed:
            stands.pop(gone, None)
        for new in change.inserted:
            old = next((behind[one] for one in (*change.removed, *new.stands_for, new.id) if one in behind), None)
            if old is not None:
                stands[new.id], behind[new.id] = new.tokens, old
    yield from (Entered(came[behind[id]], tokens, row.turn) for id, tokens in stands.items())
