"""What the samples and cases tell, at each sample's own window (sample_traces/README.md)."""

import pytest

from ctxbudget.prepared import prepare
from ctxbudget.replays import replay, report_of

CLEAR_AFTER_REPLY = """
description = "Clear old results at 90 %, but look only after a reply, as harnesses do at the end of a step."

[[stages]]
at = "reply"
when = 0.90
passes = [{ name = "clear-tool-results", keep = 3 }]
"""
HUGE = "t35.3"
"""The test run of some 60,000 tokens in migrate_module."""


def fate_of(report, words):
    return next(one for one in report.constraints if words in one.text)


def test_sliding_window_loses_the_condition_and_says_when(sample):
    report = replay(sample("migrate_module.jsonl"), "sliding-window", window=120_000)
    fate = fate_of(report, "do not touch legacy/")
    assert (fate.turn, fate.kept, fate.lost_at, fate.lost_by) == (3, False, 23, "sliding-window")
    assert [(gap.since, gap.until) for gap in fate.gaps] == [(23, 55)]
    assert report.totals.over == 4
    assert [one.id for one in report.findings] == ["CB101"]


def test_category_budget_keeps_it_to_the_end_and_takes_the_huge_result_in(sample):
    trace = sample("migrate_module.jsonl")
    assert max(trace.fragments, key=lambda one: one.tokens).id == HUGE
    report = replay(trace, "category-budget", window=120_000)
    assert fate_of(report, "do not touch legacy/").kept
    assert report.totals.over == 0
    assert report.turns[34].before > 120_000 > report.turns[34].tokens == max(row.tokens for row in report.turns[:35])
    life = next(one for one in report.lives if one.id == HUGE)
    assert (life.since, life.form) == (35, "digest")


def test_clearing_after_the_reply_overflows_there(sample, tmp_path):
    file = tmp_path / "after-reply.toml"
    file.write_text(CLEAR_AFTER_REPLY, encoding="utf-8")
    report = replay(sample("migrate_module.jsonl"), str(file), window=120_000, anywhere=True)
    assert report.strategy == "after-reply"
    assert next(row.turn for row in report.turns if row.overflow) == 35
    assert report.turns[34].tokens > 120_000
    assert report.turns[35].edits
    assert report.findings[0].id == "CB101"


@pytest.mark.parametrize("unit, lost_at", [("messages", 13), ("turns", 23)])
def test_the_last_messages_lose_the_ceiling_before_it_is_needed(sample, unit, lost_at):
    report = replay(sample("order_supplies.json"), "sliding-window", window=8_000, options=[f"unit={unit}"])
    fate = fate_of(report, "under $5,000")
    assert (fate.turn, fate.lost_at) == (3, lost_at)
    assert fate.lost_at < 40
    assert fate.gaps[-1].until == 45


def test_clearing_keeps_the_call_of_every_cleared_result(sample):
    trace = sample("migrate_module.jsonl")
    ready = prepare(trace, "tool-result-clearing", window=120_000)
    run = ready.run()
    calls = {(one.unit, one.call): one.id for one in trace.fragments if one.asks}
    cleared = {life.id for life in run.lives if life.form == "cleared"}
    known = {one.id: one for one in trace.fragments}
    forms = {(life.id, turn): life.form for life in run.lives for turn in range(life.since, life.until + 1)}
    assert len(cleared) == 48
    for one in cleared:
        assert forms[calls[known[one].unit, known[one].call], 55] == "whole"


def test_what_the_page_pins_stays_at_every_window(sample):
    trace = sample("migrate_module.jsonl")
    for window in (60_000, 90_000, 120_000):
        report = replay(trace, "sliding-window", window=window, must_keep=["do not touch legacy/"])
        assert all(one.kept for one in report.constraints[:2])


def test_c45_the_instruction_is_lost_at_compaction_1(case):
    report = replay(case("C45/session.jsonl"), "as-recorded", window=1_000)
    (fate,) = report.constraints
    assert fate.text.startswith("RULE-7Q")
    assert (fate.turn, fate.kept, fate.lost_at, fate.lost_by) == (1, False, 2, "compaction 1")
    assert report.turns[1].survival == {"summary": 4, "whole": 2}
    for strategy in ("none", "sliding-window:keep=1", "category-budget"):
        assert replay(case("C45/session.jsonl"), strategy, window=1_000).constraints[0].kept


def test_c43_what_can_never_fit_is_said(case):
    trace = case("C43/chat.json")
    report = replay(trace, "hard-limit", window=1_000)
    notes = {note.message for row in report.turns for note in row.notes if note.code == "cannot-fit"}
    assert any("fixed part" in text and "> 1,000" in text for text in notes)
    assert report.findings[0].id == "CB101"
    assert all(len(row.edits) <= 2 for row in report.turns)


def test_c54_exactly_the_two_oldest_results_are_cleared(case):
    trace = case("C54/session.jsonl")
    text = "[old tool output removed]"
    ready = prepare(trace, "clear-tool-results", window=200_000, options=["keep=5", f"text={text}"])
    report = report_of(ready, turn=len(trace.turns))
    shown = [one for one in report.shown_turn.fragments if one.kind in ("result", "retrieval")]
    assert [one.form for one in shown] == ["cleared", "cleared", "whole", "whole", "whole", "whole", "whole"]
    assert [one.text for one in shown[:2]] == [text, text]
    plain = replay(trace, "none", window=200_000)
    freed = sum(one.tokens - one.now for one in shown)
    assert report.turns[-1].tokens == plain.turns[-1].tokens - freed


def test_c55_nothing_to_replay_is_no_error(case):
    for name, turns in (("none", 0), ("system_only", 1)):
        trace = case(f"C55/{name}.json")
        for strategy in ("none", "sliding-window", "category-budget", "five-layer", "priority"):
            report = replay(trace, strategy, window=1_000)
            assert len(report.turns) == turns
            assert not any(row.edits for row in report.turns)
