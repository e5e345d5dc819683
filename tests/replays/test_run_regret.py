"""Evidence, regret, cost and summaries in the report of a run: the same as compare says, and by hand."""

import re
from dataclasses import fields, replace
from functools import cache
from io import BytesIO
from pathlib import Path

import jsonschema
import orjson
import pytest

from ctxbudget import frames
from ctxbudget.comparing import compare
from ctxbudget.loaders import load
from ctxbudget.prepared import prepare
from ctxbudget.renderers import Look, render
from ctxbudget.replays import replay, report_of
from ctxbudget.report import schema
from ctxbudget.report.loading import from_json
from ctxbudget.report.run_events import events
from ctxbudget.store import Store, StoreError, key_of
from ctxbudget.strategy.naming import find
from ctxbudget.summaries import Summary

WINDOWS = {
    "migrate_module.jsonl": 120_000, "refund_support.json": 8_000, "order_supplies.json": 8_000,
    "forensic_review.jsonl": 96_000, "fix_failing_test.traj": 6_000,
}  # fmt: skip
STRATEGIES = ("sliding-window:keep=5", "external-memory:over=200", "recursive-summary")
SAMPLES = Path(__file__).parents[2] / "sample_traces"
FACTS = ("#8842", "overdue", "$240", "REF-12", "gateway_timeout")


class Says:
    """A summariser with one answer."""

    def __init__(self, text):
        self.text = text

    def summarise(self, request):
        return Summary(
            self.text, tokens_in=request.size, tokens_out=request.count(self.text), calls=1, simulated=False, by="m-1"
        )


def shown(report, name="terminal", **look):
    out = BytesIO()
    render(report, name, out, Look(**look))
    return out.getvalue().decode()


@pytest.fixture(scope="module")
def migration(sample):
    return replay(sample("migrate_module.jsonl"), "sliding-window", window=120_000)


@pytest.fixture(scope="module")
def refund(sample):
    return replay(sample("refund_support.json"), "recursive-summary", window=8_000, placebo=False)


@cache
def compared(name):
    (trace,) = load(str(SAMPLES / name))
    (found,) = compare(trace, STRATEGIES, window=WINDOWS[name]).compared
    return trace, found


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_says_what_compare_says(name, strategy):
    trace, whole = compared(name)
    (row,) = (row for row in whole.rows if row.strategy == strategy)
    report = replay(trace, strategy, window=WINDOWS[name])
    found, cost = report.regret, report.cost
    assert (found.kept, found.uses, found.by_chance) == (row.evidence_kept, row.evidence, row.chance_missed)
    assert {kind: found.missed[kind] for kind in row.missed} == row.missed
    assert (found.fetch_tokens, found.fetch_turns) == (row.fetch_tokens, row.fetch_turns)
    assert (len(found.recalls), found.recall_tokens) == (row.recalls, row.recall_tokens)
    assert (len(found.stale), found.repeats.again, found.repeats.unseen) == (row.stale, row.repeats, row.repeats_unseen)
    assert (found.trail.files, found.trail.kept) == (row.trail, row.trail_kept)
    assert (found.text, found.signals) == (row.regret, whole.signals)
    assert (cost.sent, cost.cached, cost.price, cost.fetches) == (row.sent, row.prefix, row.price, row.fetch_price)
    assert (cost.recalls, cost.saving, cost.break_even) == (row.recall_price, row.saving, row.break_even)
    assert cost.summary_calls == row.summaries == report.totals.summary_calls
    assert [loss for loss in found.losses if loss.counted and loss in row.losses] == sorted(
        row.losses, key=lambda loss: loss.turn
    )


def test_the_losses_of_the_migration_by_hand(migration):
    # config.py as read at turn 8 leaves the last 20 turns at 29, and turn 32 edits it; turn 52 repeats the edit whose
    # old text stood in the call of turn 22 too, which leaves at 43.
    found = migration.regret
    assert [(loss.turn, loss.signal, loss.seen, loss.gone, loss.by) for loss in found.losses] == [
        (32, "D1", 8, 29, "sliding-window"),
        (52, "D1", 22, 43, "sliding-window"),
    ]
    assert (found.uses, found.kept, found.fetch_turns) == (44, 42, 1)
    assert found.fetch_tokens == found.losses[0].tokens
    assert found.by_chance.mean < 1
    assert {one.turn: one.needed for one in events(migration) if one.needed} == {29: [32], 43: [52]}
    assert len(found.trail.lost) == found.trail.files - found.trail.kept > 0


