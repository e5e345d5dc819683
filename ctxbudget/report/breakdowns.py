"""What the tokens of a trace are summed up as: by layer, kind, tool, resource; by turn that grew; by rule of waste."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TotalRow:
    """Sums over the fragments of one layer, kind, tool or resource.

    ``entered`` counts each fragment once; ``peak`` is what stood in the fullest turn, ``share`` its part of it;
    ``growth`` is tokens per turn from the first turn to the peak; ``token_turns`` is tokens × turns carried.
    """

    name: str
    calls: int
    entered: int
    call_tokens: int
    result_tokens: int
    peak: int
    share: float
    growth: float
    token_turns: int


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """A turn that grew much, and the fragment that did most of it."""

    turn: int
    added: int
    fragment: str
    kind: str
    tool: str | None
    what: str
    tokens: int
    line: int | None


@dataclass(frozen=True, slots=True)
class WasteRow:
    """What one rule of waste found, over the whole trace: ``tokens`` each time once, ``token_turns`` their rent."""

    id: str
    name: str
    findings: int
    tokens: int
    token_turns: int


@dataclass(frozen=True, slots=True)
class Waste:
    """What could go with nothing true lost: repeated observations, re-reads and stale copies (CB301 to CB303). A copy
    that shows a changed line counts whole, though its other lines may still be true.

    ``tokens`` in ``fragments`` stood as waste in the fullest turn, ``share`` is their part of it; ``token_turns`` is
    what they cost over the whole trace. ``rules`` are all rules of waste that found something, the others stand apart.
    """

    tokens: int
    share: float
    fragments: int
    token_turns: int
    rules: list[WasteRow]
