"""Everything a renderer may show. The dataclasses are the JSON contract: their fields are its keys, in this order.

``build.py`` makes them from traces, ``chart.py`` thins them to a width, ``loading.py`` reads a report back, and
``schema.py`` describes the JSON.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxbudget.findings import Finding  # noqa: TC001 - its type is read at run time
from ctxbudget.report.breakdowns import GrowthRow, TotalRow, Waste  # noqa: TC001
from ctxbudget.trace import Calibration, Outcome, Warning  # noqa: TC001 - their types are read at run time

SCHEMA = 1
"""Version of the JSON contract; it grows when a key changes its meaning or goes away, not when one is added."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Where a trace comes from; ``select`` is what ``--select`` takes (``3`` of ``file#3``)."""

    path: str
    format: str
    agent: str | None
    session: str | None
    model: str | None
    select: str | None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn: ``tokens`` estimated, the sum of its layers and of its kinds; ``reported`` by the provider.

    ``added`` entered this turn, before edits. ``utilization`` is reported (else estimated) over the window, a
    fraction; ``drift`` is estimated over reported, minus 1.
    """

    turn: int
    model: str | None
    tokens: int
    utilization: float
    layers: dict[str, int]
    kinds: dict[str, int]
    added: int
    reported: int | None
    drift: float | None
    line: int | None
    pending: bool


@dataclass(frozen=True, slots=True)
class Peak:
    """The fullest turn; ``tokens`` reported where known."""

    turn: int
    tokens: int
    estimated: int
    utilization: float


@dataclass(frozen=True, slots=True)
class ContextRow:
    """Prompts as reported, cached or not, in tokens; None where unknown.

    ``last_prompt`` is None too where the agent compacted after its last call: the number would be out of date.
    """

    last_prompt: int | None
    last_with_reply: int | None
    peak_prompt: int | None
    by_call: list[int | None]


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Billed tokens, each call once, disjoint: ``input`` is uncached, ``output`` includes ``reasoning``. All None
    where the file reports no usage; ``split_known`` is False where a call reports only its total."""

    calls: int | None
    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None
    total: int | None
    split_known: bool


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages in the live context at the end, on rewound branches, and in the whole file."""

    active: int
    abandoned: int
    all: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """Results without their call, and calls without a result, in the file."""

    orphan_results: int
    dangling_calls: int


@dataclass(frozen=True, slots=True)
class ParseRow:
    """How the reading went; ``skipped`` maps a kind of record that is not used to how many there were."""

    records_ok: int
    records_bad: int
    damaged_places: int
    partial_tail: bool
    skipped: dict[str, int]


@dataclass(frozen=True, slots=True)
class CompactionRow:
    """A compaction the recorded agent made: before turn ``turn``; tokens as the agent reported them, and what we
    estimate for the context just before and after."""

    turn: int
    trigger: str
    pre_tokens: int | None
    post_tokens: int | None
    estimated_before: int
    estimated_after: int
    line: int | None


@dataclass(frozen=True, slots=True)
class ConstraintRow:
    """A normative sentence of user or system text, verbatim."""

    text: str
    turn: int
    line: int | None
    source: str


@dataclass(frozen=True, slots=True)
class FragmentRow:
    """One fragment; ``turn`` is the first whose context holds it, ``until`` the last; ``what`` a short description."""

    id: str
    kind: str
    layer: str
    role: str
    tool: str | None
    call: str | None
    target: str | None
    turn: int
    until: int
    message: int
    tokens: int
    counted: int
    token_turns: int
    estimated: bool
    form: str | None
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The context of one turn, fragment by fragment, in the order the model saw it (``--turn``)."""

    turn: int
    tokens: int
    reported: int | None
    utilization: float
    fragments: list[FragmentRow]


@dataclass(frozen=True, slots=True)
class EstimatorRow:
    """How far one way of counting is from the provider's count on this trace: fractions of the prompt."""

    name: str
    calls: int
    median_error: float | None
    p90_error: float | None
    bias: float | None


@dataclass(frozen=True, slots=True)
class TraceReport:
    """One trace. ``layers`` names the scheme's layers in order; the layers of a turn add up to its tokens."""

    schema: int
    tool: str
    source: SourceRow
    window: int
    window_source: str
    window_known: bool
    reserve: int
    scheme: str
    encoding: str
    encoding_exact: bool
    calibration: Calibration | None
    layers: list[str]
    turns: list[TurnRow]
    peak: Peak | None
    context: ContextRow
    usage: UsageRow
    usage_main: UsageRow
    messages: Messages
    pairs: Pairs
    parse: ParseRow
    outcome: Outcome | None
    compactions: list[CompactionRow]
    constraints: list[ConstraintRow]
    by_layer: list[TotalRow]
    by_kind: list[TotalRow]
    by_tool: list[TotalRow]
    by_resource: list[TotalRow]
    growth: list[GrowthRow]
    waste: Waste
    estimators: list[EstimatorRow]
    fragments: list[FragmentRow]
    shown_turn: TurnContext | None
    children: list[TraceReport]
    findings: list[Finding]
    warnings: list[Warning]


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A file of a folder, a pattern or a list that could not be read as a trace, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over several traces, each billed call once even where files share it; ``outcomes`` counts how their recorded
    runs ended: ``success``, ``failure``, ``open``."""

    traces: int
    usage: UsageRow
    usage_main: UsageRow
    outcomes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """Several traces; of a single one the JSON is that trace's own object."""

    schema: int
    tool: str
    traces: list[TraceReport]
    totals: Totals
    unreadable: list[UnreadableRow]

    @property
    def single(self) -> TraceReport | None:
        """The one trace, where there is nothing else to tell."""
        return self.traces[0] if len(self.traces) == 1 and not self.unreadable else None
