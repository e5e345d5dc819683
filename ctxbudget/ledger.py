"""Per-turn sums of a trace as it was recorded, in one pass: cost grows with fragments and edits, not turns × size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.layers import Scheme
    from ctxbudget.trace import Compaction, Fragment, Kind, Trace, Turn


@dataclass(frozen=True, slots=True)
class Entry:
    """The recorded context of one turn: tokens by layer and by kind, what entered, what a compaction found."""

    turn: Turn
    layers: dict[str, int]
    kinds: dict[str, int]
    added: int
    before: int
    tokens: int
    """The estimated prompt: the sum of the layers."""
    size: int
    """The prompt as reported, else as estimated."""


class Life(NamedTuple):
    """A fragment and the turns it was carried: from its own turn to ``until``, both inclusive (none if less)."""

    fragment: Fragment
    until: int

    @property
    def turns(self) -> int:
        """How many prompts held it."""
        return max(0, self.until - self.fragment.turn + 1)

    @property
    def token_turns(self) -> int:
        """Its rent: tokens × turns carried."""
        return self.fragment.tokens * self.turns


def entries(trace: Trace, scheme: Scheme) -> Iterator[Entry]:
    """The recorded contexts, turn by turn. A compaction takes effect before the turn it names."""
    layers = dict.fromkeys(scheme.layers, 0)
    kinds: dict[Kind, int] = {}
    known: dict[str, Fragment] = {}
    due = _by_turn(trace)

    def move(fragment: Fragment, sign: int) -> None:
        moved = sign * fragment.tokens
        layers[scheme.layer(fragment)] += moved
        kinds[fragment.kind] = kinds.get(fragment.kind, 0) + moved

    compacts = bool(due)
    for turn in trace.turns:
        added = 0
        for fragment in trace.entering(turn):
            if compacts:
                known[fragment.id] = fragment
            tokens, kind = fragment.tokens, fragment.kind
            added += tokens
            layers[scheme.layer(fragment)] += tokens
            kinds[kind] = kinds.get(kind, 0) + tokens
        before = sum(layers.values())
        for compaction in due.get(turn.index, ()):
            # what came in only after the compaction is not what it found
            before -= sum(
                fragment.tokens for fragment in trace.entering(turn) if fragment.id not in compaction.edit.removed
            )
            for gone in compaction.edit.removed:
                move(known.pop(gone), -1)
            for fragment in compaction.edit.inserted:
                known[fragment.id] = fragment
                move(fragment, 1)
        tokens = sum(layers.values())
        held = {kind.value: tokens for kind, tokens in kinds.items() if tokens}
        yield Entry(turn, dict(layers), held, added, before, tokens, turn.reported or tokens)


def lives(trace: Trace) -> list[Life]:
    """Every fragment that any prompt held, with the last turn that held it, in order of entering."""
    last = trace.turns[-1].index if trace.turns else 0
    until: dict[str, int] = {}
    inserted: list[Fragment] = []
    for compaction in trace.recorded:
        inserted.extend(compaction.edit.inserted)
        for gone in compaction.edit.removed:
            until[gone] = compaction.turn - 1
    logged = trace.fragments[: trace.turns[-1].stop] if trace.turns else ()
    merged = sorted((*inserted, *logged), key=lambda fragment: fragment.turn) if inserted else logged
    return [Life(fragment, until.get(fragment.id, last)) for fragment in merged]


def context(trace: Trace, turn: int) -> list[Fragment]:
    """The recorded context of one turn, fragment by fragment, in the order the model saw it: what an edit put in
    stands where the first removed fragment stood."""
    place: dict[str, tuple[int, int]] = {fragment.id: (at, 0) for at, fragment in enumerate(trace.fragments)}
    for compaction in trace.recorded:
        start = trace.turns[compaction.turn - 1].start, -1
        first = min((place[gone] for gone in compaction.edit.removed), default=start)[0]
        place.update((fragment.id, (first, at)) for at, fragment in enumerate(compaction.edit.inserted, 1))
    held = [life.fragment for life in lives(trace) if life.fragment.turn <= turn <= life.until]
    return sorted(held, key=lambda fragment: place[fragment.id])


def live_at_end(trace: Trace) -> list[Fragment]:
    """What the context holds when the recording ends, the final reply included."""
    last = trace.turns[-1].index if trace.turns else 0
    return [life.fragment for life in lives(trace) if life.until >= last] + list(trace.reply)


def unpaired(trace: Trace) -> tuple[list[Fragment], list[Fragment]]:
    """Calls without any result, and results without a call before them, over the whole log."""
    asked: dict[str, Fragment] = {}
    answered: set[str] = set()
    orphans: list[Fragment] = []
    for fragment in trace.fragments:
        if fragment.call is None:
            continue
        if fragment.asks:
            asked[fragment.call] = fragment
        elif fragment.call in asked:
            answered.add(fragment.call)
        else:
            orphans.append(fragment)
    return [fragment for call, fragment in asked.items() if call not in answered], orphans


def _by_turn(trace: Trace) -> dict[int, list[Compaction]]:
    due: dict[int, list[Compaction]] = {}
    for compaction in trace.recorded:
        due.setdefault(compaction.turn, []).append(compaction)
    return due
