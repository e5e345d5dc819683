"""The presets that summarise, on the samples at the windows in which these get tight."""

from dataclasses import replace

import pytest
from checking import faults, steps

from ctxbudget.constraints import parse_fact
from ctxbudget.passes.summarize import Summarising
from ctxbudget.prepared import prepare
from ctxbudget.replay import generations, replay, view_at
from ctxbudget.replays import report_of
from ctxbudget.strategy.naming import find
from ctxbudget.summaries import STEPS
from ctxbudget.tokens import counter
from ctxbudget.trace import Kind
from ctxbudget.view import SummaryNote

WINDOWS = {
    "migrate_module.jsonl": 120_000, "refund_support.json": 8_000, "order_supplies.json": 8_000,
    "forensic_review.jsonl": 96_000, "fix_failing_test.traj": 6_000,
}  # fmt: skip
"""The samples and the windows in which they get tight (sample_traces/README.md)."""
PRESETS = ("recursive-summary", "compaction:when=0.7,floor=0", "compaction", "five-layer", "staged")
FACTS = tuple(map(parse_fact, ("#8842", "overdue", "$240", "REF-12", "gateway_timeout")))
EACH = [(name, preset) for name in WINDOWS for preset in PRESETS]


def cut_after(trace, turn):
    """The trace until a turn, its calibration held equal."""
    turns = trace.turns[:turn]
    return replace(trace, turns=turns, fragments=trace.fragments[: turns[-1].stop])


def run_of(trace, strategy, window, **aid):
    aids = (Summarising(**aid),) if aid else ()
    return replay(trace, strategy, window=window, count=counter(trace.encoding).count, aids=aids)


def notes(run):
    return [(row.turn, note) for row in run.turns for note in row.notes if isinstance(note, SummaryNote)]


def summaries(view):
    return [one for one in view.fragments() if one.kind is Kind.SUMMARY]


@pytest.mark.parametrize("name, preset", EACH)
def test_every_view_is_valid_and_fits(sample, name, preset):
    trace, fits = sample(name), preset != "compaction"
    count = counter(trace.encoding).count
    for view, row in steps(trace, find(preset), WINDOWS[name], count=count):
        assert not list(faults(view, view.log)), row.turn
        assert not row.repairs
        assert not (fits and row.overflow), row.turn
        assert len(summaries(view)) <= 1


