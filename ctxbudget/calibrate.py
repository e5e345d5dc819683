"""Make our counts those of the provider: fit reported against counted, and scale every fragment once.

What a session file does not hold (system prompt, tool schemas, framing) becomes one ``unseen`` fragment; what a
compaction brought back beyond it is inserted by that recorded edit. A reply costs the provider's own output count
where that is final: its visible parts are scaled like other text, the rest is a hidden ``thinking`` fragment.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ctxbudget.fit import Line, Point, errors, fit_line, held_out, overheads_of
from ctxbudget.tokens import encoding_for, family, prior
from ctxbudget.trace import Calibration, Compaction, Fragment, Kind, Origin, Trace, Turn, Warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEAST_CALLS = 6
LEAST_RANGE = 5_000
FACTORS = (0.7, 2.2)
MOST_ERROR = 0.05
"""When a fit is trusted: calls, range of counted tokens, factor, held-out median error: our own limits."""

UNSEEN = "unseen"
HIDDEN = ".hidden"
"""How the ids of fragments end that stand for what the file does not show."""


class _Cost(NamedTuple):
    """What a fragment costs before a factor is known: ``counted`` tokens to be scaled, ``fixed`` tokens as they are."""

    counted: int
    fixed: int


def calibrate(trace: Trace, parent: Calibration | None = None) -> Trace:
    """The trace with tokens in the provider's measure, its sub-agents too. ``parent`` lends its factor to a child
    with too few calls of its own. One factor per trace: calls of models with another tokenizer only show drift.

    Where no fit can be trusted the factor is the prior of the model's family, and a warning says so.
    """
    replies = reply_tokens(trace)
    points = list(_points(trace, replies))
    line, fitted = _decide(trace, points, parent)
    scaled = _scale(trace, line, replies)
    children = tuple(calibrate(child, fitted) for child in trace.children)
    warnings = scaled.warnings
    if fitted is not None and not fitted.trusted:
        warnings = (*warnings, Warning("not-calibrated", f"token counts are not calibrated: {fitted.reason}"))
    return replace(scaled, calibration=fitted, children=children, warnings=warnings)


def points(trace: Trace) -> list[Point]:
    """The calls of a trace, not yet calibrated, that a fit can use: counted against reported."""
    return list(_points(trace, reply_tokens(trace)))


def reply_tokens(trace: Trace) -> dict[int, int]:
    """For each turn whose reply has a final output count: what that reply costs in later prompts.

    Without a stop reason in the record the count may be the placeholder that streaming starts with; it then lies
    below what the reply's visible parts cost by the family's prior, and is not used.
    """
    factor = 1.0 if encoding_for(trace.model).exact else prior(trace.model)
    visible: dict[int, int] = {}
    for fragment in trace.fragments:
        if fragment.role == "assistant":
            visible[fragment.turn - 1] = visible.get(fragment.turn - 1, 0) + fragment.counted
    found = {}
    for turn in trace.turns:
        usage, seen = turn.usage, visible.get(turn.index)
        if usage is None or seen is None or not usage.output:
            continue
        dropped = 0 if trace.carries_reasoning else usage.reasoning or 0
        if usage.final or usage.output - dropped >= factor * seen:
            found[turn.index] = usage.output - dropped
    return found


def _costs(trace: Trace, replies: Mapping[int, int]) -> dict[str, _Cost]:
    """Each fragment's cost; the fixed cost of a whole reply stands at its first part."""
    costs: dict[str, _Cost] = {}
    charged: set[int] = set()
    inserted = (fragment for compaction in trace.recorded for fragment in compaction.edit.inserted)
    for fragment in (*trace.fragments, *inserted):
        reply = fragment.turn - 1
        if fragment.role == "assistant" and reply in replies:
            costs[fragment.id] = _Cost(0, 0 if reply in charged else replies[reply])
            charged.add(reply)
        elif fragment.estimated:
            costs[fragment.id] = _Cost(0, fragment.tokens)
        else:
            costs[fragment.id] = _Cost(fragment.counted, 0)
    return costs


