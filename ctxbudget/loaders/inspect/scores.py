"""Scores of a sample → its outcome."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ctxbudget.records.values import mapping
from ctxbudget.trace import Outcome

VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partly correct, no answer, as Inspect's ``value_to_float`` reads them."""


def outcome(sample: dict[str, Any]) -> Outcome | None:
    """What the first scorer said; of one that gives several values, nothing can be said at once."""
    scores = mapping(sample.get("scores"))
    if not scores and isinstance(sample.get("score"), dict):  # logs of 2024
        scores = {"score": sample["score"]}
    for name, given in scores.items():
        score = _number(mapping(given).get("value"))
        if score is not None:
            success = True if score == 1 else False if score == 0 else None
            return Outcome(success, score, f"scores.{name}")
    return None


def _number(value: Any) -> float | None:
    match value:
        case bool():
            return float(value)
        case int() | float() if isfinite(value):
            return float(value)
        case str():
            return VALUES.get(value)
    return None
