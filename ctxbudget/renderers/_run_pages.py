"""What an answer about a run consists of, block by block; and of any report, which pages it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers import _compare_pages, _life, _pages, _run_sections, _run_sentences, _run_tables, _sentences
from ctxbudget.renderers._numbers import percent, tokens
from ctxbudget.renderers._overview import findings
from ctxbudget.renderers._pages import Chart, Facts, Line, Notes, Strips, Title
from ctxbudget.report.compare import Comparison
from ctxbudget.report.run import RunReport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.renderers import Look
    from ctxbudget.renderers._pages import Block
    from ctxbudget.renderers._sections import Section
    from ctxbudget.report import Report
    from ctxbudget.report.run import Story


def pages(report: Report | RunReport | Comparison, look: Look) -> Iterator[Block]:
    """The whole answer, for traces, for a run, or for a comparison."""
    if isinstance(report, Comparison):
        yield from _compare_pages.blocks(report)
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
        sections = [_run_sections.at_the_end, _run_sections.what_it_did, _run_sections.constraints]
        yield from (section for made in sections if (section := made(report)).rows)
        yield Facts(tuple(_run_sentences.totals(report)))
    noted = (*_sentences.notes(report), *_run_sentences.remarks(report))
    if noted:
        yield Notes(noted)


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
        case "constraints":
            return _run_sections.constraints(report, None)
        case "findings":
            return findings(report)
        case _:
            return _run_tables.turns(report)
