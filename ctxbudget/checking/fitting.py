"""A budget fitted to some traces: what they reached, with room for a quarter more, as a commented YAML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from ctxbudget import loaders, models, sources
from ctxbudget.checking.measured import recorded
from ctxbudget.errors import TraceError, UsageError
from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.trace import Trace

ROOM: Final = 1.25
"""What a limit leaves above the largest that was seen."""
STEP: Final = 1_000
"""Limits are multiples of so many tokens."""
SOFT, HARD = 70, 90
"""The usual thresholds of a budget, in hundredths; for fuller traces they are higher."""
GAP: Final = 5
"""Hundredths between a soft threshold that had to be raised and the hard one."""


@dataclass(frozen=True, slots=True)
class Most:
    """The largest amount that was seen, in tokens, and where."""

    tokens: int = 0
    path: str = ""
    turn: int = 0

    def beside(self, tokens: int, path: str, turn: int) -> Most:
        """The larger of this and another."""
        return Most(tokens, path, turn) if tokens > self.tokens else self

    @property
    def seen(self) -> str:
        """A comment that says it."""
        if not self.tokens:
            return "none seen"
        return f"seen: {self.tokens:,} at most ({visible(PurePath(self.path).name)}, turn {self.turn})"


@dataclass(frozen=True, slots=True)
class Fit:
    """What some traces reached. ``fullest`` is the largest part of its window that any used, exactly; None where the
    window of one of them is unknown."""

    traces: int
    fullest: Fraction | None
    peak: Most
    growth: Most
    result: Most
    layers: dict[str, Most] = field(default_factory=dict)


def read(
    paths: Sequence[str], how: loaders.Options, told: Callable[[str, int, int], None] | None, skipped: list[str]
) -> Iterator[Trace]:
    """The traces that the paths name, file by file. Of several files those that cannot be read are ``skipped``."""
    places = sources.expand(paths, how.format)
    for number, place in enumerate(places):
        if told is not None:
            told(place.path, number, len(places))
        try:
            traces = loaders.load(place.path, how, place.select)
        except TraceError:
            if len(places) == 1:
                raise
            skipped.append(place.path)
        else:
            yield from sources.selected(traces, place.select, place.path)


def fitted(traces: Iterable[Trace], scheme: Scheme, window: int | None = None) -> Fit:
    """The fit of the traces that have turns; ``window`` in tokens as a flag gives it. Raises UsageError where there is
    none."""
    number, known, fullest = 0, True, Fraction(0)
    peak, growth, result = Most(), Most(), Most()
    layers = dict.fromkeys(scheme.layers, Most())
    for trace in traces:
        measured, path = recorded(trace, scheme), trace.source.path
        if measured.peak is None:
            continue
        number += 1
        limit = models.window_of(trace, flag=window)
        known = known and limit.known
        fullest = max(fullest, Fraction(measured.peak.size, limit.tokens))
        peak = peak.beside(measured.peak.size, path, measured.peak.turn)
        for turn, held in zip(measured.turns, measured.by_layer(scheme), strict=True):
            growth = growth.beside(turn.added if turn.turn > 1 else 0, path, turn.turn)
            layers = {name: most.beside(held[name], path, turn.turn) for name, most in layers.items()}
        for one in measured.results.values():
            result = result.beside(one.tokens, path, one.turn)
    if not number:
        raise UsageError("no turn in these traces: nothing to fit a budget to", hint="give a recorded session")
    return Fit(number, fullest if known else None, peak, growth, result, layers)


def written(fit: Fit, scheme: Scheme, skipped: Sequence[str] = ()) -> str:
    """The budget as a commented YAML file, within which the traces stay; ``skipped`` could not be read."""
    return "\n".join(_lines(fit, scheme, skipped)) + "\n"


def _lines(fit: Fit, scheme: Scheme, skipped: Sequence[str]) -> Iterator[str]:
    soft, hard = _thresholds(fit)
    many = "1 trace" if fit.traces == 1 else f"{fit.traces} traces"
    yield f"# A budget fitted to {many}: what they reached, and a quarter more."
    yield "# ctxbudget check finds this file as ctxbudget.yaml, at or above the folder it runs in."
    yield from (f"# not read: {visible(PurePath(path).name)}" for path in skipped)
    if fit.fullest is not None and fit.fullest > 1:
        yield "# Not all of them stay within their window, which fails whatever is set here."
    if scheme.name != "agent":
        yield f"scheme: {scheme.name}"
    yield "context_budget:"
    if fit.fullest is None:
        yield f"  max_input_tokens: {_limit(fit.peak.tokens)}  # not every window is known; shares are of this"
    else:
        yield "  # max_input_tokens: 120000  # shares are of this; without it, of each trace's own window"
    yield f"  soft_threshold: {soft / 100:.2f}  # above: a warning"
    yield f"  hard_threshold: {hard / 100:.2f}  # above: a failure; {fit.peak.seen}"
    yield f"  growth: {_limit(fit.growth.tokens)}  # one turn may add; {fit.growth.seen}"
    yield f"  max_result: {_limit(fit.result.tokens)}  # one tool result; {fit.result.seen}"
    yield "  # must_keep: [never push to main]  # facts that must stay in view"
    yield "  layers:"
    for name, most in fit.layers.items():
        cap = "" if most.tokens else "# "
        yield f"    {cap}{name}: {{max_tokens: {_limit(most.tokens)}}}  # {most.seen}"
    yield "  # overrides:  # for some paths, relative to this file"
    yield '  #   - paths: ["long/**"]'
    yield "  #     hard_threshold: 0.95"
    yield "# check:"
    yield "#   ignore: [CB205]"
    yield "#   severity: {CB104: warning}"


def _thresholds(fit: Fit) -> tuple[int, int]:
    """Soft and hard in hundredths, within which the traces stay, as far as they stay within their windows."""
    fullest = Fraction(fit.peak.tokens, _limit(fit.peak.tokens)) if fit.fullest is None else fit.fullest
    soft = min(100, max(SOFT, ceil(100 * fullest)))
    return soft, min(100, max(HARD, soft + GAP))


def _limit(tokens: int) -> int:
    return max(STEP, ceil(tokens * ROOM / STEP) * STEP)
