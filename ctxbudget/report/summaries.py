"""The summaries of a run: each firing, and what is left of the originals after each generation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One firing: a summary that was asked for.

    ``step`` is how far down the ladder the one that stands came from (``full``, ``partial``, ``noted``, ``notice``),
    None where all were refused; ``failures`` say for each step before it why it failed, and a refused summary which
    protected texts it dropped. ``summarised`` tokens became ``summary``, which frees ``freed``; ``tail`` were kept
    after it. Of ``total`` identifiers, amounts, dates and paths of what was replaced it names ``kept``, and not
    ``lost``. ``calls`` and the two after it are of all steps together, of a model that was asked or, where
    ``simulated``, would have been.
    """

    turn: int
    step: str | None
    by: str
    generation: int
    simulated: bool
    calls: int
    tokens_in: int
    tokens_out: int
    summarised: int
    summary: int
    freed: int
    tail: int
    kept: int
    total: int
    lost: list[str]
    failures: list[str]


@dataclass(frozen=True, slots=True)
class DriftRow:
    """One summary that stood, held against the originals behind it and all that it was folded from.

    ``generation`` is 1 where it was made from originals, 2 where one such was folded in, and so on; ``entities`` are
    their identifiers, amounts, dates and paths, ``recall`` the share of them that it still names.
    """

    turn: int
    id: str
    generation: int
    tokens: int
    entities: int
    recall: float
