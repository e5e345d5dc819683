"""What a check found. As for a trace, the dataclasses are the JSON contract: their fields are its keys, in this order.

``checking/`` makes it; a renderer shows it and computes nothing. Amounts are tokens, shares are fractions of the
window, lines and turns count from 1. Every text may quote a trace: renderers escape it for where it goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ctxbudget.trace import Warning  # noqa: TC001 - its type is read at run time

CLEAN, VIOLATED, UNMEASURED, UNREADABLE = STATUSES = ("clean", "violated", "unmeasured", "unreadable")
"""Of a checked trace. ``violated``: a failure of level ``error`` that no baseline knows. ``unmeasured``: read, but no
turn in it, or the window it is held against is unknown. ``unreadable``: a file that is no trace."""

PASSED, FAILED, COULD_NOT = 0, 1, 2
"""Exit codes: nothing violated; something violated; something unmeasured or unreadable, or nothing there at all.
2 wins over 1: a check that could not look at everything has not finished."""

UNCALIBRATED: Final = 0.20
"""A fraction that a count may be off by where nothing tells its error. Recordings that hold their prompts whole were
counted to 0.84 to 1.09 of what was billed, by the priors of ``tokens/families.py`` (26 sessions of Claude, GPT, Llama
and DeepSeek models); one that leaves out its system prompt or its tools may be off by more."""


@dataclass(frozen=True, slots=True)
class WayDown:
    """What a strategy would have made of the measured quantity: ``tokens`` in place of it, by replaying the same
    trace. ``command`` is a line to paste that shows it; ``enough`` says whether that is within the limit.

    ``tokens`` is always estimated: the recorded amount minus what would have left, by our count. ``text`` says all
    of it in a sentence.
    """

    strategy: str
    tokens: int
    enough: bool
    command: str
    text: str


@dataclass(frozen=True, slots=True)
class Failure:
    """One limit broken, or one thing wrong with the recording, and the place to look at.

    ``id`` and ``name`` are the rule's (``CB102``, ``over the budget``); ``level`` is ``error``, ``warning`` or
    ``note``, and only ``error`` makes a check fail. ``message`` is one plain sentence with the numbers in it.
    ``path`` is the file as given, ``line`` its line (JSONL) or record number, None where it has none.

    ``fragment`` is the piece that crossed the limit (of a peak: the largest that entered at that turn), with its
    ``kind``, ``layer``, the ``tool`` and ``resource`` (file, URL, query) behind it; ``turn`` is where.

    ``measured`` and ``limit`` are tokens, None for rules that measure none; ``limit_text`` is the limit as it was
    asked for (``75 %``, ``20,000``), ``limit_source`` who asked (``--max``, ``ctxbudget.yaml:3``, ``default``).
    ``reported`` says whether ``measured`` is the provider's own count; if not, it is an estimate, off by ``error``
    (median, a fraction; None where nothing tells). ``near``: the limit lies within that error; within 20 % of an
    estimate whose error nothing tells.

    ``key`` is the same for the same failure in another run, whatever lines have moved (a fingerprint). ``known``:
    a baseline lists it, and it is no worse, so it does not fail the check; ``worse``: listed, but it has grown.
    ``ways`` are the two cheapest ways down, fewer where there are none.
    """

    id: str
    name: str
    level: str
    message: str
    path: str
    select: str | None
    line: int | None
    turn: int | None
    fragment: str | None
    kind: str | None
    layer: str | None
    tool: str | None
    resource: str | None
    measured: int | None
    limit: int | None
    limit_text: str | None
    limit_source: str | None
    reported: bool
    error: float | None
    near: bool
    key: str
    known: bool
    worse: bool
    ways: list[WayDown]

    @property
    def fails(self) -> bool:
        """Whether it makes the check fail."""
        return self.level == "error" and not self.known


@dataclass(frozen=True, slots=True)
class PeakRow:
    """The fullest turn. ``tokens`` is reported where ``reported``, else ``estimated``, which stands beside it always;
    ``fraction`` is ``tokens`` over the window, None where the window is unknown. ``error`` is that of the estimate
    (median, a fraction), None where nothing tells it. ``limit`` is the hard limit in tokens that the peak was held
    against; ``near``: the limit lies within the error; within 20 % of an estimate whose error nothing tells."""

    turn: int
    line: int | None
    tokens: int
    estimated: int
    reported: bool
    error: float | None
    fraction: float | None
    limit: int
    limit_text: str
    limit_source: str
    near: bool


@dataclass(frozen=True, slots=True)
class CheckedTrace:
    """One trace. ``path`` is the file as given; ``select`` is what ``--select`` takes (``3`` of ``file#3``), ``child``
    names a sub-agent, which is checked under its own window (None: the main trace).

    ``reason`` and ``hint`` say why there is no measurement and what to do, both empty where there is one;
    ``excused``: there is nothing in it to measure, and that was allowed, so there is nothing to do. ``turns``
    is how many were measured; None, like ``peak``, where nothing was. ``window`` is None where it is unknown;
    ``window_source`` is the rule that gave it. ``failures`` come most serious first, then in order of id and turn.
    """

    path: str
    select: str | None
    child: str | None
    format: str | None
    session: str | None
    model: str | None
    status: str
    reason: str
    hint: str
    excused: bool
    turns: int | None
    window: int | None
    window_source: str | None
    reserve: int
    peak: PeakRow | None
    failures: list[Failure]
    warnings: list[Warning]


@dataclass(frozen=True, slots=True)
class StaleRow:
    """An entry of the baseline that nothing matches any longer: its trace was checked and the failure is gone, or there
    is no such file."""

    path: str
    id: str
    key: str
    measured: int | None


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """What the baseline knew: ``known`` failures it excused, ``new`` and ``worse`` ones it did not; ``updated`` where
    it has been written anew."""

    path: str
    known: int
    new: int
    worse: int
    updated: bool
    stale: list[StaleRow]


@dataclass(frozen=True, slots=True)
class CheckTotals:
    """How many traces there were of each status, and how many failures of each level (``known`` ones counted apart)."""

    traces: int
    clean: int
    violated: int
    unmeasured: int
    unreadable: int
    errors: int
    warnings: int
    notes: int
    known: int


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A whole check. ``strategy`` is the one the traces were replayed under, None for the recorded contexts;
    ``limits`` are the limits asked for, each as a sentence, in the order they are applied; ``config`` is the budget
    file's name, None where there is none. ``exit_code`` is what the command returns (0, 1 or 2)."""

    schema: int
    tool: str
    strategy: str | None
    config: str | None
    limits: list[str]
    checked: list[CheckedTrace]
    totals: CheckTotals
    baseline: BaselineRow | None
    warnings: list[Warning]
    exit_code: int

    @property
    def failures(self) -> list[Failure]:
        """Every failure of every trace, in the order of the traces."""
        return [failure for trace in self.checked for failure in trace.failures]
