"""What a parsed value is, whatever it should have been: damaged records hold anything anywhere."""

from __future__ import annotations

from typing import Any

MOST_TOKENS = 10**9
"""A token count above this is a damaged number: no call has a thousand million tokens."""


def mapping(value: Any) -> dict[str, Any]:
    """An object; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """An array; an empty one in place of anything else."""
    return value if isinstance(value, list) else []


def string(value: Any) -> str | None:
    """A text that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def count(value: Any) -> int | None:
    """A count of tokens, or None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def tokens(value: Any) -> int:
    """A count of tokens; 0 in place of anything that is none."""
    return count(value) or 0
