"""What a replay gives: one trace under one strategy, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.view import SummaryNote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.trace import Warning as TraceWarning
    from ctxbudget.view import Change, Life, Note


class RunTurn(NamedTuple):
    """One turn of a run: what the model would have been sent, and what was done to make it so."""

    turn: int
    before: int
    """Tokens with this turn's arrivals, before any edit of this turn."""
    tokens: int
    """Tokens of the view as sent."""
    layers: Mapping[str, int]
    kinds: Mapping[str, int]
    prefix: int
    """Tokens at the start that stand as they stood in the previous turn's view."""
    edits: tuple[Change, ...]
    """In the order they were made, each against the view as it was then; repairs and the notice included."""
    repairs: int
    """Edits the engine had to make to keep the view valid."""
    overflow: bool
    """More than (window - reserve) after all stages."""
    survival: Mapping[str, int]
    """Recorded fragments born so far by form: ``whole``, a stand-in's form, or ``lost``."""
    fired: tuple[int, ...]
    """Numbers of the stages that changed something, from 1."""
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of a run. ``thrash`` names the turns at which a guarded stage had fired three times in a row."""

    peak: int
    peak_turn: int
    over: int
    """Turns over (window - reserve)."""
    firings: int
    """Times that a guarded stage (one that waits for a size) changed something."""
    thrash: tuple[int, ...]
    starved: Mapping[str, int]
    """Turns at which a layer dropped what another layer's quota had room for (CB106)."""
    sent: int
    """Tokens of all prompts."""
    prefix: int
    """Tokens of all prompts that stood unchanged at the start of the prompt before."""
    repairs: int
    summaries: int
    """Summaries that took a place."""
    summary_calls: int
    """Model calls for summaries, refused ones included."""
    summary_tokens_in: int
    summary_tokens_out: int
    summary_simulated: bool
    """Whether no model was asked: what the calls cost is what they would have cost."""


@dataclass(frozen=True, slots=True)
class Run:
    """One trace replayed under one strategy."""

    strategy: str
    options: Mapping[str, Any]
    stages: tuple[Mapping[str, Any], ...]
    pin: tuple[str, ...]
    window: int
    reserve: int
    scheme: str
    layers: tuple[str, ...]
    turns: tuple[RunTurn, ...]
    lives: tuple[Life, ...]
    """Each recorded fragment's life as stretches of one form, in the order of the log."""
    totals: Totals
    excepted: tuple[str, ...]
    """What was broken in the recording already, and is therefore nobody's fault here."""
    warnings: tuple[TraceWarning, ...]


THRASH = 3
"""Firings at consecutive turns that count as no net progress (reference: strategies 17.3; Claude Code stops at 3)."""


def totals_of(turns: tuple[RunTurn, ...], guarded: frozenset[int]) -> Totals:
    """The sums; ``guarded`` are the numbers of the stages that wait for a size."""
    sizes = [one.tokens for one in turns]
    peak = max(sizes, default=0)
    notes = [note for one in turns for note in one.notes]
    asked = [note for note in notes if isinstance(note, SummaryNote)]
    starved: dict[str, int] = {}
    for layer in [note.layer for note in notes if note.code == "starved"]:
        if layer:
            starved[layer] = starved.get(layer, 0) + 1
    firings = [guarded.intersection(one.fired) for one in turns]
    return Totals(
        peak=peak,
        peak_turn=turns[sizes.index(peak)].turn if turns else 0,
        over=sum([one.overflow for one in turns]),
        firings=sum(map(len, firings)),
        thrash=tuple(_thrash(turns, firings)),
        starved=starved,
        sent=sum(sizes),
        prefix=sum([one.prefix for one in turns]),
        repairs=sum([one.repairs for one in turns]),
        summaries=sum(bool(note.step) for note in asked),
        summary_calls=sum(note.calls for note in asked),
        summary_tokens_in=sum(note.tokens_in for note in asked),
        summary_tokens_out=sum(note.tokens_out for note in asked),
        summary_simulated=any(note.simulated for note in asked),
    )


def _thrash(turns: tuple[RunTurn, ...], firings: list[frozenset[int]]) -> list[int]:
    """Turns at which a stage fired for the third time in a row, and every third time after."""
    row: dict[int, int] = {}
    found = []
    for one, fired in zip(turns, firings, strict=True):
        row = {stage: row.get(stage, 0) + 1 for stage in fired} if fired else {}
        if row and any(length % THRASH == 0 for length in row.values()):
            found.append(one.turn)
    return found
