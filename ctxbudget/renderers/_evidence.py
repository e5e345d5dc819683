"""Evidence and regret for people: what was needed later and out of view by then, beside what chance gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, listed, tokens
from ctxbudget.renderers._pages import Facts
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ctxbudget.report.regret import LossRow, RegretRow, SignalRow, SpreadRow
    from ctxbudget.report.run import RunReport

MOST = 12
"""Losses in the usual answer of a run, those that cost most to read again; ``--table losses`` shows all."""
_UNSEEN = "out of view"


def kept(found: RegretRow) -> str:
    """How many later uses had what they needed in view, and what that is beside chance."""
    if not found.uses:
        return "no later use of a string that only the context held"
    stored = f" ({len(found.recalls):,} of them in the store)" if found.recalls else ""
    chance = ""
    if found.by_chance is not None and found.kept < found.uses:
        chance = f"; of uses found by chance {spread(found.by_chance)} are gone too"
    return f"{found.kept:,} of {counted(found.uses, 'later use')} had a source in view{stored}{chance}"


def losses(report: RunReport) -> Facts | None:
    """Losses and recalls in words, at the turns where they happen; None where there is none."""
    groups: dict[tuple[int, str], list[LossRow]] = {}
    for loss in (*(loss for loss in report.regret.losses if loss.counted), *report.regret.recalls):
        groups.setdefault((loss.turn, loss.source), []).append(loss)
    dearest = sorted(groups.values(), key=lambda group: -sum(loss.tokens for loss in group))
    shown = sorted(dearest[:MOST], key=lambda group: group[0].turn)
    rows = [_told(group) for group in shown]
    more = sum(len(group) for group in dearest[MOST:])
    if more:
        rows.append(("", f"and {more:,} more: --table losses"))
    return Facts(tuple(rows), "Needed later, and out of view by then") if rows else None


def _told(group: Sequence[LossRow]) -> tuple[str, str]:
    """The first use of a source at a turn, which pays for the others."""
    first, others = group[0], len(group) - 1
    also = f" (and {counted(others, 'more use')} of the same source)" if others else ""
    return f"turn {first.turn}", f"{first.text.removeprefix(f'turn {first.turn} ')}{also}"


def consequences(found: RegretRow) -> Iterator[tuple[str, str]]:
    """What follows from it: what has to be read again, what came from a store, old copies, repeats, files."""
    if found.fetch_tokens:
        turns = counted(found.fetch_turns, "turn")
        yield "Read again", f"{tokens(found.fetch_tokens, estimated=True)} tokens before {turns}, at least"
    if found.recalls:
        uses = counted(len(found.recalls), "later use")
        yield "Recalled", f"{tokens(found.recall_tokens, estimated=True)} tokens from the store, for {uses}"
    if found.stale:
        edits, turns = counted(len(found.stale), "edit"), listed([one.turn for one in found.stale])
        yield "Stale", f"{edits} would rely on an old copy, the change that made it old out of view: {turns}"
    repeats = found.repeats
    if repeats.unseen:
        again = f"{repeats.unseen:,} of {counted(repeats.again, 'request')} repeated with nothing changed"
        excess = f", {repeats.excess:.1f} more than the trace's own rate gives" if repeats.excess else ""
        yield "Repeats", f"{again} had the earlier result out of view{excess}"
    if found.trail.files:
        yield "Files", _trail(found)


def _trail(found: RegretRow) -> str:
    trail = found.trail
    shown = ", ".join(trail.lost[:3])
    more = f" and {len(trail.lost) - 3:,} more" if len(trail.lost) > 3 else ""
    of = f"{trail.kept:,} of {counted(trail.files, 'file')} touched"
    return f"the last turn accounts for {of}{f'; not for {shown}{more}' if trail.lost else ''}"


def signals(rows: Sequence[SignalRow], gone: Mapping[str, int] | None = None) -> Section:
    """What the evidence of a trace consists of, beside what chance finds; ``gone`` adds what a run loses of each."""
    unseen = () if gone is None else (Column(_UNSEEN),)
    return Section(
        "Evidence beside chance",
        (
            Column("signal", text=True, room=8),
            Column("what", text=True, room=24),
            Column("uses"),
            *unseen,
            Column("other projects", drop=3),
            Column("other resources", drop=4),
            Column("beyond chance", drop=2),
            Column("", text=True, drop=1, room=10),
        ),
        tuple(_signal(row, gone) for row in rows if row.uses),
        _noted([row for row in rows if row.uses]),
    )


def _noted(rows: Sequence[SignalRow]) -> str:
    if any(row.resource is not None for row in rows):
        return "mean of 20 rounds (least-most); a signal of which chance finds more than a tenth is not counted"
    return "without a placebo: every use counts as it is" if any(row.counted for row in rows) else ""


def _signal(row: SignalRow, gone: Mapping[str, int] | None) -> Row:
    unseen = () if gone is None else (tokens(gone.get(row.signal)),)
    cells = (
        row.signal,
        row.name,
        tokens(row.uses),
        *unseen,
        spread(row.project),
        spread(row.resource),
        NOTHING if row.excess is None else f"{row.excess:.1f}",
        "counted" if row.counted else "shown only",
    )
    return Row(cells, "" if row.counted else "note")


def spread(row: SpreadRow | None) -> str:
    """``0.2 (0-1)``."""
    return NOTHING if row is None else f"{row.mean:.1f} ({row.low}-{row.high})"


def every_loss(report: RunReport) -> Section:
    """All losses and recalls (``--table losses``)."""
    return Section(
        "Losses",
        (
            Column("turn"),
            Column("signal", text=True, drop=4, room=8),
            Column("needed", text=True, room=20),
            Column("for", text=True, drop=3, cut="start", room=16),
            Column("seen", drop=5),
            Column("gone"),
            Column("form", text=True, drop=2, room=9),
            Column("by", text=True, drop=6, room=12),
            Column("to re-read"),
            Column("", text=True, drop=7, room=8),
        ),
        tuple(
            [_loss(loss, "counted" if loss.counted else "shown only") for loss in report.regret.losses]
            + [_loss(loss, "recall") for loss in report.regret.recalls]
        ),
        "seen: the turn that showed it last; gone: the first without it",
    )


def _loss(loss: LossRow, what: str) -> Row:
    cells = (
        str(loss.turn),
        loss.signal,
        loss.needed,
        loss.target or NOTHING,
        str(loss.seen),
        str(loss.gone),
        loss.form,
        loss.by or NOTHING,
        tokens(loss.tokens),
        what,
    )
    return Row(cells, "warning" if loss.counted and what != "recall" else "note")
