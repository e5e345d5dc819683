"""The text of the block of state: sections of lines, the newest lines of each as far as its share of the room goes."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ctxbudget.passes.keep_state.memory import Memory

CHARS: Final = 3.7
"""Characters per token to begin with; corrected by what the first attempt really costs."""
_TRIES: Final = 6
_MOST: Final = 400
"""Lines of one section that are looked at; more say nothing to a reader."""

SECTIONS: Final = (
    ("Constraints, word by word", 1.0),
    ("Failed", 0.3),
    ("Open to-dos", 0.5),
    ("Done, not to be done again", 0.6),
    ("Files, with their last action", 0.5),
    ("Earlier steps, no longer shown", 1.0),
)
"""Titles, and how much of the room that is left by then each may take."""


def written(memory: Memory, turn: int, room: int, count: Callable[[str], int]) -> str:
    """The block within ``room`` tokens; empty where there is nothing to say, or no room for it."""
    chars = room * CHARS
    for _ in range(_TRIES):
        text = _assembled(memory, turn, int(chars))
        size = count(text) if text else 0
        if size <= room:
            return text
        chars = min(len(text), chars) * room / size * 0.95
    return ""


def _assembled(memory: Memory, turn: int, chars: int) -> str:
    """The block in about so many characters."""
    head = f"[State of the work before turn {turn}]"
    left, parts = chars - len(head), [head]
    for (title, share), lines in zip(SECTIONS, _lines(memory), strict=True):
        kept = _newest(lines, int(left * share) - len(title) - 2)
        if kept:
            part = "\n".join((f"{title}:", *kept))
            parts.append(part)
            left -= len(part) + 1
    return "\n".join(parts) if len(parts) > 1 else ""


def _lines(memory: Memory) -> Iterator[Iterable[str]]:
    """The lines of each section, the newest first; of to-dos the next first."""
    deeds = memory.deeds
    yield (f"- turn {turn}: {said}" for said, turn in reversed(memory.rules.items()))
    yield (f"- {deed.line()}" for deed in reversed(deeds.failed.values()))
    yield (f"- {item}" for item in reversed(memory.todos))
    yield (f"- {deed.line()}" for deed in reversed(deeds.done.values()))
    yield (f"- {name}: {_actions(actions)}" for name, actions in reversed(deeds.files.items()))
    yield (f"- {line}" for line in reversed(memory.gone.values()))


def _actions(actions: dict[str, int]) -> str:
    """``read at turn 53, edited at turn 39``: the last action first."""
    return ", ".join(f"{verb} at turn {turn}" for verb, turn in sorted(actions.items(), key=lambda one: -one[1]))


def _newest(lines: Iterable[str], room: int) -> list[str]:
    """As many of the first as fit, in the opposite order."""
    kept: deque[str] = deque()
    for line in islice(lines, _MOST):
        room -= len(line) + 1
        if room < 0:
            break
        kept.appendleft(line)
    return list(kept)
