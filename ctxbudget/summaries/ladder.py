"""The steps down from a full summary: each is tried where the one before failed.

| step | what the summariser reads |
|---|---|
| ``full`` | the whole span |
| ``partial`` | the span without oversized messages, over 25,000 characters (half a block) |
| ``noted`` | without texts over 2,000 characters, and the summary ends with a note of what was left out |
| ``notice`` | nothing: a bare notice says how much is gone |

2,000 characters is what pi, OpenCode and Cline keep of a tool result for their summarisers. What the user said is
never left out. A step fails where there is no summary, where the spot check refuses it, or where whoever asked does
not accept it (the view is still over). After a text that was too large the next step gets half the room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget.summaries.blocks import BLOCK
from ctxbudget.summaries.extract.naming import called
from ctxbudget.summaries.spot_check import Check, accepted
from ctxbudget.summaries.summary import Refused, Request, Sizes, Summary, SummaryError
from ctxbudget.trace import Form, Kind, named_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxbudget.summaries.summary import Summariser
    from ctxbudget.trace import Fragment

STEPS = ("full", "partial", "noted", "notice")
OVERSIZED, LARGE = BLOCK // 2, 2_000
"""Characters of a text that ``partial`` and ``noted`` leave out."""
FORCED = "made to fail"
_LISTED = 3
"""Left-out texts that the note names."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that failed, and why."""

    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. ``step`` is the one that succeeded, None with everything else where none did."""

    step: str | None
    summary: Summary | None
    check: Check | None
    failures: tuple[Failure, ...]
    tokens_in: int
    """Read by all attempts together, refused ones too."""
    tokens_out: int
    calls: int

    @property
    def form(self) -> Form:
        """What the text is to what it replaces: a notice counts as lost."""
        return Form.NOTICED if self.step == "notice" else Form.SUMMARY

    def sizes(self, request: Request, tail: int) -> Sizes:
        """The numbers that the edit carries; ``tail`` are the tokens kept after the span."""
        own = request.count(self.summary.text) if self.summary is not None else request.size
        return Sizes(request.size - own, request.size, own, tail)


def descend(
    summariser: Summariser,
    request: Request,
    *,
    steps: Sequence[str] = STEPS,
    fail: int = 0,
    repair: bool = True,
    accept: Callable[[Summary], str] | None = None,
) -> Outcome:
    """Take the steps until one succeeds.

    ``fail`` makes the first so many fail (``--fail-summary``). ``repair`` is for the spot check. ``accept`` says why
    a checked summary will not do, empty where it will.
    """
    failures, made = list[Failure](), list[Summary]()
    request = request.capped(request.size - 1)
    cap = request.cap
    for number, step in enumerate(steps):
        if number < fail:
            failures.append(Failure(step, FORCED))
            continue
        try:
            summary = _made(summariser, request.capped(cap), step)
            made.append(summary)
            summary, found = accepted(request, summary, repair=repair or step == "notice")
            reason = accept(summary) if accept is not None else ""
            if not reason:
                return _outcome(step, summary, found, failures, made)
            cap = min(cap, request.count(summary.text)) // 2
        except SummaryError as error:
            reason = error.message
            if isinstance(error, Refused) and error.reason in {"not smaller", "over its cap"}:
                cap //= 2
        failures.append(Failure(step, reason))
    return _outcome(None, None, None, failures, made)


def notice(request: Request) -> Summary:
    """The bare notice: how much is gone, and that no summary could be made."""
    turns = sorted(named_turn(fragment) for fragment in request.span) or [request.turn]
    messages = len({fragment.message for fragment in request.span})
    told = f"turn {turns[0]}" if turns[0] == turns[-1] else f"turns {turns[0]} to {turns[-1]}"
    text = f"[{messages} earlier messages removed, {told}; no summary could be made]"
    return Summary(text, tokens_in=0, tokens_out=0, calls=0, simulated=True, by="notice")


def _made(summariser: Summariser, request: Request, step: str) -> Summary:
    match step:
        case "notice":
            return notice(request)
        case "noted":
            out = _large(request.span, LARGE)
            note = _note(out, request.cap // 2, request.count) if out else ""
            part = _without(request, out).capped(request.cap - request.count(f"\n{note}"))
            summary = summariser.summarise(part)
            return replace(summary, text=f"{summary.text}\n{note}") if note and summary.text.strip() else summary
        case "partial":
            return summariser.summarise(_without(request, _large(request.span, OVERSIZED)))
        case _:
            return summariser.summarise(request)


def _large(span: Iterable[Fragment], limit: int) -> tuple[Fragment, ...]:
    return tuple(one for one in span if len(one.text) > limit and one.kind is not Kind.USER)


def _without(request: Request, out: Sequence[Fragment]) -> Request:
    gone = {fragment.id for fragment in out}
    return replace(request, span=tuple(fragment for fragment in request.span if fragment.id not in gone))


def _note(out: Sequence[Fragment], room: int, count: Callable[[str], int]) -> str:
    """What was left out, the largest by name as far as there is room; empty where there is not even room to say so."""
    total = sum(fragment.tokens for fragment in out)
    head = f"[left out of this summary: {len(out)} of the longest texts, {total:,} tokens"
    largest = sorted(out, key=lambda one: (-one.tokens, one.id))[:_LISTED]
    for number in range(len(largest), -1, -1):
        names = "; ".join(f"{called(one)}, turn {named_turn(one)}" for one in largest[:number])
        text = f"{head}: {names}]" if names else f"{head}]"
        if count(text) <= room:
            return text
    return ""


def _outcome(
    step: str | None, summary: Summary | None, found: Check | None, failures: Sequence[Failure], made: Sequence[Summary]
) -> Outcome:
    return Outcome(
        step,
        summary,
        found,
        tuple(failures),
        sum(one.tokens_in for one in made),
        sum(one.tokens_out for one in made),
        sum(one.calls for one in made),
    )
