"""One firing: down the ladder until a summary stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ctxbudget.summaries import STEPS, descend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ctxbudget.passes.summarize.aid import Summarising
    from ctxbudget.summaries import Outcome, Request, Summariser, Summary

NOTICE: Final = "notice"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a firing, and the summaries that were made on the way, refused ones too."""

    outcome: Outcome
    made: tuple[Summary, ...]

    @property
    def inflated(self) -> bool:
        """Every summary that was made was as large as what it was to replace: there is nothing to gain here."""
        return _inflated(self.outcome)


class _Heard:
    """Passes requests on, and remembers the answers."""

    def __init__(self, summariser: Summariser) -> None:
        self.summariser = summariser
        self.made: list[Summary] = []

    def summarise(self, request: Request) -> Summary:
        """The answer of the one behind it."""
        self.made.append(self.summariser.summarise(request))
        return self.made[-1]


def attempted(
    aid: Summarising,
    asked: Request,
    steps: Sequence[str],
    *,
    repair: bool,
    urgent: bool,
    accept: Callable[[Summary], str],
) -> Attempt:
    """Take the steps. The bare notice is not for a span whose summaries were merely not smaller, unless ``urgent``:
    to lose everything costs more than to keep a short span.
    """
    heard = _Heard(aid.summariser)
    written = tuple(step for step in steps if step != NOTICE)
    forced = sum(step in STEPS[: aid.fail] for step in written)
    outcome = descend(heard, asked, steps=written, fail=forced, repair=repair, accept=accept)
    if outcome.step is None and NOTICE in steps and (urgent or not _inflated(outcome)):
        last = descend(heard, asked, steps=(NOTICE,), fail=int(NOTICE in STEPS[: aid.fail]), accept=accept)
        outcome = replace(
            last,
            failures=outcome.failures + last.failures,
            tokens_in=outcome.tokens_in,
            tokens_out=outcome.tokens_out,
            calls=outcome.calls,
        )
    return Attempt(outcome, tuple(heard.made))


def _inflated(outcome: Outcome) -> bool:
    reasons = [failure.reason for failure in outcome.failures]
    return bool(reasons) and all(reason.startswith("not smaller") for reason in reasons)
