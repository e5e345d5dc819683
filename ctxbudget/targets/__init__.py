"""Other formats to write a trace as: one file each, found by folder scan.

A target is a module with a docstring whose first line names what it writes, and ``write(trace) -> Converted``: the
whole recording, and what of it the target cannot hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from ctxbudget.registry import Registry
from ctxbudget.safe import unicode_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Trace


@dataclass(frozen=True, slots=True)
class Converted:
    """The bytes of a file, and in words what the target cannot hold or holds otherwise, the graver first."""

    data: bytes
    notes: tuple[str, ...]


class Target(Protocol):
    """What a target module offers."""

    def write(self, trace: Trace) -> Converted:
        """The whole recording."""


TARGETS: Registry[Target] = Registry("target", "ctxbudget.targets")


def convert(trace: Trace, target: str) -> Converted:
    """A trace in another format. Raises UnknownName for a target nobody has."""
    return TARGETS.get(target).write(trace)


def json_of(value: Any, *, indent: bool = False) -> bytes:
    """The value as JSON in UTF-8 with a line end; halves of surrogate pairs become U+FFFD."""
    options = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, option=options)
    except TypeError:  # orjson refuses such text
        return orjson.dumps(_clean(value), option=options)


def unheld(trace: Trace, *, usage: bool = False, children: bool = False) -> Iterator[str]:
    """What a list of messages cannot hold of this trace; ``usage`` and ``children`` where the target can."""
    if trace.recorded:
        yield f"{_counted(len(trace.recorded), 'edit')} the agent made of its context: the whole log is written"
    if trace.children and not children:
        yield f"{_counted(len(trace.children), 'sub-agent')}: left out"
    reported = sum(turn.usage is not None for turn in trace.turns)
    if reported and not usage:
        yield f"the usage of {_counted(reported, 'call')}: left out"
    if trace.outcome is not None and not usage:
        yield "the outcome: left out"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, dict):
        return {unicode_text(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