def test_the_parts_of_a_price_add_up(migration):
    cost = migration.cost
    assert cost.cached + cost.uncached == cost.sent == migration.totals.sent
    parts = (cost.price_cached, cost.price_uncached, cost.price_replies, cost.price_summaries)
    assert cost.price == pytest.approx(sum(parts))
    # Claude Opus 4.5 at list price: 0.50 from the cache, 6.25 into it, 25 for output, each per million tokens.
    assert (cost.rates.input, cost.rates.cache_read, cost.rates.cache_write, cost.rates.output) == (5, 0.5, 6.25, 25)
    assert cost.price_cached == pytest.approx(cost.cached * 0.5 / 1e6)
    assert cost.price_uncached == pytest.approx(cost.uncached * 6.25 / 1e6)
    assert cost.saving == pytest.approx(cost.full - cost.price - cost.fetches)
    assert cost.saving < 0


def test_a_model_without_a_list_price_has_none(sample):
    report = replay(replace(sample("order_supplies.json"), model="our-own-1"), "none", placebo=False)
    assert report.cost.price is report.cost.rates is report.cost.saving is None
    assert report.cost.cached + report.cost.uncached == report.cost.sent
    assert "no list price of our-own-1" in shown(report)


def test_without_a_placebo_every_use_counts(sample):
    report = replay(sample("refund_support.json"), "sliding-window:keep=4", window=8_000, placebo=False)
    assert report.regret.by_chance is None
    assert all(one.project is one.resource is one.excess is None for one in report.regret.signals)
    assert "without a placebo" in shown(report)
    assert {(loss.turn, loss.needed) for loss in report.regret.losses} >= {(18, "ST-077"), (28, "RT-1184")}


def test_the_answer_tells_losses_at_their_turns(migration):
    text = shown(migration)
    head = text.index("Needed later, and out of view by then")
    first = "turn 32    edits billing/config.py with text last seen at turn 8, removed at turn 29:"
    assert head < text.index(first) < text.index("turn 52    edits billing/config.py")
    assert re.search(r"29 +sliding-window .* lost, needed at turn 32", text)
    assert re.search(r"Evidence +42 of 44 later uses had a source in view; of uses found by chance \d", text)
    assert re.search(r"Read again ~\d+ tokens before 1 turn, at least", text)
    assert re.search(r"Files +the last turn accounts for \d+ of 21 files touched; not for billing/", text)
    assert re.search(r"Cost +\$16\.\d\d at list prices", text)
    assert "would have failed" not in text
    assert "### Needed later, and out of view by then" in shown(migration, "markdown")


def test_many_losses_are_told_by_source_the_dearest_and_counted(sample):
    report = replay(sample("migrate_module.jsonl"), "sliding-window:keep=2", window=120_000, placebo=False)
    told = shown(report).partition("out of view by then\n")[2].partition("\n\n")[0].splitlines()
    assert len(told) == 13
    turns = [int(line.split()[1]) for line in told[:-1]]
    assert turns == sorted(turns)
    shared = sum(int(number) for number in re.findall(r"\(and (\d+) more uses? of the same source\)", "\n".join(told)))
    more = int(re.search(r"and (\d+) more: --table losses", told[-1])[1])
    assert len(report.regret.losses) == 12 + shared + more


def test_losses_as_a_table_and_a_frame(migration, sample):
    frame = frames.losses(migration)
    assert frame["turn"].tolist() == [32, 52]
    assert frame["counted"].tolist() == [True, True]
    assert "last seen" not in shown(migration, table="losses")
    assert shown(migration, "csv", table="losses").count("\n") == 3
    stored = replay(sample("migrate_module.jsonl"), "external-memory:over=200", window=120_000, placebo=False)
    assert stored.regret.recalls
    assert all("tokens to bring back from the store" in one.text for one in stored.regret.recalls if one.tokens)
    assert shown(stored, table="losses").count(" recall") == len(stored.regret.recalls)
    assert f"({len(stored.regret.recalls)} of them in the store)" in shown(stored)


