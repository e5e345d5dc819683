"""The keys of native lines, and reading them strictly: what is not understood is told with its line."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from ctxbudget.exchanges import compact
from ctxbudget.trace import Kind, Outcome, Resource, Usage

if TYPE_CHECKING:
    from collections.abc import Collection

    from ctxbudget.builder import TraceBuilder

T = TypeVar("T")

VERSION = 1

FACTS = ("agent", "model", "window", "session", "outcome", "abandoned", "carries_reasoning")
LINES = {
    "ctxbudget": FACTS,
    "kind": (
        "text", "role", "tool", "args", "id", "error", "tokens", "width", "height", "resource", "joined", "ref",
        "in_place_of", "_pin",
    ),
    "billed": ("model", "key", "purpose", "turn"),
    "child": FACTS,
    "compaction": (),
    "turn": ("model", "usage", "key"),
    "end": (),
}  # fmt: skip
"""What a line is, told by the first of these keys that it has, and the other keys it may have."""

COMPACTION = ("trigger", "pre_tokens", "post_tokens", "by", "form", "removed", "summary", "inserted")
USAGE = ("input", "cache_read", "cache_write", "output", "reasoning", "total", "final", "split")
RESOURCE = ("class", "target", "span")
OUTCOME = ("success", "score", "source")

KINDS = {kind.value: kind for kind in Kind}

ROLES = {
    Kind.SYSTEM_PROMPT: "system",
    Kind.TOOL_DEFINITIONS: "system",
    Kind.UNSEEN: "system",
    Kind.PLAN: "assistant",
    Kind.ANSWER: "assistant",
    Kind.REASONING: "assistant",
    Kind.THINKING: "assistant",
    Kind.CALL: "assistant",
    Kind.RESULT: "tool",
    Kind.RETRIEVAL: "tool",
}
"""Whose message a part is in, where the line does not say; any other kind is the user's."""

MOST_NOTES = 20
MOST_TOKENS = 2**53


def role_of(kind: Kind | None, call: Any) -> str:
    """The role of a part whose line names none: a part of a call's result is the tool's."""
    if kind is None or kind in {Kind.CALL, Kind.PLAN}:
        return "assistant"
    return "tool" if call is not None else ROLES.get(kind, "user")


class Notes:
    """Warnings of one trace: each is told once, with the first line it concerns, and how often it came."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], list[int]] = {}
        self._more = 0

    def add(self, code: str, message: str, line: int) -> None:
        """Something is not as it should be."""
        if (code, message) in self._told:
            self._told[code, message][1] += 1
        elif len(self._told) < MOST_NOTES:
            self._told[code, message] = [line, 1]
        else:
            self._more += 1

    def tell(self, build: TraceBuilder) -> None:
        """Hand them to the trace."""
        for (code, message), (line, count) in self._told.items():
            build.warn(code, message + (f" ({count} times, first here)" if count > 1 else ""), line)
        if self._more:
            build.warn("more-warnings", f"and {self._more:,} more of other kinds")


class Fields:
    """The keys of one object; every getter gives None for what is absent, and tells of what is wrong."""

    def __init__(self, data: dict[str, Any], known: Collection[str], line: int, notes: Notes) -> None:
        """``known`` are the keys that mean something."""
        self.data = data
        self.line = line
        self.notes = notes
        for name in data:
            if name not in known:
                self.note("unknown-key", f"unknown key {str(name)[:40]!r}, ignored{nearest(name, known)}")

    def note(self, code: str, message: str) -> None:
        """A warning about this line."""
        self.notes.add(code, message, self.line)

    def inner(self, name: str, known: Collection[str]) -> Fields | None:
        """An object inside."""
        value = self._get(name, dict, "an object")
        return None if value is None else Fields(value, known, self.line, self.notes)

    def text(self, name: str) -> str | None:
        """A string; another value is taken as JSON, and told."""
        value = self.data.get(name)
        if value is None or isinstance(value, str):
            return value
        self.note("bad-value", f"{name!r} should be a string; taken as JSON text")
        return compact(value)

    def word(self, name: str) -> str | None:
        """A short string: a name, an id."""
        value = self.data.get(name)
        return str(value) if type(value) is int else self._get(name, str, "a string")

    def count(self, name: str) -> int | None:
        """A number of tokens, pixels or messages."""
        value = self.data.get(name)
        if value is None or (type(value) is int and 0 <= value <= MOST_TOKENS):
            return value
        self.note("bad-value", f"{name!r} should be a whole number, 0 or more; ignored")
        return None

    def flag(self, name: str) -> bool | None:
        """True or false."""
        return self._get(name, bool, "true or false")

    def items(self, name: str) -> list[Any] | None:
        """A list."""
        return self._get(name, list, "a list")

    def _get(self, name: str, kind: type[T], wanted: str) -> T | None:
        value = self.data.get(name)
        if value is None or isinstance(value, kind):
            return value
        self.note("bad-value", f"{name!r} should be {wanted}; ignored")
        return None


def nearest(name: str, known: Collection[str]) -> str:
    """A hint at the name that may have been meant."""
    near = get_close_matches(str(name)[:40], list(map(str, known)), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def usage_of(fields: Fields, name: str) -> Usage | None:
    """The counts of one call; they are disjoint, so their sum is the total."""
    inner = fields.inner(name, USAGE)
    if inner is None:
        return None
    given, read, write, output = (inner.count(key) or 0 for key in USAGE[:4])
    total = inner.count("total")
    split = inner.flag("split") is not False
    return Usage(
        given, read, write, output, inner.count("reasoning"),
        given + read + write + output if total is None else total, inner.flag("final") is not False, split,
    )  # fmt: skip


def resource_of(fields: Fields) -> Resource | None:
    """What a call works on, where the line says so itself."""
    inner = fields.inner("resource", RESOURCE)
    cls = inner.word("class") if inner is not None else None
    if inner is None or cls is None:
        return None
    match inner.items("span"):
        case [int(first), int(last)]:
            return Resource(cls, inner.text("target"), (first, last))
    return Resource(cls, inner.text("target"))


def outcome_of(fields: Fields) -> Outcome | None:
    """What the recording says of success."""
    inner = fields.inner("outcome", OUTCOME)
    if inner is None:
        return None
    score = inner.data.get("score")
    number = float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None
    return Outcome(inner.flag("success"), number, inner.text("source") or "outcome")
