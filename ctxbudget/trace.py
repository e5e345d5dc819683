"""What was recorded: the frozen data of one agent session.

A trace is an append-only log of fragments in context order, the turns (model calls) that saw them, and the
compactions the recorded agent made. Nothing here changes after loading; strategies work on views of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Kind(StrEnum):
    """What a fragment is. What it is *for* is its layer (``layers.py``)."""

    SYSTEM_PROMPT = "system_prompt"
    TOOL_DEFINITIONS = "tool_definitions"
    UNSEEN = "unseen"
    """Billed by the provider, absent from the file (system prompt and tool schemas of most session stores)."""
    MEMORY_FILE = "memory_file"
    INJECTED = "injected"
    """Text the harness adds: reminders, environment blocks, notices."""
    USER = "user"
    PLAN = "plan"
    SUMMARY = "summary"
    ANSWER = "answer"
    """Assistant text of a reply without calls."""
    REASONING = "reasoning"
    """Assistant text that comes with calls."""
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    RETRIEVAL = "retrieval"
    """The result of a search, knowledge or fetch tool."""
    MEDIA = "media"
    OTHER = "other"


class Form(StrEnum):
    """How a stand-in relates to what it replaces."""

    TRUNCATED = "truncated"
    DIGEST = "digest"
    CLEARED = "cleared"
    OFFLOADED = "offloaded"
    SUMMARY = "summary"
    DUPLICATE = "duplicate"
    """The same content stands whole elsewhere: counts as kept."""
    NOTICED = "noticed"
    """A notice says that something was removed: counts as lost."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fragment was read: file as given, 1-based line (JSONL) or record number, 0-based block in it."""

    path: str
    line: int
    block: int = 0


@dataclass(frozen=True, slots=True)
class Resource:
    """What a call works on: a tool class (``read``, ``edit``, ``shell`` …) and a target (path, URL, query).

    ``span`` is the range of lines read, first and last, 1-based, where the call names one.
    """

    cls: str
    target: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as the provider billed them, disjoint: ``input`` is the uncached part of the prompt.

    ``output`` includes ``reasoning`` (None: unknown). ``final`` is False where the output count is a streaming
    placeholder; ``split`` is False where only ``total`` is known.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int | None = None
    total: int = 0
    final: bool = True
    split: bool = True

    @property
    def prompt(self) -> int:
        """The whole prompt side, cached or not."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Billed:
    """One billed API call: ``key`` names it across files (resumed copies share it); ``turn`` is None where the
    call is not part of the live history (a rewound branch, a compaction)."""

    key: str
    model: str | None
    usage: Usage
    turn: int | None = None
    purpose: str = "turn"
    """``turn``, ``abandoned`` or ``compaction``."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """The smallest piece that is counted and moved. Never changes after loading."""

    id: str
    """Stable for the same file: ``t8.2`` is the third fragment that entered at turn 8."""
    kind: Kind
    text: str
    tokens: int
    """What it costs in a prompt: ``counted`` times the calibrated factor, or an estimate (media, hidden parts)."""
    counted: int
    """Exact BPE count of ``text``."""
    turn: int
    """First turn whose context holds it (1-based). A call made in the reply of turn n has n + 1."""
    unit: str
    """Fragments that leave together share it: all calls of one reply and all their results; else its own id."""
    message: int
    """Index of the message it belongs to; fragments of one message share it."""
    role: str
    """``system``, ``user``, ``assistant`` or ``tool``: whose message carries it."""
    origin: Origin
    call: str | None = None
    """Joins a call and its result."""
    tool: str | None = None
    resource: Resource | None = None
    error: bool = False
    """A result that reports a failure."""
    pinned: bool = False
    """The trace itself says that it must stay (``_pin: true``)."""
    estimated: bool = False
    """``tokens`` is an estimate without text behind it (media, hidden thinking, opaque signatures)."""
    hidden: bool = False
    """Billed but not in the file: the part of a reply that was not shown."""
    stands_for: tuple[str, ...] = ()
    """Ids that this stand-in replaces; empty for recorded fragments."""
    form: Form | None = None

    def priced(self, tokens: int) -> Fragment:
        """The same fragment at another cost. (Five times as fast as ``replace``, and every fragment goes through.)"""
        return Fragment(
            self.id, self.kind, self.text, tokens, self.counted, self.turn, self.unit, self.message, self.role,
            self.origin, self.call, self.tool, self.resource, self.error, self.pinned, self.estimated, self.hidden,
            self.stands_for, self.form,
        )  # fmt: skip

    @property
    def asks(self) -> bool:
        """A call, whatever its kind (the call of a plan tool is a ``plan``)."""
        return self.call is not None and self.role == "assistant"

    @property
    def answers(self) -> bool:
        """A result or a part of one, whatever its kind (``result``, ``retrieval``, ``media``)."""
        return self.call is not None and self.role != "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One model call. ``trace.fragments[start:stop]`` entered the context at this turn."""

    index: int
    """1-based."""
    start: int
    stop: int
    model: str | None = None
    usage: Usage | None = None
    line: int | None = None
    pending: bool = False
    """The call had not been made, or its reply is missing, when the recording ended."""

    def moved(self, start: int, stop: int) -> Turn:
        """The same call, its fragments at other places of the log."""
        return Turn(self.index, start, stop, self.model, self.usage, self.line, self.pending)

    @property
    def reported(self) -> int | None:
        """Prompt tokens by the provider's own count, or None where the file does not hold one."""
        if self.usage is None or not self.usage.split or self.usage.prompt == 0:
            return None
        return self.usage.prompt


