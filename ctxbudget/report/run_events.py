"""What a run did, condensed for people: its edits put together by turn, pass and outcome, and its notes by kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.report.regret import LossRow
    from ctxbudget.report.run import EditRow, FateRow, RunReport

LOST = "lost"
BACK = "back whole"
REPLACED = "replaced"
PUT_IN = "put in"
APART = frozenset({"starved", "summary", "summary-refused"})
"""Notes that are told elsewhere."""


@dataclass(slots=True)
class Event:
    """The edits of one pass with one outcome at one turn.

    ``outcome`` is a stand-in's form, ``lost``, ``back whole``, ``replaced`` or ``put in``; ``kinds`` counts what was
    removed, and where nothing was, what came. ``prefix`` is how much of the turn's prompt stood as in the one before, a
    fraction; ``gone`` are the constraints that were lost by it, ``needed`` the turns of later uses whose last source in
    view it took away.
    """

    turn: int
    by: str
    outcome: str
    prefix: float
    kinds: Counter[str] = field(default_factory=Counter)
    freed: int = 0
    reasons: list[str] = field(default_factory=list)
    gone: list[FateRow] = field(default_factory=list)
    needed: list[int] = field(default_factory=list)

    @property
    def lossy(self) -> bool:
        """Whether nothing, or no more than a notice, was left."""
        return self.outcome == LOST


@dataclass(frozen=True, slots=True)
class Said:
    """What a pass or the engine said, at how many turns, and its words the first time."""

    code: str
    turn: int
    turns: int
    message: str


def events(report: RunReport) -> list[Event]:
    """Everything the strategy did, turn by turn."""
    found: dict[tuple[int, str, str], Event] = {}
    lost: dict[int, list[FateRow]] = {}
    for fate in report.constraints:
        for gap in fate.gaps:
            lost.setdefault(gap.since, []).append(fate)
    missed: dict[int, list[LossRow]] = {}
    for loss in report.regret.losses:
        if loss.counted:
            missed.setdefault(loss.gone, []).append(loss)
    for row in report.turns:
        for edit in row.edits:
            key = row.turn, edit.by, outcome(edit)
            event = found.setdefault(key, Event(*key, row.prefix / row.tokens if row.tokens else 0.0))
            event.kinds.update(edit.kinds)
            event.freed += edit.before - edit.after
            if edit.reason and edit.reason not in event.reasons:
                event.reasons.append(edit.reason)
        here = [event for event in found.values() if event.turn == row.turn]
        _blame(here, lost.get(row.turn, []))
        _need(here, missed.get(row.turn, []))
    return list(found.values())


def outcome(edit: EditRow) -> str:
    """What became of what an edit removed."""
    if edit.form is not None and not edit.removed:
        return PUT_IN
    if edit.form is not None:
        return LOST if edit.form == "noticed" else edit.form
    if not edit.inserted:
        return LOST
    return REPLACED if edit.removed and edit.by == "as-recorded" else BACK


def _blame(here: list[Event], lost: list[FateRow]) -> None:
    """Say with the event of a turn that freed most which constraints were lost by its pass."""
    for fate in lost:
        by = next(gap.by for gap in fate.gaps if here and gap.since == here[0].turn) if here else ""
        mine = [event for event in here if event.by == by] or [event for event in here if event.outcome != BACK]
        if mine:
            max(mine, key=lambda event: (event.lossy, event.freed)).gone.append(fate)


def _need(here: list[Event], missed: list[LossRow]) -> None:
    """Say with the event that took the last source of some later uses away at which turns they come."""
    for loss in missed:
        form = LOST if loss.form == "noticed" else loss.form
        mine = [event for event in here if (event.by, event.outcome) == (loss.by, form)]
        if mine and loss.turn not in mine[0].needed:
            mine[0].needed.append(loss.turn)


def foremost(found: Sequence[Event], most: int) -> list[Event]:
    """At most ``most`` of them in order: those that lost a constraint, then what was needed later, then those that
    freed most."""

    def rank(at: int) -> tuple[int, int, int, int]:
        event = found[at]
        return -len(event.gone), -len(event.needed), -abs(event.freed), at

    ranked = sorted(range(len(found)), key=rank)
    return [found[at] for at in sorted(ranked[:most])]


def said(report: RunReport) -> Iterator[Said]:
    """The notes of all turns, by kind, in order of first appearance; starved layers, which are findings, and summaries,
    which have rows of their own, aside."""
    turns: dict[str, list[tuple[int, str]]] = {}
    for row in report.turns:
        for note in row.notes:
            at = turns.setdefault(note.code, [])
            if note.code not in APART and not (at and at[-1][0] == row.turn):
                at.append((row.turn, note.message))
    for code, when in turns.items():
        if when:
            yield Said(code, when[0][0], len(when), when[0][1])
