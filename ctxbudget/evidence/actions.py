"""The calls of a trace with their arguments and results: what acts, and so what may have needed something."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxbudget.evidence.arguments import arguments
from ctxbudget.resources import ACT, CREATE, EDIT, WRITE, may_change, targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.trace import Fragment, Trace

BY_TEXT = frozenset({EDIT, WRITE, CREATE})
"""Classes of calls that change files and say so: what they write is theirs, not something looked up."""
_LINES = re.compile(r"\d+(?::\d+)?\Z")
_OPEN = re.compile(r"^\[File: (/[^\n]*?) \(\d+ lines|\(Open file: (/[^\n)]*)\)", re.MULTILINE)
"""SWE-agent's window, and its line about the state of the shell."""


@dataclass(frozen=True, slots=True)
class Action:
    """One call. ``place`` is its index in the log, ``args`` what it was given (raw text where that is no data)."""

    place: int
    call: Fragment
    args: Mapping[str, Any] | str
    results: tuple[Fragment, ...]

    @property
    def turn(self) -> int:
        """The turn whose reply made it. 0: it stood in the first prompt, and this agent did not make it."""
        return self.call.turn - 1

    @property
    def cls(self) -> str | None:
        """Its tool class."""
        return self.call.resource.cls if self.call.resource is not None else None

    @property
    def target(self) -> str | None:
        """What it works on."""
        return self.call.resource.target if self.call.resource is not None else None

    @property
    def failed(self) -> bool:
        """A result of it reports a failure. A format without such a mark never says so."""
        return any(result.error for result in self.results)

    @property
    def changes_files(self) -> bool:
        """It changed the files it names; one that failed did not."""
        return self.cls in BY_TEXT and not self.failed

    @property
    def may_change(self) -> bool:
        """It could have changed anything at all. A command that failed may have; an edit or an action has not."""
        if self.failed and (self.cls in BY_TEXT or self.cls == ACT):
            return False
        return may_change(self.call.resource)

    @property
    def files(self) -> tuple[str, ...]:
        """The files it changes: the target as the trace spells it first, the others of a patch behind it.

        An edit that names none (SWE-agent's ``edit 10:20``) changes the file that its result says is open.
        """
        if self.cls not in BY_TEXT:
            return ()
        if self.target is None or _LINES.match(self.target):
            shown = (_OPEN.search(result.text) for result in self.results)
            return tuple(hit[1] or hit[2] for hit in shown if hit is not None)
        return (self.target, *targets(self.call.tool or "", self.args)[1:])


def actions(trace: Trace) -> list[Action]:
    """The calls in order. A result belongs to the latest call of its id."""
    found: list[tuple[int, Fragment, list[Fragment]]] = []
    current: dict[str, list[Fragment]] = {}
    for place, fragment in enumerate(trace.fragments):
        if fragment.call is None:
            continue
        if fragment.asks:
            current[fragment.call] = []
            found.append((place, fragment, current[fragment.call]))
        elif fragment.call in current:
            current[fragment.call].append(fragment)
    return [Action(place, call, arguments(call), tuple(results)) for place, call, results in found]
