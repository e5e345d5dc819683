"""What an answer about a run consists of, block by block; and of any report, which pages it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers import (
    _check_pages,
    _compare_pages,
    _evidence,
    _life,
    _money,
    _pages,
    _run_sections,
    _run_sentences,
    _run_tables,
    _sentences,
    _summaries,
)
from ctxbudget.renderers._numbers import percent, tokens
from ctxbudget.renderers._overview import findings
from ctxbudget.renderers._pages import Chart, Facts, Line, Notes, Strips, Title
from ctxbudget.report.check import CheckReport
from ctxbudget.report.compare import Comparison
from ctxbudget.report.run import RunReport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.renderers import AnyReport, Look
    from ctxbudget.renderers._pages import Block
    from ctxbudget.renderers._sections import Section
    from ctxbudget.report.run import Story


def pages(report: AnyReport, look: Look) -> Iterator[Block]:
    """The whole answer, for traces, for a run, for a comparison, or for a check."""
    if isinstance(report, CheckReport):
        yield from _check_pages.blocks(report)
        return
    if isinstance(report, Comparison):
        yield from _compare_pages.blocks(report, look.width)
        return
    if not isinstance(report, RunReport):
        yield from _pages.blocks(report, look)
        return
    yield from _run(report, look)
    for child in report.children:
        yield from pages(child, look)


def _run(report: RunReport, look: Look) -> Iterator[Block]:
    source = report.source
    if look.table is not None:
        yield _table(report, look.table)
        return
    yield Title(source.path if source.select is None else f"{source.path}#{source.select}")
    yield Line(tuple(_run_sentences.identity(report)))
    yield Facts(tuple(_run_sentences.what_ran(report)))
    if report.shown_turn is not None:
        shown = report.shown_turn
        size = f"{tokens(shown.tokens, estimated=True)} tokens sent, {percent(shown.utilization)} of the window"
        yield Facts(((f"Turn {shown.turn}", f"{size}; {shown.before:,} before the edits of this turn"),))
        yield _run_tables.context(shown)
    if report.story is not None:
        yield from _told(report, report.story)
    if report.shown_turn is None and report.story is None:
        yield from _answer(report)


def _answer(report: RunReport) -> Iterator[Block]:
    yield Facts((*_run_sentences.fullness(report), *_run_sentences.survival(report)))
    if report.turns:
        yield Chart(report)
        yield Strips(report)
        yield from (block for block in _blocks(report) if block is not None and block.rows)
        yield Facts(tuple(_sums(report)))
    noted = (*_sentences.notes(report), *_run_sentences.remarks(report))
    if noted:
        yield Notes(noted)


def _blocks(report: RunReport) -> Iterator[Section | Facts | None]:
    """What stands between the chart and the sums; what has no row is left out."""
    yield _run_sections.at_the_end(report)
    yield _run_sections.what_it_did(report)
    yield _summaries.summaries(report)
    yield _summaries.refused(report)
    yield _run_sections.constraints(report)
    yield _evidence.losses(report)
    yield _evidence.signals(report.regret.signals, _gone(report))


def _gone(report: RunReport) -> dict[str, int]:
    """What the run leaves out of view of each signal."""
    found = report.regret
    apart = {"D4": len(found.stale), "D5": found.repeats.unseen, "D6": found.repeats.loops_unseen}
    return found.missed | apart


def _sums(report: RunReport) -> Iterator[tuple[str, str]]:
    yield from _run_sentences.totals(report)
    yield from _summaries.total(report)
    yield from _evidence.consequences(report.regret)
    yield from _money.cost(report)


def _told(report: RunReport, story: Story) -> Iterator[Block]:
    last = report.turns[-1].turn if report.turns else 0
    yield Facts((("Text", story.what),))
    for sentence in _life.sentences(story, last):
        yield Line((sentence,))
    texts = tuple((f"Turn {one.since}", one.text) for one in story.chapters if one.text is not None)
    if texts:
        yield Facts(texts)


def _table(report: RunReport, table: str) -> Section:
    match table:
        case "edits":
            return _run_tables.edits(report)
        case "lives":
            return _run_tables.lives(report)
        case "fragments" if report.shown_turn is not None:
            return _run_tables.context(report.shown_turn)
        case "layers":
            return _run_tables.layers(report)
        case "losses":
            return _evidence.every_loss(report)
        case "summaries":
            return _summaries.summaries(report, None)
        case "constraints":
            return _run_sections.constraints(report, None)
        case "findings":
            return findings(report)
        case _:
            return _run_tables.turns(report)
