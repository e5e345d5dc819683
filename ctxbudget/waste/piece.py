"""A piece of waste, whatever its kind: where to look, what it costs, and what to say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.digests import label
from ctxbudget.evidence.sources import is_observed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.ledger import Life
    from ctxbudget.trace import Fragment

ONCE = 1
"""Turns after which an observation has been seen: the reply to the first prompt that held it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """``tokens`` that went along for ``token_turns`` (tokens × prompts that held them as waste)."""

    fragment: Fragment
    """The place to look at."""
    tokens: int
    token_turns: int
    text: str


def observed(lives: Iterable[Life]) -> list[Life]:
    """The observations among all fragments."""
    return [life for life in lives if is_observed(life.fragment)]


def carried_on(life: Life) -> int:
    """How many prompts held an observation after the first."""
    return max(0, life.turns - ONCE)


def piece(life: Life, text: str) -> Piece:
    """An observation that was waste from its second prompt on."""
    fragment = life.fragment
    return Piece(fragment, fragment.tokens, fragment.tokens * carried_on(life), f"{label(fragment)}: {text}")
