"""The report of one run: a trace replayed under a strategy. As for a trace, the dataclasses are the JSON contract.

The head is that of a trace's report. What each turn was sent, every edit, every fragment's life and every
constraint's fate follow; ``run_build.py`` makes it, ``run_chart.py`` and ``run_events.py`` condense it for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxbudget.findings import Finding  # noqa: TC001 - its type is read at run time
from ctxbudget.report import Peak, SourceRow  # noqa: TC001
from ctxbudget.report.regret import CostRow, RegretRow  # noqa: TC001
from ctxbudget.report.summaries import DriftRow, SummaryRow  # noqa: TC001
from ctxbudget.trace import Calibration, Warning  # noqa: TC001


@dataclass(frozen=True, slots=True)
class EditRow:
    """One edit, against the view as it was then; ``before`` and ``after`` are the tokens of its place.

    ``removed`` and ``inserted`` are ids, ``kinds`` counts the removed fragments by kind; where nothing was
    removed, what came. ``form`` is that of the stand-ins: without one what was removed is gone.
    """

    by: str
    form: str | None
    removed: list[str]
    inserted: list[str]
    kinds: dict[str, int]
    before: int
    after: int
    reason: str


@dataclass(frozen=True, slots=True)
class BornRow:
    """What became of all that was recorded of one layer up to a turn, in tokens of the originals.

    ``whole`` stands in view (a duplicate of what stands elsewhere counts), ``short`` as a stand-in, ``lost`` not at
    all (a bare notice counts as lost).
    """

    whole: int
    short: int
    lost: int


@dataclass(frozen=True, slots=True)
class NoteRow:
    """What a pass or the engine had to say: ``cannot-fit``, ``borrowed``, ``starved``, ``nothing-removable`` …"""

    code: str
    message: str
    layer: str | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class RunTurnRow:
    """One turn: ``before`` with its arrivals and before any edit, ``tokens`` as sent, the sum of its ``layers``.

    ``prefix`` are tokens at the start that stand as in the turn before; ``survival`` counts the recorded fragments
    by form, ``born`` their tokens by layer; ``fired`` are the numbers of the stages that changed something.
    """

    turn: int
    before: int
    tokens: int
    utilization: float
    layers: dict[str, int]
    prefix: int
    edits: list[EditRow]
    repairs: int
    overflow: bool
    survival: dict[str, int]
    born: dict[str, BornRow]
    fired: list[int]
    notes: list[NoteRow]


@dataclass(frozen=True, slots=True)
class LifeRow:
    """One stretch of a recorded fragment's life: its form from turn ``since`` to ``until``, both inclusive, and who
    brought it there (empty while untouched)."""

    id: str
    since: int
    until: int
    form: str
    by: str


@dataclass(frozen=True, slots=True)
class StandInRow:
    """A fragment that an edit put in, at which turn, and what it stands for."""

    id: str
    kind: str
    layer: str
    form: str | None
    turn: int
    tokens: int
    stands_for: list[str]
    what: str


@dataclass(frozen=True, slots=True)
class GapRow:
    """Turns, both inclusive, at which a constraint was not visible, and who removed what showed it last."""

    since: int
    until: int
    by: str


@dataclass(frozen=True, slots=True)
class FateRow:
    """A constraint or a must-keep fact, verbatim: ``turn`` is where it was first said (None: nowhere in the trace).

    ``kept`` says that every turn since shows it word by word, ``lost_at`` the first turn that does not, ``lost_by``
    what removed it then.
    """

    text: str
    turn: int | None
    line: int | None
    source: str
    kept: bool
    lost_at: int | None
    lost_by: str | None
    gaps: list[GapRow]


@dataclass(frozen=True, slots=True)
class RunTotals:
    """Sums of a run, in tokens where not said otherwise.

    ``over`` counts turns above (window - reserve), ``changed`` turns with an edit, ``firings`` the times that a stage
    which waits for a size changed something, ``thrash`` the turns at which one had fired three times in a row.
    ``starved`` counts, by layer, turns at which it dropped what another layer's quota had room for. ``sent`` is all
    prompts, ``unedited`` the same without the strategy, ``prefix`` what stood unchanged from prompt to prompt.

    ``summaries`` took a place, by the step of the ladder in ``summary_steps``; ``summaries_refused`` left all as it
    was. Their calls and tokens, refused ones too, are of a model, or of one that would have been asked (``simulated``).
    """

    over: int
    changed: int
    firings: int
    thrash: list[int]
    starved: dict[str, int]
    sent: int
    unedited: int
    prefix: int
    repairs: int
    summaries: int
    summaries_refused: int
    summary_steps: dict[str, int]
    summary_calls: int
    summary_tokens_in: int
    summary_tokens_out: int
    summary_simulated: bool


@dataclass(frozen=True, slots=True)
class ShownFragment:
    """A fragment born by the shown turn: its ``form``, since when and by whom, what it cost and what it costs ``now``.

    ``stand_in`` is the id of what stands in its place, ``text`` the text of that where it stands for nothing else.
    What stands for several fragments, or for none, has a row of its own. ``now`` adds up to the turn's tokens.
    """

    id: str
    kind: str
    layer: str
    role: str
    tool: str | None
    turn: int
    tokens: int
    now: int
    form: str
    since: int
    by: str
    stand_in: str | None
    text: str | None
    line: int | None
    what: str


@dataclass(frozen=True, slots=True)
class RunContext:
    """One turn of a run, fragment by fragment (``--turn``), in the order of the log; what is lost is listed too."""

    turn: int
    before: int
    tokens: int
    utilization: float
    fragments: list[ShownFragment]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A stretch of a fragment's life, with the reason its edit gave and what stood in its place."""

    since: int
    until: int
    form: str
    by: str
    reason: str
    stand_in: str | None
    tokens: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Story:
    """One fragment's life (``--fragment``); ``holds`` are the constraints that it shows."""

    id: str
    kind: str
    layer: str
    role: str
    tool: str | None
    turn: int
    tokens: int
    line: int | None
    pinned: bool
    what: str
    holds: list[str]
    chapters: list[Chapter]


@dataclass(frozen=True, slots=True)
class RunReport:
    """One trace under one strategy: ``stages`` as plain data without the options that are off by default (``options``
    has them all), ``pin`` what it pins by name, ``excepted`` what was broken in the recording already."""

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
    strategy: str
    description: str
    options: dict[str, Any]
    stages: list[dict[str, Any]]
    pin: list[str]
    turns: list[RunTurnRow]
    peak: Peak | None
    totals: RunTotals
    constraints: list[FateRow]
    regret: RegretRow
    cost: CostRow
    summaries: list[SummaryRow]
    drift: list[DriftRow]
    lives: list[LifeRow]
    stand_ins: list[StandInRow]
    excepted: list[str]
    shown_turn: RunContext | None
    story: Story | None
    children: list[RunReport]
    findings: list[Finding]
    warnings: list[Warning]
