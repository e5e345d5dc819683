"""Sums over a trace's fragments: by layer, kind, tool and resource; the turns that grew most; the fragments."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from ctxbudget.findings import WASTE
from ctxbudget.report import FragmentRow
from ctxbudget.report.breakdowns import GrowthRow, TotalRow, Waste, WasteRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.findings import Rule
    from ctxbudget.findings.waste import Found
    from ctxbudget.layers import Scheme
    from ctxbudget.ledger import Entry, Life
    from ctxbudget.trace import Fragment, Kind, Trace

MOST_GROWTH = 10
"""Turns in the growth table."""

PREVIEW = 80
"""Characters of text shown of a fragment."""

LONGEST = 400
"""Characters of a tool with its target: a path is whole, a script is not."""


class _Sum:
    """Totals of one group while fragments are being added."""

    __slots__ = ("call_tokens", "calls", "entered", "first", "peak", "result_tokens", "token_turns")

    def __init__(self) -> None:
        self.calls = self.entered = self.call_tokens = self.result_tokens = 0
        self.first = self.peak = self.token_turns = 0

    def add(self, fragment: Fragment, rent: int, *, at_peak: bool) -> None:
        """Count one fragment, its rent (tokens × turns), and whether it stood in the fullest turn."""
        tokens = fragment.tokens
        self.entered += tokens
        self.token_turns += rent
        if fragment.call is not None:
            if fragment.role == "assistant":
                self.calls += 1
                self.call_tokens += tokens
            else:
                self.result_tokens += tokens
        if at_peak:
            self.peak += tokens
        if fragment.turn == 1:
            self.first += tokens

    def join(self, other: _Sum) -> None:
        """Count what another has counted."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def total_rows(carried: Iterable[Life], fullest: Entry | None, scheme: Scheme) -> dict[str, list[TotalRow]]:
    """Rows per ``layer`` (in the scheme's order, empty ones too), ``kind``, ``tool`` and ``resource`` (largest rent
    first). Fragments alike in all of these are summed first: they are many, and the kinds of them few."""
    at, peak = (fullest.turn.index, fullest.tokens) if fullest else (0, 0)
    groups: dict[str, dict[str, _Sum]] = {"layer": {layer: _Sum() for layer in scheme.layers}}
    groups |= {name: {} for name in ("kind", "tool", "resource")}
    for sample, cell in _cells(carried, at):
        target = sample.resource.target if sample.resource else None
        names = (scheme.layer(sample), sample.kind.value, sample.tool, target)
        for sums, name in zip(groups.values(), names, strict=True):
            if name is not None:
                sums.setdefault(name, _Sum()).join(cell)
    rows = {by: [_row(name, total, peak, at) for name, total in sums.items()] for by, sums in groups.items()}
    return {by: found if by == "layer" else sorted(found, key=_rank) for by, found in rows.items()}


def _cells(carried: Iterable[Life], at: int) -> Iterable[tuple[Fragment, _Sum]]:
    """Sums over fragments of one kind, tool and target, each with one of them."""
    cells: dict[tuple[Kind, str | None, str | None], tuple[Fragment, _Sum]] = {}
    for fragment, until in carried:
        turn, resource = fragment.turn, fragment.resource
        key = fragment.kind, fragment.tool, resource.target if resource is not None else None
        cell = cells.get(key)
        if cell is None:
            cell = cells[key] = fragment, _Sum()
        carrying = until - turn + 1
        rent = fragment.tokens * carrying if carrying > 0 else 0
        cell[1].add(fragment, rent, at_peak=turn <= at <= until)
    return cells.values()


def _rank(row: TotalRow) -> tuple[int, str]:
    return -row.token_turns, row.name


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


def wasted(found: Found, fullest: Entry | None) -> Waste:
    """What could go with nothing true lost, and what each rule of waste found."""
    at, peak = (fullest.turn.index, fullest.tokens) if fullest else (0, 0)
    there = [one.spent.fragment.tokens for one in found.spent if one.at(at)]
    return Waste(
        tokens=sum(there),
        share=sum(there) / peak if peak else 0.0,
        fragments=len(there),
        token_turns=sum(one.token_turns for one in found.spent),
        rules=[row for rule in WASTE if (row := _waste_row(rule, found)).findings],
    )


def _waste_row(rule: Rule, found: Found) -> WasteRow:
    told = [each for each in found.findings if each.id == rule.id]
    tokens, rent = (sum(each.tokens or 0 for each in told), sum(each.token_turns or 0 for each in told))
    return WasteRow(rule.id, rule.name, len(told), tokens, rent)


def growth_rows(trace: Trace, ledger: Sequence[Entry]) -> list[GrowthRow]:
    """The turns that grew most, largest first, each with the fragment that did it. The first turn is the start,
    not growth."""
    grown = nlargest(
        MOST_GROWTH, (entry for entry in ledger[1:] if entry.added), key=lambda entry: (entry.added, -entry.turn.index)
    )
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
        return " ".join(f"{fragment.tool} {fragment.resource.target}".split())[:LONGEST]
    if fragment.kind == "unseen":
        return "billed, not in the file: system prompt, tool definitions"
    if fragment.hidden:
        return "billed, not in the file: the hidden part of a reply"
    words = " ".join(fragment.text[: 4 * PREVIEW].split())[:PREVIEW]
    if fragment.kind == "media":
        return words or "image or document, estimated"
    return words or "(empty)"
