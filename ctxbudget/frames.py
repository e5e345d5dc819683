"""Report → tidy pandas frames, one row per thing, the trace it belongs to in the first column.

The only module that imports pandas, and only those who ask for a frame import it.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import pandas as pd

from ctxbudget.errors import UnknownName
from ctxbudget.findings import Finding
from ctxbudget.report import FragmentRow, Report, TraceReport, TurnRow
from ctxbudget.report.breakdowns import TotalRow
from ctxbudget.report.compare import ComparedRow, Comparison
from ctxbudget.report.outcomes import ending
from ctxbudget.report.regret import LossRow
from ctxbudget.report.run import EditRow, FateRow, LifeRow, RunReport, RunTurnRow, ShownFragment
from ctxbudget.report.summaries import SummaryRow
from ctxbudget.safe import unicode_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ctxbudget.report import SourceRow

_DTYPES = {int: "Int64", float: "Float64", bool: "boolean", str: "string"}


def turns(report: Report | TraceReport, *, children: bool = False) -> pd.DataFrame:
    """A row per turn: tokens estimated and reported, utilization, drift."""
    return _rows(TurnRow, report, lambda trace: trace.turns, children=children)


def layers(report: Report | TraceReport, *, children: bool = False) -> pd.DataFrame:
    """A row per turn and layer, long: ``trace``, ``turn``, ``layer``, ``tokens``."""
    rows = [
        (name, turn.turn, layer, tokens)
        for name, trace in _members(report, children=children)
        for turn in trace.turns
        for layer, tokens in turn.layers.items()
    ]
    return _frame(rows, {"trace": str, "turn": int, "layer": str, "tokens": int})


def fragments(report: Report | TraceReport, *, children: bool = False) -> pd.DataFrame:
    """A row per fragment, where the report holds them."""
    return _rows(FragmentRow, report, lambda trace: trace.fragments, children=children)


def findings(report: Report | TraceReport, *, children: bool = False) -> pd.DataFrame:
    """A row per finding."""
    return _rows(Finding, report, lambda trace: trace.findings, children=children)


def tools(report: Report | TraceReport, *, children: bool = False) -> pd.DataFrame:
    """A row per tool, its calls and results summed."""
    return _rows(TotalRow, report, lambda trace: trace.by_tool, children=children)


def resources(report: Report | TraceReport, *, children: bool = False) -> pd.DataFrame:
    """A row per file, URL or query that tools worked on."""
    return _rows(TotalRow, report, lambda trace: trace.by_resource, children=children)


def run_turns(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    """A row per turn of a run: tokens before and as sent, what stood unchanged, repairs, overflow."""
    return _run_rows(RunTurnRow, report, lambda run: run.turns, children=children)


def run_layers(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    """A row per turn and layer of a run: ``tokens`` as sent, and what became of the recorded ones."""
    rows = [
        (*names, turn.turn, layer, tokens, born.whole, born.short, born.lost)
        for *names, run in _runs(report, children=children)
        for turn in run.turns
        for layer, tokens in turn.layers.items()
        for born in [turn.born[layer]]
    ]
    kinds = dict.fromkeys(("tokens", "whole", "short", "lost"), int)
    return _frame(rows, {"trace": str, "strategy": str, "turn": int, "layer": str, **kinds})


def edits(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    """A row per edit of a run; ids are separated by spaces."""
    each = ((*names, turn.turn, edit) for *names, turn in _run_turns(report, children=children) for edit in turn.edits)
    return _joined(EditRow, each, {"trace": str, "strategy": str, "turn": int}, ("removed", "inserted"), " ")


def lives(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    """A row per stretch of a fragment's life in one form."""
    return _run_rows(LifeRow, report, lambda run: run.lives, children=children)


