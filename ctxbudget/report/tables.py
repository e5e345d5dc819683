"""Sums over a trace's fragments: by layer, kind, tool and resource; the turns that grew most; the fragments."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from ctxbudget.report import FragmentRow, GrowthRow, TotalRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.ledger import Entry, Life
    from ctxbudget.trace import Fragment, Trace

MOST_GROWTH = 10
"""Turns in the growth table."""

PREVIEW = 80
"""Characters of text shown of a fragment."""


class _Sum:
    """Totals of one group while fragments are being added."""

    __slots__ = ("call_tokens", "calls", "entered", "first", "peak", "result_tokens", "token_turns")

    def __init__(self) -> None:
        self.calls = self.entered = self.call_tokens = self.result_tokens = 0
        self.first = self.peak = self.token_turns = 0


def total_rows(carried: Iterable[Life], ledger: Sequence[Entry], scheme: Scheme, by: str) -> list[TotalRow]:
    """One row per layer (in the scheme's order, empty ones too), kind, tool or resource (largest rent first)."""
    at = max(ledger, key=lambda entry: entry.size).turn.index if ledger else 0
    peak = ledger[at - 1].tokens if ledger else 0
    name_of = _naming(scheme, by)
    sums: dict[str, _Sum] = {layer: _Sum() for layer in scheme.layers} if by == "layer" else {}
    for life in carried:
        name = name_of(life.fragment)
        if name is None:
            continue
        total = sums.get(name)
        if total is None:
            total = sums[name] = _Sum()
        _add(total, life, at)
    rows = [_row(name, total, peak, at) for name, total in sums.items()]
    return rows if by == "layer" else sorted(rows, key=lambda row: (-row.token_turns, row.name))


def _naming(scheme: Scheme, by: str) -> Callable[[Fragment], str | None]:
    match by:
        case "layer":
            return scheme.layer
        case "kind":
            return lambda fragment: fragment.kind.value
        case "tool":
            return lambda fragment: fragment.tool
        case _:
            return lambda fragment: fragment.resource.target if fragment.resource else None


def _add(total: _Sum, life: Life, peak: int) -> None:
    fragment = life.fragment
    tokens = fragment.tokens
    total.entered += tokens
    total.token_turns += life.token_turns
    if fragment.asks:
        total.calls += 1
        total.call_tokens += tokens
    elif fragment.answers:
        total.result_tokens += tokens
    if fragment.turn <= peak <= life.until:
        total.peak += tokens
    if fragment.turn == 1:
        total.first += tokens


def _row(name: str, total: _Sum, peak: int, at: int) -> TotalRow:
    return TotalRow(
        name=name,
        calls=total.calls,
        entered=total.entered,
        call_tokens=total.call_tokens,
        result_tokens=total.result_tokens,
        peak=total.peak,
        share=total.peak / peak if peak else 0.0,
        growth=(total.peak - total.first) / (at - 1) if at > 1 else 0.0,
        token_turns=total.token_turns,
    )


def growth_rows(trace: Trace, ledger: Sequence[Entry]) -> list[GrowthRow]:
    """The turns that grew most, largest first, each with the fragment that did it. The first turn is the start,
    not growth."""
    grown = nlargest(MOST_GROWTH, (entry for entry in ledger[1:] if entry.added), key=lambda entry: (entry.added, -entry.turn.index))
    rows = []
    for entry in grown:
        worst = max(trace.entering(entry.turn), key=lambda fragment: fragment.tokens)
        rows.append(
            GrowthRow(
                turn=entry.turn.index,
                added=entry.added,
                fragment=worst.id,
                kind=worst.kind.value,
                tool=worst.tool,
                what=describe(worst),
                tokens=worst.tokens,
                line=worst.origin.line,
            )
        )
    return rows


def fragment_rows(carried: Iterable[Life], scheme: Scheme) -> list[FragmentRow]:
    """Every fragment that any prompt held."""
    return [fragment_row(life, scheme) for life in carried]


def fragment_row(life: Life, scheme: Scheme) -> FragmentRow:
    """One fragment with its life."""
    fragment = life.fragment
    return FragmentRow(
        id=fragment.id,
        kind=fragment.kind.value,
        layer=scheme.layer(fragment),
        role=fragment.role,
        tool=fragment.tool,
        call=fragment.call,
        target=fragment.resource.target if fragment.resource else None,
        turn=fragment.turn,
        until=life.until,
        message=fragment.message,
        tokens=fragment.tokens,
        counted=fragment.counted,
        token_turns=life.token_turns,
        estimated=fragment.estimated,
        form=fragment.form.value if fragment.form else None,
        line=fragment.origin.line,
        what=describe(fragment),
    )


def describe(fragment: Fragment) -> str:
    """What a fragment is in a few words: its tool and target, else its first words, else why there are none."""
    if fragment.tool is not None and fragment.resource is not None and fragment.resource.target:
        return f"{fragment.tool} {fragment.resource.target}"[:PREVIEW]
    if fragment.kind == "unseen":
        return "billed, not in the file: system prompt, tool definitions"
    if fragment.hidden:
        return "billed, not in the file: the hidden part of a reply"
    words = " ".join(fragment.text[: 4 * PREVIEW].split())[:PREVIEW]
    if fragment.kind == "media":
        return words or "image or document, estimated"
    return words or "(empty)"