@dataclass(frozen=True, slots=True)
class Edit:
    """Ids out, fragments in, by whom and why. The new ones stand where the first removed one stood."""

    by: str
    removed: tuple[str, ...]
    inserted: tuple[Fragment, ...] = ()
    form: Form | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction the recorded agent made: it takes effect before turn ``turn``."""

    turn: int
    edit: Edit
    trigger: str
    """``auto``, ``manual``, ``unknown``; ``elision`` where the agent shortens older observations as it goes."""
    pre_tokens: int | None = None
    post_tokens: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Warning:
    """Something the reader should know: a damaged line, an unknown record, a doubtful number."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Parse:
    """How the reading went: records read, lines lost, damaged places, an unfinished last record, kinds skipped."""

    records_ok: int = 0
    records_bad: int = 0
    damaged_places: int = 0
    partial_tail: bool = False
    skipped: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the recording itself says of success, and which field says so."""

    success: bool | None
    score: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """``reported = overhead + factor × counted``, fitted on this trace's own usage."""

    factor: float
    overhead: int
    calls: int
    median_error: float | None
    """Held-out, a fraction of the prompt; None where there were too few calls to hold any out."""
    trusted: bool
    reason: str = ""
    """Why it is not trusted, or where the factor comes from."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a trace comes from. ``path`` as the user gave it."""

    path: str
    format: str
    agent: str | None = None
    session: str | None = None
    label: str | None = None
    """Tells apart the traces of one file: ``3`` for ``file#3``."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded agent session; immutable after loading."""

    source: Source
    fragments: tuple[Fragment, ...]
    """Append-only, in context order. What follows the last turn's ``stop`` is the final reply."""
    turns: tuple[Turn, ...]
    model: str | None = None
    window: int | None = None
    """The limit that the recording itself names, in tokens."""
    encoding: str = "o200k_base"
    recorded: tuple[Compaction, ...] = ()
    billed: tuple[Billed, ...] = ()
    abandoned: int = 0
    """Messages on branches that were rewound."""
    children: tuple[Trace, ...] = ()
    calibration: Calibration | None = None
    parse: Parse = field(default_factory=Parse)
    outcome: Outcome | None = None
    warnings: tuple[Warning, ...] = ()
    carries_reasoning: bool = True
    """False where the provider drops earlier reasoning from later prompts."""

    def entering(self, turn: Turn) -> tuple[Fragment, ...]:
        """The fragments that entered the context at ``turn``."""
        return self.fragments[turn.start : turn.stop]

    @property
    def reply(self) -> tuple[Fragment, ...]:
        """The final reply: recorded after the last call, in no turn's context."""
        return self.fragments[self.turns[-1].stop :] if self.turns else ()

    def family(self) -> Iterator[Trace]:
        """The trace itself, then every sub-agent below it, depth first."""
        yield self
        for child in self.children:
            yield from child.family()


def named_turn(fragment: Fragment) -> int:
    """The turn by which texts name a fragment: the one whose reply made it, or made the call it answers; user and
    system text is of the turn it enters. Every text that names a turn asks here.
    """
    made = fragment.role == "assistant" or fragment.call is not None
    return max(1, fragment.turn - 1) if made else fragment.turn
