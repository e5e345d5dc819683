"""The answer for people, on a terminal and in a log."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from ctxbudget.analysis import analyze
from ctxbudget.builder import TraceBuilder
from ctxbudget.report import UnreadableRow
from ctxbudget.trace import Kind, Usage

ORDER = [
    "session.jsonl",
    "native · gpt-4.1 · 7 turns · window 1,000 tokens (--window)",
    "Peak ",
    "100 %",
    "S system",
    "Layers at the peak",
    "Turns that grew most",
    "Tools by token-turns",
    "Resources by token-turns",
    "Recorded compactions",
    "Sub-agents",
    "Billed",
    "error CB101",
    "warning unknown-record",
]


def test_the_answer_comes_in_its_order(report, shown):
    text = shown(report)
    places = [text.index(each) for each in ORDER]
    assert places == sorted(places)


def test_what_it_is_and_by_which_base_it_is_measured(report, shown):
    text = shown(report)
    assert "counted with o200k_base" in text
    assert "turn 5:" not in text
    assert "used / 68.0 % over, of the 1,000-token window" in text


def test_a_plain_percentage_of_the_window_and_what_is_left(shown):
    builder = TraceBuilder("s.jsonl", "native")
    builder.message("user", 1)
    builder.add(Kind.USER, "hello")
    builder.turn(usage=Usage(input=14_900, output=1, total=14_901), line=2)
    text = shown(analyze(builder.finish(), window=38_000))
    assert "14,900 tokens, 39.2 % used / 60.8 % left, of the 38,000-token window" in text
    assert "88.8" not in text


def test_an_assumed_window_is_called_one(report, shown):
    text = shown(replace(report, traces=[replace(report.traces[0], window_known=False, window_source="nothing tells")]))
    assert "window unknown, 1,000 tokens (nothing tells)" in text
    assert "of the assumed 1,000-token window" in text


def test_what_no_provider_counted_is_marked(trace, shown):
    silent = replace(trace, turns=tuple(replace(turn, usage=None) for turn in trace.turns), billed=(), children=())
    text = shown(analyze(silent, window=1000))
    assert "tokens, " in text
    assert "~" in text.split("Peak")[1].split("\n")[0]
    assert "the file reports no usage" in text


def test_a_log_is_whole_and_has_no_escape(report, shown):
    text = shown(report)
    assert "…" not in text
    assert "\x1b" not in text
    trace = report.traces[0]
    for row in (*trace.by_layer, *trace.by_kind, *trace.by_tool):
        assert row.name in text or row in trace.by_kind
    for row in (*trace.by_layer, *trace.by_tool, *trace.by_resource):
        for number in (row.peak, row.entered, row.call_tokens, row.result_tokens, row.token_turns):
            assert f"{number:,}" in text


def test_every_breakdown_and_table_can_be_had_alone(report, shown):
    trace = report.traces[0]
    for by, rows in (
        ("layer", trace.by_layer),
        ("kind", trace.by_kind),
        ("tool", trace.by_tool),
        ("resource", trace.by_resource),
    ):
        text = shown(report, by=by)
        assert all(row.name in text for row in rows)
    turns = shown(report, table="turns")
    assert all(f"{row.reported:,}" in turns for row in trace.turns if row.reported)
    assert "compacted" in turns
    assert "Billed" not in turns
    assert all(row.id in shown(report, table="fragments") for row in trace.fragments)
    assert "CB101" in shown(report, table="findings")
    assert "none" in shown(replace(report, traces=[replace(trace, findings=[])]), table="findings")


def test_a_turn_is_shown_fragment_by_fragment(trace, shown):
    report = analyze(trace, window=1000, turn=3)
    text = shown(report)
    assert "Context of turn 3, in the order the model saw it" in text
    assert all(row.id in text for row in report.traces[0].shown_turn.fragments)
    assert "Layers" not in text


def test_sub_agents_are_a_row_and_in_full_when_asked(report, shown):
    assert "a1" in shown(report).split("Sub-agents")[1]
    full = shown(report, children=True)
    assert full.count("Turns that grew most") == 2
    assert "session/subagents/agent-a1.jsonl#a1" in full


def test_several_traces_are_a_row_each_and_a_total(trace, shown):
    other = replace(trace, source=replace(trace.source, path="other.jsonl"), children=())
    report = replace(analyze([trace, other], window=1000), unreadable=[UnreadableRow("bad.jsonl", "no record")])
    text = shown(report)
    for each in ("2 traces", "session.jsonl", "other.jsonl", "bad.jsonl", "not read", "total", "no record"):
        assert each in text
    total = next(line for line in text.splitlines() if line.startswith("total"))
    assert f"{report.totals.usage.total:,}" in total
    assert report.totals.usage.calls == 8  # the copies share their calls
    assert text.count("CB101") == 2
    assert "agent-a1" not in text
    more = shown(report, children=True, by="tool")
    assert "session/subagents/agent-a1.jsonl#a1" in more
    assert more.count("Tools by token-turns") == 3


@pytest.mark.parametrize("width", [24, 40, 60, 80, 100, 160, 300])
def test_no_line_is_wider_than_the_terminal(report, shown, width):
    long = [line for line in shown(report, width=width).splitlines() if cell_len(line) > max(width, 40)]
    assert not long


def test_colours_carry_no_text_of_their_own(report, shown):
    colored = shown(report, width=100, colors="truecolor")
    assert "\x1b[" in colored
    assert "Sub-agents" in colored
    assert "\x1b[" in shown(report, width=100, colors="standard")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8", "cp437", "utf-16"])
def test_any_encoding_carries_it(report, shown, encoding):
    text = shown(report, encoding=encoding)
    assert "Layers at the peak" in text
    assert f"{report.traces[0].peak.tokens:,}" in text
    assert "Peak" in text


def test_nothing_to_show_is_said(report, shown):
    empty = replace(report.traces[0], turns=[], peak=None, growth=[], children=[], findings=[], fragments=[])
    text = shown(replace(report, traces=[empty]))
    assert "no model call in it" in text


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.characters(), min_size=1), width=st.sampled_from([None, 40, 100]))
def test_nothing_from_a_trace_acts_on_the_terminal(report, shown, with_text, text, width):
    hostile = replace(report, traces=[with_text(report.traces[0], f"\x1b]0;x\x07{text}\u202e\x9b")])
    for look in ({}, {"table": "turns"}, {"table": "fragments"}, {"by": "tool"}):
        page = shown(hostile, width=width, **look)
        assert not [c for c in page if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2028\u2029")]
