"""What calls did, in lines: changes with what they put in place, failures with their reason, files with their last
action. Kept up to date as fragments enter, each looked at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ctxbudget.resources import CREATE, DELEGATE, EDIT, MEMORY, READ, SHELL, TEST, WRITE, arguments, may_change
from ctxbudget.summaries.extract.failures import signature
from ctxbudget.summaries.extract.naming import called, cut
from ctxbudget.trace import Kind, named_turn

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment

SCANNED: Final = 60_000
"""Characters of one text that are looked at."""
GIST: Final = 90
"""Characters of what a change put in place."""
TURNS: Final = 6
"""Turns of one deed that are named; of more the first and the newest."""
_VERBS: Final = {READ: "read", EDIT: "edited", WRITE: "written", CREATE: "created"}
_REMARKS: Final = ("#", "//", "/*", "*", "--", '"""', "'''", "<!--")
"""Lines that explain others, where there are others."""
_LASTING: Final = frozenset({TEST, DELEGATE, MEMORY})
"""Classes besides the changing ones whose calls need not be made twice."""


@dataclass(slots=True)
class Deed:
    """A call, or the same call made several times: its name, the turns, and what is to be said of the newest."""

    name: str
    said: str = ""
    turns: list[int] = field(default_factory=list)

    def line(self) -> str:
        """``Edit config.py, turn 22: AMOUNTS = "minor"``."""
        shown = self.turns if len(self.turns) <= TURNS else [self.turns[0], *self.turns[1 - TURNS :]]
        gap = "" if shown is self.turns else f" ({len(self.turns)} times)"
        turns = f"turn{'s' if len(shown) > 1 else ''} {', '.join(map(str, shown))}{gap}"
        return f"{self.name}, {turns}" + (f": {self.said}" if self.said else "")


class Deeds:
    """What was done, what failed and which files were touched, each in the order of the last time."""

    __slots__ = ("calls", "done", "failed", "files", "units")

    def __init__(self) -> None:
        """Nothing was done."""
        self.calls: dict[tuple[str, str], Fragment] = {}
        """Calls without a result so far."""
        self.done: dict[str, Deed] = {}
        self.failed: dict[str, Deed] = {}
        self.files: dict[str, dict[str, int]] = {}
        """Each file's last turn by what was done with it."""
        self.units: set[str] = set()
        """Units that have a line of their own in ``done`` or ``failed``."""

    def note(self, fragment: Fragment) -> None:
        """A fragment entered."""
        if fragment.call is None:
            return
        pair = fragment.unit, fragment.call
        if fragment.asks:
            self.calls[pair] = fragment
        elif fragment.text and (call := self.calls.pop(pair, None)) is not None:
            self._answered(call, fragment)

    def _answered(self, call: Fragment, result: Fragment) -> None:
        name, turn = called(call), named_turn(call)
        reason = signature(result, result.text[:SCANNED])
        if reason:
            _again(self.failed, name, reason, turn)
            self.units.add(call.unit)
            return
        if name in self.failed and "worked at turn" not in self.failed[name].said:
            self.failed[name].said += f"; worked at turn {turn}"
        self._touch(call, turn)
        if lasting(call):
            said = gist(call) or ("" if call.resource is None or call.resource.cls != TEST else _last(result))
            _again(self.done, name, said, turn, key=f"{name}\n{gist(call)}")
            self.units.add(call.unit)

    def _touch(self, call: Fragment, turn: int) -> None:
        verb = _VERBS.get(call.resource.cls) if call.resource is not None else None
        if verb is None or call.resource is None or not call.resource.target:
            return
        before = self.files.pop(call.resource.target, {})
        before.pop(verb, None)
        self.files[call.resource.target] = {**before, verb: turn}


def _again(deeds: dict[str, Deed], name: str, said: str, turn: int, key: str = "") -> None:
    deed = deeds.pop(key or name, None) or Deed(name)
    deed.said = said
    if turn not in deed.turns[-1:]:
        deed.turns.append(turn)
    deeds[key or name] = deed


def lasting(call: Fragment) -> bool:
    """Whether what a call did lasts, so that it need not be done again."""
    if call.kind is Kind.PLAN or call.resource is None:
        return False
    cls = call.resource.cls
    return cls in _LASTING or cls in {EDIT, WRITE, CREATE} or (may_change(call.resource) and cls in {"act", SHELL})


def gist(call: Fragment) -> str:
    """The first line that a change puts in place, that was not there before and that is no comment."""
    if call.resource is None or call.resource.cls not in {EDIT, WRITE, CREATE}:
        return ""
    given = arguments.unpack(call.text[:SCANNED].removeprefix(call.tool or "").lstrip(" "))
    old, new = _first(given, arguments.OLD), _first(given, (*arguments.NEW, *arguments.CONTENTS))
    if not new and (patch := _first(given, (*arguments.PATCHES, arguments.RAW))):
        new = "\n".join(line[1:] for line in patch.split("\n") if line.startswith("+") and not line.startswith("+++"))
    before = {line.strip() for line in old.split("\n")}
    put = [line for each in new.split("\n") if (line := each.strip()) not in before and any(map(str.isalnum, line))]
    telling = next((line for line in put if not line.startswith(_REMARKS)), put[0] if put else "")
    return cut(telling, GIST) if telling else ""


def _first(given: dict[str, object], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str)), "")


def _last(result: Fragment) -> str:
    """The last line of a test run, which is its tally."""
    return cut(result.text.rstrip()[-SCANNED:].rpartition("\n")[2].strip(), GIST)
