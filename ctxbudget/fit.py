"""The line ``reported = overhead + factor × counted``, fitted robustly, one overhead per stretch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
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
"""An overhead stays within this share of (first prompt - factor × its text): DESIGN section 5."""


@dataclass(frozen=True, slots=True)
class Point:
    """One call with a provider's count: tokens ``counted`` by us, tokens ``fixed`` (known already in the provider's
    measure: replies, images), and the ``reported`` prompt. ``stretch`` numbers the spans between compactions."""

    stretch: int
    counted: int
    fixed: int
    reported: int

    @property
    def due(self) -> int:
        """What counted text and overhead have to explain."""
        return self.reported - self.fixed


@dataclass(frozen=True, slots=True)
class Line:
    """A factor and the overhead of each stretch, in tokens."""

    factor: float
    overheads: dict[int, float]

    def predict(self, point: Point) -> float:
        """The prompt expected at that point."""
        return self.overheads[point.stretch] + self.factor * point.counted + point.fixed


def fit_line(points: Sequence[Point]) -> Line:
    """The robust line through the points: least squares within stretches, reweighted by 1 / residual (least absolute
    deviations), so that a call with an image or an unseen attachment does not bend it. Needs one point at least.

    An overhead cannot be negative (tool schemas are sometimes billed in a shorter rendering than the file's JSON):
    there the line goes through the origin.
    """
    thinned = _thin(points)
    factor = _slope(thinned)
    overheads = overheads_of(points, factor)
    if min(overheads.values()) < 0:
        factor = median(point.due / point.counted for point in thinned if point.counted) if thinned else 1.0
        overheads = {stretch: max(0.0, value) for stretch, value in overheads_of(points, factor).items()}
    return Line(factor, overheads)


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
    halves = (points[:half], points[half:]), (points[::2], points[1::2])
    first, second = (errors(fit_line(train), test) for train, test in halves)
    return median(first or [0.0]), median(second or [0.0])


def _thin(points: Sequence[Point]) -> Sequence[Point]:
    step = -(-len(points) // MOST_POINTS)
    return points[:: step or 1]


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