def test_what_the_summaries_did(refund):
    sums = refund.totals
    assert [(one.turn, one.step, one.generation) for one in refund.summaries] == [(17, "full", 1), (27, "full", 2)]
    assert (sums.summaries, sums.summaries_refused, sums.summary_steps) == (2, 0, {"full": 2})
    assert sums.summary_tokens_in == sum(one.tokens_in for one in refund.summaries)
    assert sums.summary_simulated
    assert all(one.freed == one.summarised - one.summary for one in refund.summaries)
    assert all(one.kept + len(one.lost) == one.total for one in refund.summaries)
    assert [(one.turn, one.generation) for one in refund.drift] == [(17, 1), (27, 2)]
    assert all(0.5 < one.recall <= 1 for one in refund.drift)
    text = shown(refund)
    assert re.search(r"17 +full +1 +extractive, simulated", text)
    assert re.search(r"Summaries +2 stand \(2 of everything\); 2 model calls would read [\d,]+ tokens", text)
    frame = frames.summaries(refund)
    assert frame["generation"].tolist() == [1, 2]
    assert frame["lost"].tolist() == ["; ".join(one.lost) for one in refund.summaries]


@pytest.mark.parametrize(
    "fail, steps", [(0, {"full": 2}), (1, {"partial": 2}), (2, {"noted": 2}), (3, {"notice": 2}), (4, {})]
)
def test_which_step_of_the_ladder_stands(sample, fail, steps):
    report = replay(sample("refund_support.json"), "recursive-summary", window=8_000, fail_summary=fail, placebo=False)
    assert (report.totals.summary_steps.keys(), report.totals.summaries_refused > 0) == (steps.keys(), not steps)
    assert all(len(one.failures) >= fail for one in report.summaries)
    text = shown(report)
    if fail:
        assert re.search(r"turn 17 +full: made to fail", text)
    assert ("refused" in text.partition("Summaries")[2]) == (not steps)


@pytest.mark.parametrize("dropped", FACTS)
def test_a_refused_summary_names_what_it_dropped(sample, dropped):
    says = "; ".join(fact for fact in FACTS if fact != dropped)
    strategy = replace(find("recursive-summary:repair=false,steps=full"), pin=())
    ready = prepare(sample("refund_support.json"), strategy, window=8_000, summariser=Says(says))
    stage = ready.strategy.stages[0].with_pass("summarize", "must_show", FACTS)
    report = report_of(replace(ready, strategy=replace(strategy, stages=(stage,))), placebo=False)
    assert report.totals.summaries == 0
    assert report.totals.summaries_refused == len(report.summaries) > 0
    assert {reason for one in report.summaries for reason in one.failures} == {f"full: drops: {dropped}"}
    assert report.cost.summary_calls == len(report.summaries)
    text = shown(report)
    assert "Refused summaries" in text
    assert f"full: drops: {dropped}" in text


def test_recorded_summaries_drift_too(case):
    trace = case("C45/session.jsonl")
    report = replay(trace, "as-recorded", placebo=False)
    assert report.summaries == []
    assert report.cost.summary_calls == len(report.drift) == len(trace.recorded) > 0
    assert re.search(rf"{report.drift[0].turn} +recorded +1 ", shown(report))


def test_all_of_it_is_in_the_json(migration, refund):
    shipped = orjson.loads(schema.FILE.read_bytes())
    for report in (migration, refund):
        data = shown(report, "json")
        assert from_json(data) == report
        jsonschema.validate(orjson.loads(data), shipped)
    keys = {each.name for each in fields(refund)}
    assert keys >= {"regret", "cost", "summaries", "drift"}


def test_a_store_takes_what_a_strategy_moves_out(sample, tmp_path):
    trace, folder = sample("migrate_module.jsonl"), tmp_path / "kept"
    run = prepare(trace, "external-memory:over=200", window=120_000, store=folder).run()
    moved = [one.id for one in run.lives if one.form == "offloaded"]
    texts = {one.id: one.text for one in trace.fragments}
    assert moved
    assert all(Store(folder).get(key_of(texts[name])) == texts[name] for name in moved)
    memory = Store()
    prepare(trace, "external-memory:over=200", window=120_000, store=memory).run()
    assert memory.get(key_of(texts[moved[0]])) == texts[moved[0]]
    with pytest.raises(StoreError):
        prepare(trace, "external-memory", store=__file__)
