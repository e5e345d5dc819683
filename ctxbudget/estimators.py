"""Ways to guess the size of the next prompt, as real harnesses do: none of them sees the true count beforehand.

An estimator is asked before each call and told the provider's count after it. ``bpe`` counts exactly but knows no
overhead; ``chars4`` divides characters by four; ``ema`` divides them by a moving average; ``anchored`` adds what is
new to the last reported count.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING, Protocol

from ctxbudget.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ctxbudget.trace import Edit, Trace

SMOOTHING = 0.3
"""Weight of the newest reading in the moving average (measured best of common values, reference: evidence 4.9)."""


class Estimator(Protocol):
    """Sizes of contexts, in tokens, guessed from what a harness knows."""

    def estimate(self, counted: int, chars: int) -> int:
        """The next prompt, given its counted tokens and its characters."""

    def report(self, tokens: int) -> None:
        """The provider's count of the prompt that was estimated last."""


@dataclass(slots=True)
class Bpe:
    """Exact BPE count of the visible text, and nothing else."""

    def estimate(self, counted: int, chars: int) -> int:  # noqa: ARG002 - one protocol for all
        """The counted tokens."""
        return counted

    def report(self, tokens: int) -> None:
        """Learns nothing."""


@dataclass(slots=True)
class Chars4:
    """A token is four characters: the rule of thumb most harnesses use."""

    def estimate(self, counted: int, chars: int) -> int:  # noqa: ARG002 - one protocol for all
        """A quarter of the characters, rounded up."""
        return -(-chars // 4)

    def report(self, tokens: int) -> None:
        """Learns nothing."""


@dataclass(slots=True)
class Ema:
    """Characters per token as a moving average, updated by each reported count."""

    ratio: float = 4.0
    chars: int = 0
    started: bool = False

    def estimate(self, counted: int, chars: int) -> int:  # noqa: ARG002 - one protocol for all
        """Characters over the ratio so far."""
        self.chars = chars
        return round(chars / self.ratio)

    def report(self, tokens: int) -> None:
        """Move the ratio towards what was just seen; the first reading replaces the guess."""
        if tokens <= 0 or self.chars <= 0:
            return
        seen = self.chars / tokens
        self.ratio = seen if not self.started else (1 - SMOOTHING) * self.ratio + SMOOTHING * seen
        self.started = True


@dataclass(slots=True)
class Anchored:
    """The last reported count, plus the counted tokens that were added since."""

    anchor: int = 0
    counted: int = 0
    asked: int = 0

    def estimate(self, counted: int, chars: int) -> int:  # noqa: ARG002 - one protocol for all
        """Anchor plus growth; before the first report, the counted tokens."""
        self.asked = counted
        return self.anchor + counted - self.counted

    def report(self, tokens: int) -> None:
        """Anchor here."""
        self.anchor, self.counted = tokens, self.asked


ESTIMATORS: Mapping[str, Callable[[], Estimator]] = {"bpe": Bpe, "chars4": Chars4, "ema": Ema, "anchored": Anchored}


def estimator(name: str) -> Estimator:
    """A fresh estimator. Raises UnknownName, with the nearest name, where there is none."""
    if name not in ESTIMATORS:
        raise UnknownName("estimator", name, ESTIMATORS)
    return ESTIMATORS[name]()


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Errors of an estimator on a trace's own calls, as fractions of the reported prompt; ``bias`` is signed."""

    name: str
    calls: int
    median_error: float | None
    p90_error: float | None
    bias: float | None


def accuracies(trace: Trace) -> Iterator[Accuracy]:
    """How each estimator does on the calls of a trace. The first call is not judged: it is where they learn."""
    sizes = list(_sizes(trace))
    for name in ESTIMATORS:
        guess = estimator(name)
        signed = []
        for counted, chars, reported in sizes:
            expected = guess.estimate(counted, chars)
            if reported is not None:
                signed.append(expected / reported - 1)
                guess.report(reported)
        yield _accuracy(name, signed[1:])


def _accuracy(name: str, signed: list[float]) -> Accuracy:
    if not signed:
        return Accuracy(name, 0, None, None, None)
    sizes = sorted(abs(error) for error in signed)
    ninth = quantiles(sizes, n=10)[-1] if len(sizes) > 1 else sizes[0]
    return Accuracy(name, len(signed), median(sizes), ninth, median(signed))


def _sizes(trace: Trace) -> Iterator[tuple[int, int, int | None]]:
    """Counted tokens and characters of each recorded prompt, with the reported count."""
    counted = chars = 0
    sizes: dict[str, tuple[int, int]] = {}
    due: dict[int, list[Edit]] = {}
    for compaction in trace.recorded:
        due.setdefault(compaction.turn, []).append(compaction.edit)
    for turn in trace.turns:
        edits = due.get(turn.index, [])
        put = [fragment for edit in edits for fragment in edit.inserted]
        for fragment in (*put, *trace.entering(turn)):
            sizes[fragment.id] = fragment.counted, len(fragment.text)
            counted += fragment.counted
            chars += len(fragment.text)
        # an edit may also remove what came in for this turn, or what the edit before it put in
        for gone in (sizes[name] for edit in edits for name in edit.removed):
            counted -= gone[0]
            chars -= gone[1]
        yield counted, chars, turn.reported
