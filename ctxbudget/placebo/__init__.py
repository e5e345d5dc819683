"""Placebo: how much of the evidence would be found where it cannot be.

The same count is made twenty times with texts that have nothing to do with the use: those of other projects in the
place of the trace's own (the whole search again), and, in the fragments that held the string, those of other resources
of the same trace. What is found so is found by chance. A signal of which chance alone finds more than a tenth is shown
and never added to a total. Turns are not shuffled. Same trace, same donors, same seed: same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from ctxbudget.evidence import Signal, holds, index, wanted
from ctxbudget.placebo.donors import foreign, shipped
from ctxbudget.placebo.logs import foreign_log, swapped
from ctxbudget.regret import COUNTED, missed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxbudget.evidence import Evidence, Use
    from ctxbudget.evidence.needs import Need
    from ctxbudget.placebo.donors import Donor
    from ctxbudget.regret import Sight
    from ctxbudget.trace import Trace

ROUNDS = 20
MOST = 0.1
"""Share of a signal that chance may find before the signal is only shown (docs/evidence.md)."""
TESTED = (Signal.EDIT, Signal.ARGUMENT, Signal.RARE)
"""Signals that look for strings. D4 rests on D1, D5 and D6 on calls."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What the rounds gave: mean, least and most."""

    mean: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Chance:
    """A count beside what chance gives: with other projects' texts, and with other resources' of the same trace.

    ``project`` is None where no donor of another project was at hand.
    """

    observed: int
    project: Spread | None
    resource: Spread

    @property
    def worst(self) -> Spread:
        """The placebo that finds more."""
        return max((one for one in (self.project, self.resource) if one is not None), key=lambda one: one.mean)

    @property
    def excess(self) -> float:
        """What was observed beyond chance."""
        return self.observed - self.worst.mean

    @property
    def counts(self) -> bool:
        """Whether the signal may be added to a total."""
        return self.worst.mean <= MOST * self.observed


@dataclass(frozen=True, slots=True)
class Placebo:
    """The uses that each round found."""

    observed: dict[Signal, int]
    project: tuple[tuple[Use, ...], ...]
    """With texts of other projects; empty where there was no donor."""
    resource: tuple[tuple[Use, ...], ...]

    def of(self, *kinds: Signal) -> Chance:
        """How many uses of some signals there are, beside chance."""
        observed = sum(self.observed[kind] for kind in kinds)
        return self._chance(observed, kinds, len)

    def missed(self, observed: int, sight: Sight, *kinds: Signal) -> Chance:
        """How many losses of some signals a run has, beside those that it would have by chance."""
        return self._chance(observed, kinds, lambda uses: missed(uses, sight))

    @property
    def counted(self) -> tuple[Signal, ...]:
        """The signals that may be added up."""
        return tuple(kind for kind in COUNTED if self.of(kind).counts)

    def _chance(self, observed: int, kinds: tuple[Signal, ...], count: Callable[[list[Use]], int]) -> Chance:
        project, resource = (
            [count([use for use in uses if use.kind in kinds]) for uses in rounds]
            for rounds in (self.project, self.resource)
        )
        return Chance(observed, _spread(project) if project else None, _spread(resource))


def placebo(
    trace: Trace,
    evidence: Evidence,
    donors: Iterable[Donor] | None = None,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    told: Callable[[int], None] | None = None,
) -> Placebo:
    """The placebo of a trace's ``evidence``. ``donors`` (the shipped ones if not given) of the trace's own project
    are left out; ``told`` is called after each round.
    """
    strangers = foreign(trace, shipped() if donors is None else donors)
    observed = {kind: len(evidence.of(kind)) for kind in TESTED}
    project, resource = [], []
    wanting = wanted(trace) if strangers else []
    for number in range(rounds):
        if strangers:
            project.append(_among_strangers(trace, wanting, strangers, f"{seed}:{number}:project", observed))
        resource.append(_among_others(trace, evidence, Random(f"{seed}:{number}:resource")))  # noqa: S311 - seeded
        if told is not None:
            told(number + 1)
    return Placebo(observed, tuple(project), tuple(resource))


def _among_strangers(
    trace: Trace, wanting: Sequence[Need], donors: Sequence[Donor], seed: str, observed: dict[Signal, int]
) -> tuple[Use, ...]:
    """One round with texts of other projects. For ids and names only observations are exchanged: what the agent or
    the user said by itself was no evidence in the first place, and must not become any.
    """
    found: list[Use] = []
    for kinds, said in (((Signal.EDIT,), True), ((Signal.ARGUMENT, Signal.RARE), False)):
        if any(observed[kind] for kind in kinds):
            log = foreign_log(trace.fragments, donors, Random(seed), said=said)  # noqa: S311 - seeded
            other = index(trace, log, wanting)
            found += [use for kind in kinds for use in other.of(kind)]
    return tuple(found)


def _among_others(trace: Trace, evidence: Evidence, chance: Random) -> tuple[Use, ...]:
    """One round with texts of other resources, in the very fragments that held the string."""
    texts = swapped(trace.fragments, chance)
    found = []
    for use in (*evidence.uses, *evidence.rare):
        if use.kind in TESTED:
            held = tuple(one for one in use.sources if one in texts and holds(texts[one], use))
            found += [replace(use, sources=held, newest=held[-1])] if held else []
    return tuple(found)


def _spread(counts: Sequence[int]) -> Spread:
    return Spread(sum(counts) / len(counts), min(counts), max(counts)) if counts else Spread(0.0, 0, 0)
