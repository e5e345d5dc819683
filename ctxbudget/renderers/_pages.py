"""What an answer for people consists of, block by block, whichever renderer writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ctxbudget.renderers import _overview, _sections, _sentences
from ctxbudget.renderers._numbers import percent, tokens
from ctxbudget.renderers._sections import Section
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.renderers import Look
    from ctxbudget.report import Report, TraceReport, TurnContext
    from ctxbudget.report.run import RunReport


@dataclass(frozen=True, slots=True)
class Title:
    """Whose answer follows: a path."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """Parts of one line, broken between parts where there is no room."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with a sentence each, under a title if they have one."""

    rows: tuple[tuple[str, str], ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Notes:
    """Findings and warnings: level, label and sentence."""

    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The per-turn chart of a trace or of a run."""

    report: TraceReport | RunReport


@dataclass(frozen=True, slots=True)
class Strips:
    """What a run left of each layer over time, on the columns of its chart."""

    report: RunReport


@dataclass(frozen=True, slots=True)
class Plot:
    """A small drawing in letters, line by line, under its title."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one line of our own words; ``tone`` as for a row."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """One failure: level, label and sentence, and below it labels with a sentence each."""

    level: str
    label: str
    text: str
    rows: tuple[tuple[str, str], ...]


Block: TypeAlias = Title | Line | Facts | Notes | Chart | Strips | Plot | Verdict | Failed | Section
"""A page is a sequence of these."""


def blocks(report: Report, look: Look) -> Iterator[Block]:
    """The whole answer: one trace in full, or a row for each of several."""
    shown = list(_members(report.traces)) if look.children else report.traces
    if look.table is not None:
        for trace in shown:
            yield from _one_table(trace, look.table, titled=len(shown) > 1)
    elif len(report.traces) == 1 and not report.unreadable:
        for trace in shown:
            yield from _trace(trace, look)
    else:
        yield _overview.traces(report, shown)
        yield from (block for trace in shown for block in _asked_for(trace, look))
        yield from _noted([row for trace in report.traces for row in _named(trace)])
    yield from _noted([("warning", "not read", f"{each.path}: {each.reason}") for each in report.unreadable])


def _asked_for(report: TraceReport, look: Look) -> Iterator[Block]:
    """Of one trace among several, what was asked for by name."""
    sections = [_overview.estimators(report), _sections.fragments(report.fragments)]
    if look.by is not None:
        sections.insert(0, _sections.breakdown(report, look.by))
    wanted = [section for section in sections if section.rows]
    if wanted:
        yield Title(_overview.title_of(report))
        yield from wanted


def _members(traces: list[TraceReport]) -> Iterator[TraceReport]:
    """Every trace, each followed by its sub-agents."""
    for trace in traces:
        yield trace
        yield from _members(trace.children)


def _named(trace: TraceReport) -> Iterator[tuple[str, str, str]]:
    """Errors with the trace they were found in; the rest would drown a long list."""
    for level, label, sentence in _sentences.notes(trace):
        if level == "error":
            yield level, label, f"{_overview.title_of(trace)}: {sentence}"


def _trace(report: TraceReport, look: Look) -> Iterator[Block]:
    yield Title(_overview.title_of(report))
    yield Line(tuple(_sentences.identity(report)))
    if report.shown_turn is not None:
        yield from _turn(report.shown_turn)
        return
    yield Facts((*_sentences.fullness(report), *_sentences.waste(report)))
    if report.turns:
        yield Chart(report)
    yield from _tables(report, look)
    if report.children and not look.children:
        yield _overview.sub_agents(report)
    yield Facts(tuple(_sentences.facts(report)))
    yield from _noted(list(_sentences.notes(report)))


def _tables(report: TraceReport, look: Look) -> Iterator[Block]:
    if look.by is not None:
        sections = [_sections.breakdown(report, look.by)]
    else:
        sections = [
            _sections.by_layer(report),
            _sections.growth(report),
            _sections.breakdown(report, "tool", _sections.TOP),
            _sections.breakdown(report, "resource", _sections.TOP),
            _overview.waste(report),
        ]
    sections += [
        _overview.compactions(report),
        _overview.estimators(report),
        _sections.fragments(report.fragments),
    ]
    yield from (section for section in sections if section.rows)


def _turn(shown: TurnContext) -> Iterator[Block]:
    size = tokens(shown.reported) if shown.reported is not None else tokens(shown.tokens, estimated=True)
    ours = f" (our count {shown.tokens:,})" if shown.reported is not None else ""
    number = counted(len(shown.fragments), "fragment")
    yield Facts(
        ((f"Turn {shown.turn}", f"{size} tokens{ours}, {percent(shown.utilization)} of the window, in {number}"),)
    )
    yield _sections.fragments(shown.fragments, f"Context of turn {shown.turn}, in the order the model saw it")


def _one_table(report: TraceReport, table: str, *, titled: bool) -> Iterator[Block]:
    if titled:
        yield Title(_overview.title_of(report))
    match table:
        case "turns":
            yield _sections.turns(report)
        case "fragments":
            yield _sections.fragments(report.fragments)
        case "findings":
            yield _overview.findings(report)
        case _:
            yield _sections.breakdown(report, table.removesuffix("s"))


def _noted(rows: list[tuple[str, str, str]]) -> Iterator[Block]:
    if rows:
        yield Notes(tuple(rows))
