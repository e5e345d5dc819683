"""Waste in a recording: what its prompts carried without need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget import waste
from ctxbudget.findings import (
    HEAVY,
    IDLE_TOOLS,
    LOOP,
    REPEATED,
    REREAD,
    STALE,
    UNUSED,
    Finding,
    finding,
)
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.findings import Rule
    from ctxbudget.ledger import Life
    from ctxbudget.trace import Trace

_RULES = {waste.Why.REPEATED: REPEATED, waste.Why.REREAD: REREAD, waste.Why.STALE: STALE}


@dataclass(frozen=True, slots=True)
class Found:
    """The findings, in order of id, the largest rent first within one; and the spent observations behind the first
    three rules, which could go with nothing true lost."""

    findings: tuple[Finding, ...]
    spent: tuple[waste.Carried, ...]


def find(trace: Trace, lives: Sequence[Life]) -> Found:
    """Everything that went along in vain. ``lives`` are those of the trace's fragments."""
    until = waste.Until(trace)
    observations = waste.observed(lives)
    spent = tuple(waste.carried(trace, until))
    heavy = tuple(waste.heavy(observations))
    known = {one.spent.fragment.id for one in spent}
    besides = known | {piece.fragment.id for piece in heavy}
    ruled: dict[Rule, Iterable[waste.Piece]] = {
        rule: [one.piece for one in spent if one.spent.why is why] for why, rule in _RULES.items()
    }
    ruled[IDLE_TOOLS] = waste.never_called(trace, lives)
    ruled[HEAVY] = [piece for piece in heavy if piece.fragment.id not in known]
    ruled[LOOP] = waste.loops(trace, until)
    ruled[UNUSED] = waste.unused(trace, observations, besides)
    return Found(tuple(_told(rule, piece) for rule, pieces in ruled.items() for piece in _ranked(pieces)), spent)


def _ranked(pieces: Iterable[waste.Piece]) -> list[waste.Piece]:
    return sorted((piece for piece in pieces if piece.token_turns), key=lambda piece: -piece.token_turns)


def _told(rule: Rule, piece: waste.Piece) -> Finding:
    fragment = piece.fragment
    told = finding(rule, piece.text, named_turn(fragment), piece.tokens, fragment.origin.line)
    return replace(told, token_turns=piece.token_turns)
