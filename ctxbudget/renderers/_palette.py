"""Colours and marks. Colour is never alone: every layer has a letter, every level its word."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CYAN = "#22d3ee"
ORANGE = "#f97316"
SLATE = "#94a3b8"
FAINT = "#64748b"
INK = "#0f172a"
LIGHT = "#f8fafc"
REST_SHADE = "#1e293b"

_SHADES = {
    "system": "#475569",
    "task": "#cbd5e1",
    "state": "#0e7490",
    "reasoning": SLATE,
    "observation": CYAN,
    "tools": "#cbd5e1",
    "retrieval": "#0891b2",
    "working_memory": CYAN,
}
"""Slate and cyan; neighbours in a bar differ in lightness too, so that they part without colour vision."""

DARK = ("#475569", "#0e7490", "#0891b2", "#334155", REST_SHADE)
"""Shades that a dark letter would not be read on."""

_SPARE = ("#67e8f9", "#334155", "#06b6d4", "#e2e8f0")

TONES = {
    "over": ORANGE,
    "error": f"bold {ORANGE}",
    "warning": ORANGE,
    "note": SLATE,
    "total": "bold",
}
"""The style of a row or a label by its tone."""

PLAIN = str.maketrans(
    {
        "┈": ".", "─": "-", "│": "|", "└": "+", "┴": "+", "▼": "v", "▲": "^", "·": "-", "█": "#", "×": "x", "…": "~",
        "░": ":", "▒": ":", "▽": "v",
        "▁": "_", "▂": "_", "▃": "_", "▄": "=", "▅": "=", "▆": "#", "▇": "#",
    }
)  # fmt: skip
"""What stands for our own drawing where the output's encoding cannot carry it; all one column wide."""

_DRAWN = "┈─│└▼▲·░▒█▁▂▃▄▅▆▇"


def shades(layers: Sequence[str]) -> dict[str, str]:
    """A colour for each layer."""
    spare = cycle(_SPARE)
    return {layer: _SHADES.get(layer) or next(spare) for layer in layers}


def letters(layers: Sequence[str]) -> dict[str, str]:
    """A letter of its own for each layer: the first of its name that is still free (``S T A R O``)."""
    given: dict[str, str] = {}
    for layer in layers:
        free = (sign for sign in f"{layer}0123456789#".upper() if sign.isalnum() and sign not in given.values())
        given[layer] = next(free, "?")
    return given


def draws(encoding: str) -> bool:
    """Whether an encoding carries the characters we draw with."""
    try:
        _DRAWN.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
