"""What a firing leaves in the view, and what it says about itself."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ctxbudget.trace import Edit, Form, Fragment, Kind, Origin
from ctxbudget.view import SummaryNote, dropping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.passes.summarize.attempt import Attempt
    from ctxbudget.summaries import Outcome
    from ctxbudget.view import View

_OURS: Final = re.compile(r"@\d+\.(\d+)\+*$")
"""The end of the id of a summary of ours: turn and generation."""
_MESSAGE: Final = -(1 << 30)
"""Messages of summaries count down from here: a notice of the same turn is another message, and stays when they go."""


def edit_of(view: View, by: str, span: Sequence[Fragment], outcome: Outcome, told: str) -> Edit | None:
    """The edit that puts the summary, or the bare notice ``told``, in place of the span; None where there is none."""
    if outcome.summary is None:
        return None
    text = outcome.summary.text
    if outcome.form is Form.NOTICED:
        _, _, kept = text.partition("\n")  # protected texts that the check has put back
        return dropping(view, by, span, f"{told}\n{kept}" if kept else told, "")
    new = _summary(view, f"{by}@{view.turn}.{_generation(span)}", text, span)
    return Edit(by, new.stands_for, (new,), Form.SUMMARY)


def note_of(view: View, span: Sequence[Fragment], attempt: Attempt, edit: Edit | None) -> SummaryNote:
    """What the firing did and cost; ``edit`` is what it came to."""
    outcome, made = attempt.outcome, attempt.made
    check = outcome.check
    replaced = sum(fragment.tokens for fragment in span)
    size = sum(new.tokens for new in edit.inserted) if edit is not None else 0
    note = SummaryNote(
        code="summary" if edit is not None else "summary-refused",
        message="",
        tokens=replaced - size if edit is not None else 0,
        by=outcome.summary.by if outcome.summary is not None else made[-1].by if made else "",
        step=outcome.step or "",
        generation=_generation(span),
        simulated=any(one.simulated for one in made),
        calls=outcome.calls,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        summarised=replaced,
        summary=size,
        tail=view.tokens_since(view.place_of[span[-1].id] + 1),
        kept=check.kept if check is not None else 0,
        total=check.total if check is not None else 0,
        lost=check.lost if check is not None else (),
        failures=tuple(f"{failure.step}: {failure.reason}" for failure in outcome.failures),
    )
    return replace(note, message=_done(note) if edit is not None else _refused(note, attempt))


def _done(note: SummaryNote) -> str:
    label = " (simulated)" if note.simulated else ""
    generation = f", generation {note.generation}" if note.generation > 1 else ""
    parts = [
        f"summary by {note.by}{label}{generation}" if note.step != "notice" else "bare notice",
        f"{note.tokens:,} tokens freed: {note.summarised:,} became {note.summary:,}, {note.tail:,} kept after it",
    ]
    if note.total:
        parts.append(f"it names {note.kept:,} of {note.total:,} identifiers, amounts, dates and paths")
    if note.failures:
        parts.append(f"failed before: {'; '.join(note.failures)}")
    return "; ".join(parts)


def _refused(note: SummaryNote, attempt: Attempt) -> str:
    reasons = "; ".join(note.failures)
    return f"summary did not reduce, nothing changed: {reasons}" if attempt.inflated else f"no summary: {reasons}"


def _generation(span: Sequence[Fragment]) -> int:
    """One more than that of the newest earlier summary in the span."""
    earlier = [_OURS.search(one.id) for one in span if one.kind is Kind.SUMMARY]
    return 1 + max((int(found[1]) if found else 1 for found in earlier), default=0)


def _summary(view: View, name: str, text: str, span: Sequence[Fragment]) -> Fragment:
    """A message of ours with the summary, in the user's role."""
    while name in view.known:
        name += "+"
    counted, tokens = view.count(text)
    return Fragment(
        name, Kind.SUMMARY, text, tokens, counted, view.turn, name, _MESSAGE - view.turn, "user", Origin("", 0),
        stands_for=tuple(old.id for old in span), form=Form.SUMMARY,
    )  # fmt: skip