@pytest.mark.parametrize("name, preset", EACH)
def test_nothing_looks_ahead(sample, name, preset):
    trace = sample(name)
    whole = run_of(trace, preset, WINDOWS[name])
    edited = [row.turn for row in whole.turns if any(note.code == "summary" for note in row.notes)]
    for turn in {len(trace.turns) // 2, *edited}:
        assert run_of(cut_after(trace, turn), preset, WINDOWS[name]).turns == whole.turns[:turn]


def test_every_firing_of_staged_ends_at_60_percent(sample):
    run = run_of(sample("forensic_review.jsonl"), "staged", 96_000)
    fired = [row for row in run.turns if 2 in row.fired]
    assert fired
    assert all(row.before >= 0.70 * 96_000 and row.tokens <= 0.60 * 96_000 for row in fired)


@pytest.mark.parametrize("window", [40_000, 60_000, 80_000])
def test_and_so_it_does_where_clearing_is_not_enough(sample, window):
    run = run_of(sample("forensic_review.jsonl"), "staged:clear-tool-results.keep_tokens=0.9", window)
    fired = [row for row in run.turns if 2 in row.fired]
    assert any(note.step for _, note in notes(run))
    assert all(row.tokens <= 0.60 * window for row in fired)


@pytest.mark.parametrize("pin", [("task",), ()])
def test_refund_keeps_what_it_needs_for_ten_more_turns_through_two_generations(sample, pin):
    trace = sample("refund_support.json")
    strategy = replace(find("recursive-summary"), pin=pin)
    run = run_of(trace, strategy, 8_000)
    assert [note.generation for _, note in notes(run)] == [1, 2]
    since = notes(run)[0][0]
    assert len(trace.turns) - since >= 10
    for turn in range(since, len(trace.turns) + 1):
        view = view_at(trace, strategy, turn, window=8_000, count=counter(trace.encoding).count)
        (summary,) = summaries(view)
        texts = [one.text for one in view.fragments()] if pin else [summary.text]
        assert [fact.raw for fact in FACTS if not any(map(fact.visible, texts))] == [], turn


@pytest.mark.parametrize("lost", [fact.raw for fact in FACTS])
def test_a_summary_that_drops_one_is_refused_and_the_report_says_which(sample, says, lost):
    trace = sample("refund_support.json")
    says_all = "; ".join(fact.raw for fact in FACTS if fact.raw != lost)
    shown = ",".join(fact.raw for fact in FACTS)
    ready = prepare(
        trace, replace(find(f"recursive-summary:repair=false,steps=full,notice={''}"), pin=()), window=8_000,
        summariser=says(says_all),
    )  # fmt: skip
    stage = ready.strategy.stages[0]
    stage = stage.with_pass("summarize", "must_show", tuple(shown.split(",")))
    report = report_of(replace(ready, strategy=replace(ready.strategy, stages=(stage,))))
    refused = [note.message for row in report.turns for note in row.notes if note.code == "summary-refused"]
    assert refused
    assert set(refused) == {f"no summary: full: drops: {lost}"}
    assert not any(row.edits for row in report.turns)


@pytest.mark.parametrize("fail", range(5))
@pytest.mark.parametrize("name", ["refund_support.json", "migrate_module.jsonl"])
def test_each_step_down_in_a_real_replay(sample, name, fail):
    run = run_of(sample(name), "recursive-summary", WINDOWS[name], fail=fail)
    _, note = notes(run)[0]
    assert note.step == (STEPS[fail] if fail < 4 else "")
    assert [failure.partition(":")[0] for failure in note.failures] == list(STEPS[:fail])
    forms = {change.form for row in run.turns for change in row.edits}
    assert forms == ({"summary"} if fail < 3 else {"noticed"} if fail == 3 else set())


def test_five_layer_takes_at_most_five_attempts_and_ends_with_a_notice(sample):
    """A window in which pruning the middle is not enough."""
    trace = sample("forensic_review.jsonl")
    run = run_of(trace, "five-layer", 12_000, fail=2)
    asked = {}
    for turn, note in notes(run):
        asked[turn] = asked.get(turn, 0) + len(note.failures) + bool(note.step)
    assert asked
    assert max(asked.values()) <= 5
    assert {note.step for _, note in notes(run)} == {"notice"}
    assert not any(row.overflow for row in run.turns)


def test_compaction_at_its_own_threshold(sample):
    run = run_of(sample("migrate_module.jsonl"), "compaction", 200_000)
    ((turn, note),) = notes(run)
    assert (note.generation, note.tail, note.step, note.by) == (1, 0, "full", "extractive")
    row = run.turns[turn - 1]
    assert row.before >= 150_000
    assert row.tokens < 25_000
    assert run.totals.summary_simulated
    assert (run.totals.summary_calls, run.totals.summary_tokens_in) == (note.calls, note.tokens_in)
    small = run_of(sample("migrate_module.jsonl"), "compaction:when=20k", 200_000)
    assert small.turns[notes(small)[0][0] - 1].before >= 50_000
    assert any(
        one.code == "cannot-fire" for one in run_of(sample("migrate_module.jsonl"), "compaction", 120_000).warnings
    )


def test_drift_is_measured_against_the_originals(sample):
    trace = sample("order_supplies.json")
    run = run_of(trace, "recursive-summary", 8_000)
    drift = generations(trace.fragments, run.turns)
    assert [one.number for one in drift] == [1, 2, 3]
    assert [one.entities for one in drift] == sorted(one.entities for one in drift)
    assert drift[0].recall >= drift[-1].recall > 0.6
    for (_, note), one in zip(notes(run), drift, strict=True):
        assert (note.summary, note.generation) == (one.tokens, one.number)
