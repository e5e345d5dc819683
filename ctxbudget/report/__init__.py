"""Everything a renderer may show. The dataclasses are the JSON contract: their fields are its keys, in this order.

``build.py`` makes them from traces, ``chart.py`` thins them to a width, ``loading.py`` reads a report back, and
``schema.py`` describes the JSON.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxbudget.findings import Finding  # noqa: TC001 - its type is read at run time
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
class TotalRow:
    """Sums over the fragments of one layer, kind, tool or resource.

    ``entered`` counts each fragment once; ``peak`` is what stood in the fullest turn, ``share`` its part of it;
    ``growth`` is tokens per turn from the first turn to the peak; ``token_turns`` is tokens × turns carried.
    """

    name: str
    calls: int
    entered: int
    call_tokens: int
    result_tokens: int
    peak: int
    share: float
    growth: float
    token_turns: int


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """A turn that grew much, and the fragment that did most of it."""

    turn: int
    added: int
    fragment: str
    kind: str
    tool: str | None
    what: str
    tokens: int
    line: int | None


@dataclass(frozen=True, slots=True)
class WasteRow:
    """What one rule of waste found, over the whole trace: ``tokens`` each time once, ``token_turns`` their rent."""

    id: str
    name: str
    findings: int
    tokens: int
    token_turns: int


@dataclass(frozen=True, slots=True)
class Waste:
    """What could go with nothing true lost: repeated observations, re-reads and stale copies (CB301 to CB303). A copy
    that shows a changed line counts whole, though its other lines may still be true.

    ``tokens`` in ``fragments`` stood as waste in the fullest turn, ``share`` is their part of it; ``token_turns`` is
    what they cost over the whole trace. ``rules`` are all rules of waste that found something, the others stand apart.
    """

    tokens: int
    share: float
    fragments: int
    token_turns: int
    rules: list[WasteRow]


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
    """Sums over several traces, each billed call once even where files share it."""

    traces: int
    usage: UsageRow
    usage_main: UsageRow


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