def fates(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    """A row per constraint: whether it was kept, and where it was lost first."""
    return _run_rows(FateRow, report, lambda run: run.constraints, children=children)


def losses(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    """A row per later use whose only visible source would have been gone; ``counted`` ones are part of totals."""
    return _run_rows(LossRow, report, lambda run: run.regret.losses, children=children)


def summaries(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    """A row per summary that was asked for: its step of the ladder, what it cost, what it still names and does not."""
    each = ((*names, one) for *names, run in _runs(report, children=children) for one in run.summaries)
    return _joined(SummaryRow, each, {"trace": str, "strategy": str}, ("lost", "failures"), "; ")


def compared(report: Comparison) -> pd.DataFrame:
    """A row per strategy and trace with its ``outcome``; then, with an empty ``trace``, a row per strategy and outcome
    where the comparison is grouped, and one per strategy over all."""
    kinds = {name: kind for name, hint in get_type_hints(ComparedRow).items() if (kind := _plain(hint))}
    members = [(_name(trace.source), ending(trace.outcome), row) for trace in report.compared for row in trace.rows]
    members += [("", group.outcome, row) for group in report.by_outcome for row in group.rows]
    members += [("", "", row) for row in report.pooled]
    rows = [(name, ended, *(getattr(row, field) for field in kinds)) for name, ended, row in members]
    return _frame(rows, {"trace": str, "outcome": str, **kinds})


def _name(source: SourceRow) -> str:
    return source.path if source.select is None else f"{source.path}#{source.select}"


def _shown(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    shown = lambda run: run.shown_turn.fragments if run.shown_turn else []  # noqa: E731
    return _run_rows(ShownFragment, report, shown, children=children)


def _found(report: RunReport, *, children: bool = False) -> pd.DataFrame:
    return _run_rows(Finding, report, lambda run: run.findings, children=children)


_RUN_TABLES = {
    "turns": run_turns,
    "layers": run_layers,
    "edits": edits,
    "lives": lives,
    "losses": losses,
    "summaries": summaries,
    "constraints": fates,
    "fragments": _shown,
    "findings": _found,
}


_TABLES = {
    "turns": turns,
    "layers": layers,
    "fragments": fragments,
    "findings": findings,
    "tools": tools,
    "resources": resources,
}


def table(report: Report | TraceReport | RunReport | Comparison, name: str, *, children: bool = False) -> pd.DataFrame:
    """The frame of that name; with ``children`` the rows of sub-agents too. Raises UnknownName."""
    if isinstance(report, Comparison):
        return compared(report)
    if isinstance(report, RunReport):
        if name not in _RUN_TABLES:
            raise UnknownName("table", name, _RUN_TABLES)
        return _RUN_TABLES[name](report, children=children)
    if name not in _TABLES:
        raise UnknownName("table", name, _TABLES)
    return _TABLES[name](report, children=children)


def texts(frame: pd.DataFrame) -> list[str]:
    """The columns that hold text."""
    return [name for name, dtype in frame.dtypes.items() if isinstance(name, str) and dtype == "string"]


def _members(report: Report | TraceReport, *, children: bool) -> Iterator[tuple[str, TraceReport]]:
    """Every trace with its name, ``path`` or ``path#3``; sub-agents follow theirs."""
    for trace in report.traces if isinstance(report, Report) else [report]:
        yield _name(trace.source), trace
        if children:
            for child in trace.children:
                yield from _members(child, children=True)


def _rows(
    row: type, report: Report | TraceReport, of: Callable[[TraceReport], Sequence[Any]], *, children: bool
) -> pd.DataFrame:
    """A frame with the plain fields of a row class; what is a mapping in it has a frame of its own."""
    kinds = {name: kind for name, hint in get_type_hints(row).items() if (kind := _plain(hint))}
    members = _members(report, children=children)
    rows = [(name, *(getattr(each, field) for field in kinds)) for name, trace in members for each in of(trace)]
    return _frame(rows, {"trace": str, **kinds})


def _runs(report: RunReport, *, children: bool) -> Iterator[tuple[str, str, RunReport]]:
    """Every run with the name of its trace and of its strategy; sub-agents follow theirs."""
    yield _name(report.source), report.strategy, report
    for child in report.children if children else ():
        yield from _runs(child, children=True)


def _run_turns(report: RunReport, *, children: bool) -> Iterator[tuple[str, str, RunTurnRow]]:
    """Every turn of every run, with its names."""
    return ((path, name, turn) for path, name, run in _runs(report, children=children) for turn in run.turns)


def _joined(
    row: type, found: Iterable[tuple[Any, ...]], before: dict[str, type], lists: Sequence[str], between: str
) -> pd.DataFrame:
    """A frame with the plain fields of a row class behind other columns, and its ``lists`` of texts as one text."""
    kinds = {name: kind for name, hint in get_type_hints(row).items() if (kind := _plain(hint)) and name not in before}
    rows = [
        (*names, *(getattr(one, name) for name in kinds), *(between.join(getattr(one, name)) for name in lists))
        for *names, one in found
    ]
    return _frame(rows, {**before, **kinds, **dict.fromkeys(lists, str)})


def _run_rows(
    row: type, report: RunReport, of: Callable[[RunReport], Sequence[Any]], *, children: bool
) -> pd.DataFrame:
    kinds = {name: kind for name, hint in get_type_hints(row).items() if (kind := _plain(hint))}
    rows = [
        (*names, *(getattr(each, name) for name in kinds))
        for *names, run in _runs(report, children=children)
        for each in of(run)
    ]
    return _frame(rows, {"trace": str, "strategy": str, **kinds})


def _plain(hint: Any) -> type | None:
    """The type of a column: ``int`` of ``int | None``; None for what is no plain value."""
    if get_origin(hint) in (list, dict):
        return None
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 and kinds[0] in _DTYPES else None


def _frame(rows: Iterable[Sequence[Any]], kinds: dict[str, type]) -> pd.DataFrame:
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    values = {
        name: pd.Series([_carried(each) for each in column], dtype=object)
        for name, column in zip(kinds, columns, strict=True)
    }
    return pd.DataFrame(values).astype({name: _DTYPES[kind] for name, kind in kinds.items()})


def _carried(value: Any) -> Any:
    """The value as Arrow can carry it: without halves of surrogate pairs."""
    return unicode_text(value) if isinstance(value, str) else value
