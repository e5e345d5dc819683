"""Where a measured trace breaks a limit: rules CB102 to CB105."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget import sizes
from ctxbudget.findings import GREW, LAYER_OVER, OVER_BUDGET
from ctxbudget.report.check import UNCALIBRATED
from ctxbudget.report.tables import describe
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.checking.limits import Limit
    from ctxbudget.checking.measured import Entered, Measured, TurnSize
    from ctxbudget.findings import Rule
    from ctxbudget.trace import Fragment


@dataclass(frozen=True, slots=True)
class Breach:
    """One broken limit, or one finding, before it is told: ``fragment`` is the place to look at, ``layers`` those
    measured together, ``measured`` and ``most`` tokens, ``source`` who set the limit."""

    rule: Rule
    level: str
    message: str
    turn: int | None
    line: int | None
    fragment: Fragment | None = None
    layers: tuple[str, ...] = ()
    limit: Limit | None = None
    most: int | None = None
    measured: int | None = None
    reported: bool = False
    error: float | None = None

    @property
    def near(self) -> bool:
        """Whether the limit lies within the error of what was measured."""
        return near(self.measured, self.most, reported=self.reported, error=self.error)


def near(measured: int | None, most: int | None, *, reported: bool, error: float | None) -> bool:
    """Whether a count may lie on either side of a limit. What the provider reports is no estimate; a count whose
    error nothing tells may be off by ``UNCALIBRATED``."""
    if measured is None or most is None or reported or error == 0:
        return False
    return abs(measured - most) <= (UNCALIBRATED if error is None else error) * measured


def find(measured: Measured, limits: Sequence[Limit], window: int | None) -> Iterator[Breach]:
    """Every limit that is broken, in the order of the limits. ``window`` in tokens, for shares in the messages; where
    the hard limit of the whole is broken nothing is said of the soft one."""
    failed: set[str] = set()
    for limit in limits:
        match limit.wish.rule.id:
            case OVER_BUDGET.id:
                broken = [] if OVER_BUDGET.id in failed else list(_whole(measured, limit, window))
            case LAYER_OVER.id:
                broken = list(_layer(measured, limit))
            case GREW.id:
                broken = list(_growth(measured, limit))
            case _:
                broken = list(_results(measured, limit))
        failed.update(one.rule.id for one in broken)
        yield from broken


def _whole(measured: Measured, limit: Limit, window: int | None) -> Iterator[Breach]:
    peak, crossed = measured.peak, next((one for one in measured.turns if one.size > limit.most), None)
    if peak is None or crossed is None:
        return
    of = f", {sizes.beside_limit(peak.size, window, limit.most)} of the window" if window else ""
    worst = _largest(measured.arrivals(crossed.turn))
    message = (
        f"the context reached {_size(peak)} tokens{of}, at turn {peak.turn}; "
        f"the limit is {limit.told}, first crossed at turn {crossed.turn}{_by(worst)}"
    )
    yield _breach(
        limit, message, crossed.turn, worst, peak.size, line=crossed.line, reported=peak.reported, error=measured.error
    )


def _layer(measured: Measured, limit: Limit) -> Iterator[Breach]:
    scheme, names = limit.wish.scheme, limit.wish.layers
    if scheme is None:
        return
    sizes = [sum(row[name] for name in names) for row in measured.by_layer(scheme)]
    worst = max(range(len(sizes)), key=lambda at: sizes[at], default=None)
    crossed = next((at for at, size in enumerate(sizes) if size > limit.most), None)
    if worst is None or crossed is None:
        return
    turn = measured.turns[crossed]
    came = [one for one in measured.arrivals(turn.turn) if scheme.layer(one.fragment) in names]
    largest = _largest(came)
    joined = " and ".join(names)
    message = (
        f"{joined} reached ~{sizes[worst]:,} tokens at turn {measured.turns[worst].turn}; "
        f"the limit is {limit.told}, first crossed at turn {turn.turn}{_by(largest)}"
    )
    yield _breach(limit, message, turn.turn, largest, sizes[worst], line=turn.line, error=measured.error)


def _growth(measured: Measured, limit: Limit) -> Iterator[Breach]:
    """Every turn that added too much; the first turn is the start, not growth."""
    for turn in measured.turns[1:]:
        if turn.added > limit.most:
            worst = _largest(measured.arrivals(turn.turn))
            most = _by(worst, "; its largest,")
            message = f"turn {turn.turn} added ~{turn.added:,} tokens; the limit is {limit.told}{most}"
            yield _breach(limit, message, turn.turn, worst, turn.added, line=turn.line, error=measured.error)


def _results(measured: Measured, limit: Limit) -> Iterator[Breach]:
    for result in measured.results.values():
        if result.tokens > limit.most:
            fragment = result.fragment
            message = (
                f"one result, of {describe(fragment)} at turn {named_turn(fragment)}, has ~{result.tokens:,} tokens; "
                f"the limit is {limit.told}"
            )
            yield _breach(limit, message, result.turn, result, result.tokens, line=None, error=measured.error)


def _breach(
    limit: Limit, message: str, turn: int, at: Entered | None, measured: int, *, line: int | None,
    reported: bool = False, error: float | None = None,
) -> Breach:  # fmt: skip
    fragment = at.fragment if at is not None else None
    return Breach(
        rule=limit.wish.rule,
        level=limit.wish.level,
        message=told(message, measured, limit.most, reported=reported, error=error),
        turn=turn,
        line=fragment.origin.line if fragment is not None else line,
        fragment=fragment,
        layers=limit.wish.layers,
        limit=limit,
        most=limit.most,
        measured=measured,
        reported=reported,
        error=error,
    )


def told(message: str, measured: int | None, most: int | None, *, reported: bool, error: float | None) -> str:
    """The message, and how far the count may be off where the limit is no further away."""
    if not near(measured, most, reported=reported, error=error):
        return message
    if error is None:
        return f"{message}; the limit is within {100 * UNCALIBRATED:.0f} % of the count, whose error is unknown"
    return f"{message}; the limit lies within the error of the count ({100 * error:.2f} %)"


def _size(turn: TurnSize) -> str:
    return f"{turn.size:,} reported" if turn.reported else f"~{turn.size:,}"


def _largest(came: Sequence[Entered]) -> Entered | None:
    return max(came, key=lambda one: one.tokens, default=None)


def _by(at: Entered | None, word: str = ", where") -> str:
    """Which piece did most of it: what it is, and how large."""
    if at is None:
        return ""
    kind = at.fragment.kind.value.replace("_", " ")
    return f"{word} {kind} '{describe(at.fragment)}' entered with ~{at.tokens:,} tokens"