def _points(trace: Trace, replies: Mapping[int, int]) -> Iterator[Point]:
    costs = _costs(trace, replies)
    due = {compaction.turn: [] for compaction in trace.recorded}  # type: dict[int, list[Compaction]]
    for compaction in trace.recorded:
        due[compaction.turn].append(compaction)
    counted = fixed = stretch = 0
    own = family(trace.model)
    for turn in trace.turns:
        for compaction in due.get(turn.index, ()):
            stretch += compaction.trigger != "elision"
            gone = [costs[gone] for gone in compaction.edit.removed]
            come = [costs[fragment.id] for fragment in compaction.edit.inserted]
            counted += sum(cost.counted for cost in come) - sum(cost.counted for cost in gone)
            fixed += sum(cost.fixed for cost in come) - sum(cost.fixed for cost in gone)
        entered = [costs[fragment.id] for fragment in trace.entering(turn)]
        counted += sum(cost.counted for cost in entered)
        fixed += sum(cost.fixed for cost in entered)
        if turn.reported is not None and (turn.model is None or family(turn.model) == own):
            yield Point(stretch, counted, fixed, turn.reported, turn.index)


def _decide(trace: Trace, points: list[Point], parent: Calibration | None) -> tuple[Line, Calibration | None]:
    """The line to scale by, and what to tell about it; None where the file holds no usage at all."""
    guess = 1.0 if encoding_for(trace.model).exact else prior(trace.model)
    if not points:
        factor = parent.factor if parent else guess
        return Line(factor, {}), None
    line = fit_line(points)
    held = held_out(points)
    worst = max(held) if held else None
    doubt = _doubt(points, line.factor, worst)
    if not doubt:
        return line, Calibration(line.factor, round(line.overheads.get(0, 0)), len(points), worst, True)
    factor, reason, trusted = guess, f"{doubt}; the prior factor {guess} is used", False
    if parent is not None and parent.trusted and len(points) < LEAST_CALLS:
        factor, reason, trusted = parent.factor, f"{doubt}; the parent's factor is used", True
    overheads = {stretch: max(0.0, value) for stretch, value in overheads_of(points, factor).items()}
    line = Line(factor, overheads)
    judged = errors(line, points[1:])
    error = sorted(judged)[len(judged) // 2] if judged else None
    return line, Calibration(factor, round(next(iter(overheads.values()))), len(points), error, trusted, reason)


def _doubt(points: list[Point], factor: float, error: float | None) -> str:
    """Why a fit is not to be trusted, or nothing."""
    counts = [point.counted + point.fixed for point in points]
    if len(points) < LEAST_CALLS:
        return f"{len(points)} {'call' if len(points) == 1 else 'calls'} with usage, {LEAST_CALLS} are needed"
    if max(counts) - min(counts) < LEAST_RANGE:
        return f"the counted text ranges over {max(counts) - min(counts):,} tokens, {LEAST_RANGE:,} are needed"
    if not FACTORS[0] <= factor <= FACTORS[1]:
        return f"the fitted factor {factor:.2f} is outside {FACTORS[0]} to {FACTORS[1]}"
    if error is None or error > MOST_ERROR:
        return f"the held-out median error {100 * (error or 0):.1f} % is above {100 * MOST_ERROR:.0f} %"
    return ""


def _scale(trace: Trace, line: Line, replies: Mapping[int, int]) -> Trace:
    """Every fragment scaled once to an integer, with what the file does not show put in."""
    base = line.overheads.get(0, next(iter(line.overheads.values()), 0.0))
    fragments: list[Fragment] = []
    turns: list[Turn] = []
    if round(base) > 0 and trace.turns:
        fragments.append(_unseen(UNSEEN, round(base), 1, trace.source.path))
    for turn in trace.turns:
        start = len(fragments) if turn.index > 1 else 0
        fragments.extend(_scaled(trace.entering(turn), line.factor, replies.get(turn.index - 1)))
        if turn.index in line.late and fragments:
            fragments.append(_late(fragments[-1], turn.index, line.late[turn.index]))
        turns.append(turn.moved(start, len(fragments)))
    fragments.extend(_scaled(trace.reply if trace.turns else trace.fragments, line.factor, replies.get(len(turns))))
    recorded = tuple(_scaled_compactions(trace, line, base, _beside(fragments)))
    return replace(trace, fragments=tuple(fragments), turns=tuple(turns), recorded=recorded)


def _scaled(entered: tuple[Fragment, ...], factor: float, reply: int | None) -> Iterator[Fragment]:
    scaled = [
        fragment if fragment.estimated or factor == 1 else fragment.priced(round(fragment.counted * factor))
        for fragment in entered
    ]
    own = [fragment for fragment in scaled if fragment.role == "assistant"]
    if reply is None or not own:
        yield from scaled
        return
    hidden = reply - sum(fragment.tokens for fragment in own if not fragment.estimated)
    opaque = next((fragment for fragment in own if fragment.estimated and fragment.kind is Kind.THINKING), None)
    for fragment in scaled:
        if fragment is opaque:
            yield replace(fragment, tokens=max(0, hidden), hidden=True)
        elif fragment.estimated and fragment.kind is Kind.THINKING and fragment.role == "assistant":
            yield replace(fragment, tokens=0, hidden=True)
        elif fragment is own[0] and opaque is None and hidden > 0:
            yield _hidden(fragment, hidden)
            yield fragment
        else:
            yield fragment


def _hidden(beside: Fragment, tokens: int) -> Fragment:
    name = f"t{beside.turn}{HIDDEN}"
    return replace(
        beside, id=name, unit=name, kind=Kind.THINKING, text="", tokens=tokens, counted=0, call=None, tool=None,
        resource=None, estimated=True, hidden=True,
    )  # fmt: skip


def _unseen(name: str, tokens: int, turn: int, path: str) -> Fragment:
    return Fragment(
        name, Kind.UNSEEN, "", tokens, 0, turn, name, -1, "system", Origin(path, 0), estimated=True, hidden=True
    )


def _late(after: Fragment, turn: int, tokens: int) -> Fragment:
    """Text that came in with a turn and is not in the file: it belongs to the turn's last message."""
    name = f"t{turn}.{UNSEEN}"
    role = "user" if after.role == "assistant" else after.role
    return replace(
        _unseen(name, tokens, turn, after.origin.path), role=role, message=after.message, origin=after.origin
    )


def _beside(fragments: list[Fragment]) -> dict[str, list[str]]:
    """For a visible fragment, what is not in the file and came with it: they leave the context together."""
    beside: dict[str, list[str]] = {}
    for before, after in pairwise(fragments):
        if before.id.endswith(HIDDEN):
            beside.setdefault(after.id, []).append(before.id)
        if after.id.endswith(f".{UNSEEN}"):
            beside.setdefault(before.id, []).append(after.id)
    return beside


def _scaled_compactions(trace: Trace, line: Line, base: float, beside: Mapping[str, list[str]]) -> Iterator[Compaction]:
    """Recorded edits in the provider's measure; a stretch's overhead above the base comes with its compaction, and
    goes with the next."""
    stretch = 0
    surplus: str | None = None
    for number, compaction in enumerate(trace.recorded, 1):
        edit = compaction.edit
        inserted = tuple(_scaled(edit.inserted, line.factor, None))
        removed = tuple(name for gone in edit.removed for name in (gone, *beside.get(gone, ())))
        if compaction.trigger != "elision":
            stretch += 1
            removed = removed if surplus is None else (*removed, surplus)
            more = round(line.overheads.get(stretch, base) - base)
            surplus = f"c{number}.{UNSEEN}" if more > 0 else None
            if surplus is not None:
                inserted = (*inserted, _unseen(surplus, more, compaction.turn, trace.source.path))
        yield replace(compaction, edit=replace(edit, removed=removed, inserted=inserted))
