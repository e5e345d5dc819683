"""The line ``reported = overhead + factor × counted``, fitted robustly, one overhead per stretch.

A harness also adds text later that its file does not hold (reminders about changed files, mostly). Where a prompt
grows by more than the densest text could explain, that jump is kept apart as ``late`` overhead: left in, it would
bend the factor (measured on two sessions of 157 and 217 calls: 1.33 and 1.55 with it, 1.26 and 1.40 without).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_POINTS = 400
"""A session of thousands of calls is thinned evenly to this many before the slope is fitted: it is then exact to a
fraction of a per mille, and the fit stays a matter of milliseconds."""

ROUNDS = 25
"""Reweighting rounds; the slope of real sessions settles within ten."""

SLACK = 0.10
"""An overhead stays within this share of (first prompt - factor × its text): our own limit."""


DENSEST = 2.2
"""Provider tokens per counted token beyond which text is not the reason: the upper bound of a trusted factor."""

FRAMING = 150
"""Tokens a tool round may cost beyond its text: 110 to 130 were measured (reference: formats, section 7)."""


@dataclass(frozen=True, slots=True)
class Point:
    """One call with a provider's count: tokens ``counted`` by us, tokens ``fixed`` (known already in the provider's
    measure: replies, images), and the ``reported`` prompt. ``stretch`` numbers the spans between compactions."""

    stretch: int
    counted: int
    fixed: int
    reported: int
    turn: int = 0

    @property
    def due(self) -> int:
        """What counted text and overhead have to explain."""
        return self.reported - self.fixed


@dataclass(frozen=True, slots=True)
class Line:
    """A factor, the overhead of each stretch, and what came in late: tokens by turn."""

    factor: float
    overheads: dict[int, float]
    late: dict[int, int] = field(default_factory=dict)

    def predict(self, point: Point) -> float:
        """The prompt expected at that point."""
        return self.overheads[point.stretch] + self.factor * point.counted + point.fixed


def fit_line(points: Sequence[Point]) -> Line:
    """The robust line through the points: least squares within stretches, reweighted by 1 / residual (least absolute
    deviations), so that a call with an image or an unseen attachment does not bend it. Needs one point at least.
    """
    marked = jumps(points)
    settled, late = settle(points, marked, rough_slope(points, marked))
    return replace(_line(settled), late=late)


def _line(points: Sequence[Point]) -> Line:
    """The line itself. An overhead cannot be negative (tool schemas are sometimes billed in a shorter rendering than
    the file's JSON): there the line goes through the origin."""
    thinned = points[:: _step(points)]
    factor = _slope(thinned)
    overheads = overheads_of(points, factor)
    if min(overheads.values()) < 0:
        ratios = [point.due / point.counted for point in thinned if point.counted]
        factor = median(ratios) if ratios else 1.0
        overheads = {stretch: max(0.0, value) for stretch, value in overheads_of(points, factor).items()}
    return Line(factor, overheads)


def jumps(points: Sequence[Point]) -> list[int]:
    """Positions where the prompt grew by more than the densest text explains, within a stretch, and did not shrink
    again at the next call (a stray reading is no text)."""
    found = []
    for at, (before, point) in enumerate(pairwise(points), 1):
        new = point.counted - before.counted
        if before.stretch == point.stretch and 0 <= new * DENSEST + FRAMING < point.due - before.due:
            after = points[at + 1] if at + 1 < len(points) else point
            if after.stretch != point.stretch or after.due + FRAMING >= point.due:
                found.append(at)
    return found


def rough_slope(points: Sequence[Point], marked: Sequence[int]) -> float:
    """The factor with every jump taken for the start of a stretch of its own."""
    starts = set(marked)
    begins = (at in starts or a.stretch != b.stretch for at, (a, b) in enumerate(pairwise(points), 1))
    stretches = list(accumulate(begins, initial=0))
    kept = range(0, len(points), _step(points))
    return _slope([replace(points[at], stretch=stretches[at]) for at in kept])


def settle(points: Sequence[Point], marked: Sequence[int], factor: float) -> tuple[list[Point], dict[int, int]]:
    """The points with each jump's surplus counted as fixed from there to the end of its stretch, and the surpluses
    by turn."""
    surplus = {at: _surplus(points[at - 1], points[at], factor) for at in marked}
    surplus = {at: tokens for at, tokens in surplus.items() if tokens > 0}
    if not surplus:
        return list(points), {}
    settled: list[Point] = []
    late = stretch = 0
    for at, point in enumerate(points):
        late = surplus.get(at, 0) + (late if point.stretch == stretch else 0)
        stretch = point.stretch
        settled.append(replace(point, fixed=point.fixed + late) if late else point)
    return settled, {points[at].turn: tokens for at, tokens in surplus.items()}


def _surplus(before: Point, point: Point, factor: float) -> int:
    return round(point.due - before.due - factor * (point.counted - before.counted))


def overheads_of(points: Sequence[Point], factor: float) -> dict[int, float]:
    """For each stretch the median of what the factor leaves unexplained, near what its first prompt says."""
    found = {}
    for stretch, group in groupby(points, key=lambda point: point.stretch):
        rests = [point.due - factor * point.counted for point in group]
        near = abs(rests[0]) * SLACK
        found[stretch] = min(max(median(rests), rests[0] - near), rests[0] + near)
    return found


def errors(line: Line, points: Sequence[Point]) -> list[float]:
    """Absolute errors of the line as fractions of the reported prompt. A stretch the line has not seen takes its
    overhead from its own first prompt, as a new stretch does in use, and that prompt is not judged."""
    known = dict(line.overheads)
    found = []
    for point in points:
        if point.stretch not in known:
            known[point.stretch] = point.due - line.factor * point.counted
            continue
        expected = known[point.stretch] + line.factor * point.counted + point.fixed
        found.append(abs(expected - point.reported) / point.reported)
    return found


def held_out(points: Sequence[Point]) -> tuple[float, float] | None:
    """Median error when fitted on the first half and tested on the second, and when fitted on every other call;
    None with fewer than four calls."""
    if len(points) < 4:
        return None
    half = len(points) // 2
    everyone = range(len(points))
    marked = jumps(points)
    return (
        _tested(points, marked, everyone[:half], everyone[half:]),
        _tested(points, marked, everyone[::2], everyone[1::2]),
    )


def _tested(points: Sequence[Point], marked: Sequence[int], train: range, test: range) -> float:
    """Median error on ``test`` of what ``train`` alone teaches; where jumps are is seen on all calls, as in use."""
    taught = [points[at] for at in train]
    settled, _ = settle(points, marked, rough_slope(taught, jumps(taught)))
    line = _line([settled[at] for at in train])
    return median(errors(line, [settled[at] for at in test]) or [0.0])


def _step(points: Sequence[Point]) -> int:
    return -(-len(points) // MOST_POINTS) or 1


def _slope(points: Sequence[Point]) -> float:
    weights = [1.0] * len(points)
    factor = 0.0
    for _ in range(ROUNDS):
        before, factor = factor, _weighted_slope(points, weights)
        if abs(factor - before) < 1e-6:
            break
        middles = _middles(points, factor)
        rests = [abs(point.due - factor * point.counted - middles[point.stretch]) for point in points]
        floor = median(rests) + 1
        weights = [1 / max(rest, floor) for rest in rests]
    return factor


def _middles(points: Sequence[Point], factor: float) -> dict[int, float]:
    grouped: dict[int, list[float]] = {}
    for point in points:
        grouped.setdefault(point.stretch, []).append(point.due - factor * point.counted)
    return {stretch: median(rests) for stretch, rests in grouped.items()}


def _weighted_slope(points: Sequence[Point], weights: Sequence[float]) -> float:
    sums: dict[int, list[float]] = {}
    for point, weight in zip(points, weights, strict=True):
        total = sums.setdefault(point.stretch, [0.0, 0.0, 0.0])
        total[0] += weight
        total[1] += weight * point.counted
        total[2] += weight * point.due
    above = below = 0.0
    for point, weight in zip(points, weights, strict=True):
        total = sums[point.stretch]
        aside = point.counted - total[1] / total[0]
        above += weight * aside * (point.due - total[2] / total[0])
        below += weight * aside * aside
    return above / below if below else 0.0
