"""Other formats to write a trace as: one file each, found by folder scan.

A target is a module with a docstring whose first line names what it writes, and ``write(trace) -> Converted``: the
whole recording, and what of it the target cannot hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ctxbudget.registry import Registry
from ctxbudget.sizes import counted

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


def unheld(trace: Trace, *, usage: bool = False, children: bool = False) -> Iterator[str]:
    """What a list of messages cannot hold of this trace; ``usage`` and ``children`` where the target can."""
    if trace.recorded:
        yield f"{counted(len(trace.recorded), 'edit')} the agent made of its context: the whole log is written"
    if trace.children and not children:
        yield f"{counted(len(trace.children), 'sub-agent')}: left out"
    reported = sum(turn.usage is not None for turn in trace.turns)
    if reported and not usage:
        yield f"the usage of {counted(reported, 'call')}: left out"
    if trace.outcome is not None and not usage:
        yield "the outcome: left out"
