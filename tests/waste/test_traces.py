"""Samples and real files: what could go, and that it could."""

from functools import cache
from pathlib import Path

import pytest

from ctxbudget.digests._envelope import unwrapped
from ctxbudget.evidence import stands
from ctxbudget.findings.waste import find
from ctxbudget.layers import AGENT
from ctxbudget.ledger import entries, lives
from ctxbudget.loaders import Options, load
from ctxbudget.models import window_of
from ctxbudget.replay import replay
from ctxbudget.report.build import trace_report
from ctxbudget.tokens import counter
from ctxbudget.trace import named_turn
from ctxbudget.waste import Why
from ctxbudget.waste.contents import numbered

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "real_traces"
FORMATS = ("claude_code", "codex_rollout", "swe_agent", "chat_completions_log", "chat_messages_jsonl", "mini_swe_agent")
FILES = [str(path.relative_to(REAL)) for name in FORMATS for path in sorted((REAL / name).rglob("*")) if path.is_file()]


@cache
def traces(path):
    return [member for trace in load(str(path), Options()) for member in trace.family()]


def collected(trace, window=None):
    count = counter(trace.encoding).count
    return replay(trace, "collect-garbage", window=window or 10**9, count=count)


def test_migrate_module():
    trace = traces(ROOT / "sample_traces" / "migrate_module.jsonl")[0]
    run = collected(trace, 120_000)
    config = next(
        one for one in trace.fragments if one.answers and one.resource and one.resource.target == "billing/config.py"
    )
    fate = [(life.since, life.form) for life in run.lives if life.id == config.id]
    assert named_turn(config) == 8
    assert fate == [(9, "whole"), (23, "cleared")]  # the edit of turn 22 enters, with its answer, at 23
    note = next(edit.inserted[0].text for row in run.turns for edit in row.edits if config.id in edit.removed)
    assert note.startswith("[stale since turn 22] billing/config.py, read at turn 8: 39 lines; defines")

    edited = {one.resource.target: named_turn(one) for one in trace.fragments if one.asks and one.tool == "Edit"}
    known = {one.id: one for one in trace.fragments}
    edits = [edit for row in run.turns for edit in row.edits]
    assert sum(edit.before for edit in edits) == 8_260  # as analyze says
    assert sum(edit.freed for edit in edits) > 7_250  # the rest are the lines in their place, 60 tokens each at most
    for edit in edits:
        (old,) = edit.removed
        if edit.form.value == "cleared":
            assert edited[known[old].resource.target] > named_turn(known[old])
    assert [known[edit.removed[0]].resource.target for edit in edits if edit.form.value == "duplicate"] == [
        "legacy/pricing_v1.py",
        "docs/MIGRATION.md",
    ]
    assert run.turns[-1].survival == {"whole": trace.turns[-1].stop - 15, "cleared": 13, "duplicate": 2}
    assert run.totals.repairs == 0


def test_the_sentence_counts_the_first_three_rules_only_and_each_fragment_once():
    trace = traces(ROOT / "sample_traces" / "forensic_review.jsonl")[0]
    report = trace_report(trace, AGENT, window_of(trace, flag=96_000))
    assert (report.waste.tokens, report.waste.fragments) == (273, 2)
    assert report.waste.share == 273 / report.peak.estimated
    assert [row.id for row in report.waste.rules] == ["CB302", "CB305", "CB307"]
    for row in report.waste.rules:
        mine = [each for each in report.findings if each.id == row.id]
        assert (row.findings, row.tokens) == (len(mine), sum(each.tokens for each in mine))
        assert row.token_turns == sum(each.token_turns for each in mine)


def test_what_was_elided_is_not_counted_on():
    trace = traces(ROOT / "sample_traces" / "fix_failing_test.traj")[0]
    held = {life.fragment.id: life.until for life in lives(trace)}
    for one in find(trace, lives(trace)).spent:
        assert one.until <= held[one.spent.fragment.id]


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize("name", FILES)
def test_real_files(name):
    for trace in traces(REAL / name):
        held = lives(trace)
        found = find(trace, held)
        ids = [one.spent.fragment.id for one in found.spent]
        assert len(ids) == len(set(ids))
        rent = {life.fragment.id: life.token_turns for life in held}
        for one in found.spent:
            assert 0 < one.token_turns <= rent[one.spent.fragment.id]
            _check(one.spent)
        peak = max(entries(trace, AGENT), key=lambda entry: entry.size, default=None)
        assert (
            peak is None
            or sum(one.spent.fragment.tokens for one in found.spent if one.at(peak.turn.index)) < peak.tokens
        )
        assert all(
            each.line is not None and each.turn is not None and each.tokens and each.token_turns
            for each in found.findings
        )


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize("name", FILES)
def test_collect_garbage_runs_on_real_files(name):
    for trace in traces(REAL / name):
        run = collected(trace)
        whole = replay(trace, "none", window=10**9, count=len)
        assert len(run.turns) == len(trace.turns)
        assert all(row.tokens <= before.tokens for row, before in zip(run.turns, whole.turns, strict=True))
        assert run.totals.repairs == whole.totals.repairs


def _check(spent):
    """The claim, once more and by other means."""
    old, by = spent.fragment, spent.by
    if spent.why is Why.REPEATED:
        assert unwrapped(old.text)[0] == unwrapped(by.text)[0]
    elif spent.why is Why.REREAD:
        inner, outer = numbered(old), numbered(by)
        if inner and outer:
            assert outer[0] <= inner[0] <= inner[1] <= outer[1]
        lines = [line.strip() for line in old.text.split("\n") if len(line.strip()) > 30]
        assert sum(stands(line, by.text) for line in lines) >= 0.8 * len(lines)  # the rest is envelope
    else:
        assert by.asks or by.answers
        assert by.turn >= old.turn
