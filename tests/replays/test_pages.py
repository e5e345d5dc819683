"""The answer of replay for people: what stands in it, at every width, with nothing in it that acts."""

import re
from dataclasses import fields, is_dataclass, replace
from io import BytesIO

import pytest
from rich.cells import cell_len
from sketch import sketch

from ctxbudget.renderers import RUN_TABLES, Look, render
from ctxbudget.renderers._run_sentences import stage_text
from ctxbudget.replays import replay
from ctxbudget.report import run_chart
from ctxbudget.report.run import BornRow
from ctxbudget.safe import visible

ORDER = [
    "migrate_module.jsonl", "claude-code", "Strategy", "Runs", "Peak", "Over", "Kept", "100 %",
    "removed before it was sent", "Survival by layer", "Survival by layer at the end", "What it did", "Constraints",
    "Sent", "Prefix", "Changed", "error CB101",
]  # fmt: skip


@pytest.fixture(scope="module")
def window_run(sample):
    return replay(sample("migrate_module.jsonl"), "sliding-window", window=120_000, turn=None)


@pytest.fixture(scope="module")
def budget_run(sample):
    return replay(sample("migrate_module.jsonl"), "category-budget", window=120_000, turn=37, fragment="t7.3")


def shown(report, name="terminal", **look):
    out = BytesIO()
    render(report, name, out, Look(**look))
    return out.getvalue().decode(look.get("encoding", "utf-8"))


def answer(report):
    return replace(report, shown_turn=None, story=None)


def test_the_answer_comes_in_its_order(window_run):
    text = shown(window_run)
    places = [text.index(each) for each in ORDER]
    assert places == sorted(places)


def test_it_says_what_is_gone_and_when(window_run):
    text = shown(window_run)
    assert re.search(r"turn 3 +user +lost at turn 23 +sliding-window +One more thing: do not touch legacy/", text)
    assert re.search(r"23 +sliding-window .* lost, 1 constraint too", text)
    assert "1 of 2 constraints visible word by word at every turn" in text
    assert "4 of 55 turns would not fit the 120,000-token window" in text
    for never in ("fail the task", "failed", "would have failed"):
        assert never not in text


def test_lossy_steps_stand_out_without_colour_too(budget_run):
    text = shown(answer(budget_run))
    lost = [line for line in text.splitlines() if " lost " in line and "calls" in line]
    assert lost
    colored = shown(answer(budget_run), colors="truecolor", width=110)
    assert all(
        f"\x1b[38;2;249;115;22m{line.strip()[:6].split()[0]}" in re.sub(r"m +", "m", colored) for line in lost[:1]
    )
    assert "back whole" in text


def test_what_it_did_keeps_to_the_largest_and_says_so(window_run):
    text = shown(window_run)
    assert "the largest; 20 more events: --table edits" in text
    assert shown(window_run, table="edits").count("older than the last 20 turns") == 35


def test_one_turn(budget_run):
    text = shown(replace(budget_run, story=None))
    assert "Fragments at turn 37" in text
    assert re.search(r"t2\.2 +lost +17 +- ", text)
    assert re.search(r"t7\.3 +digest +1,002 +5\d .*billing/money.py, read at turn 6", text)
    assert "Survival" not in text


def test_one_life_in_sentences(budget_run):
    text = shown(replace(budget_run, shown_turn=None))
    assert "t7.3 is a result of Read: 1,002 tokens, layer observation, line 32 of the file." in text
    assert "It entered at turn 7 and stands whole until turn 35." in text
    assert re.search(r"At turn 36 budget-per-layer left a digest of \d+ tokens in its place \(.*\); so it is", text)
    assert re.search(r"Turn 36 +billing/money.py, read at turn 6: 66 lines", text)


@pytest.mark.parametrize("width", [40, 60, 80, 110, 200])
@pytest.mark.parametrize("colors", [None, "truecolor"])
def test_no_line_is_wider_than_the_terminal(window_run, budget_run, width, colors):
    for report in (window_run, budget_run, answer(budget_run)):
        for line in shown(report, width=width, colors=colors).splitlines():
            assert cell_len(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= width, line


def test_nothing_is_cut_when_piped(window_run, budget_run):
    for report in (window_run, answer(budget_run)):
        assert "…" not in shown(report)
    text = shown(budget_run)
    assert all(visible(one.text) in text for one in budget_run.shown_turn.fragments if one.text)


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "latin-1"])
def test_any_encoding_carries_it(window_run, encoding):
    text = shown(answer(window_run), encoding=encoding)
    assert "Survival by layer" in text
    assert "?" not in text.split("What it did")[0].replace("?", "", 0)


@pytest.mark.parametrize("table", RUN_TABLES)
@pytest.mark.parametrize("name", ["terminal", "markdown"])
def test_one_table_only(budget_run, table, name):
    text = shown(budget_run, name, table=table)
    assert text
    assert "Strategy" not in text


def test_markdown_has_the_same_answer(window_run):
    text = shown(window_run, "markdown")
    assert text.startswith("## `")
    assert "lost at turn 23" in text
    assert text.count("```text") == 2
    assert "\x1b" not in text


HOSTILE = "\x1b[31mred\u202egnp.exe\x07 <img src=x onerror=alert(1)> | @all"


def hostile(value):
    """The report with a hostile text in place of every text that a trace, a file or a strategy may bring."""
    ours = {"level", "schema", "tool", "id", "kind", "role", "form", "by", "window_source", "at"}
    if is_dataclass(value):
        kept = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{name: each if name in ours else hostile(each) for name, each in kept.items()})
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, list):
        return [hostile(each) for each in value]
    if isinstance(value, dict):
        return {
            key if key in {"at", "passes", "name"} else HOSTILE: each if key in ours else hostile(each)
            for key, each in value.items()
        }
    return value


@pytest.mark.parametrize("name", ["terminal", "markdown", "csv"])
def test_nothing_from_a_trace_acts(budget_run, name):
    tables = (*RUN_TABLES, None) if name != "csv" else RUN_TABLES
    for report in (budget_run, answer(budget_run)):
        for table in tables:
            text = shown(hostile(report), name, table=table)
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
            if name == "markdown":
                outside = re.sub(r"(`+).*?\1", "", re.sub(r"```text\n.*?\n```", "", text, flags=re.DOTALL))
                assert "<img" not in outside
                assert "@all" not in outside


def test_sub_agents_follow(sample):
    text = shown(replay(sample("migrate_module.jsonl"), "sliding-window", window=120_000, children=True))
    assert text.count("Strategy") == 2


def test_an_empty_trace_is_told_plainly(case):
    text = shown(replay(case("C55/none.json"), "category-budget", window=100))
    assert "no model call in it" in text
    assert "Sent" not in text


def test_the_columns_show_what_was_sent_and_what_was_removed():
    report = replay(
        sketch("S9 U9 | " + " | ".join(f"R4 c{n}:8 r{n}:90" for n in range(30))), "sliding-window:keep=4", window=600
    )
    whole = run_chart.columns(report, 100)
    assert [column.turn for column in whole] == list(range(1, 32))
    for column, row in zip(whole, report.turns, strict=True):
        assert column.utilization == pytest.approx(row.tokens / 600)
        assert column.utilization + column.freed == pytest.approx(max(row.before, row.tokens) / 600)
        assert column.compacted == bool(row.edits)
    thin = run_chart.columns(report, 7)
    assert [(column.first, column.last) for column in thin][-1][1] == 31
    assert max(column.utilization for column in thin) == pytest.approx(report.peak.utilization)
    assert all(column.mark == "×" for column in thin if column.compacted)


def test_strips_are_shares_of_all_that_was_recorded():
    report = replay(sketch("S9 U9 | R4 c1:8 r1:90 | R4 c2:8 r2:90 | A4 U9"), "clear-tool-results:keep=0", window=600)
    strips = {strip.layer: strip for strip in run_chart.strips(report, 100)}
    assert strips["task"].whole == (1.0, 1.0, 1.0, 1.0)
    assert strips["observation"].whole[0] is None
    assert report.turns[3].born["observation"] == BornRow(16, 180, 0)
    assert strips["observation"].short[3] == pytest.approx(180 / 196)


@pytest.mark.parametrize(
    "stage, text",
    [
        (
            {"at": "call", "passes": [{"name": "sliding-window", "keep": 20}]},
            "before each call: sliding-window (keep=20)",
        ),
        (
            {
                "at": "reply",
                "when": 0.9,
                "until": 20_000.0,
                "every": 3,
                "passes": [{"name": "x", "flag": True, "text": "a b"}],
            },
            'after a reply, before its results, from 90 % on, every 3 turns, until 20,000 tokens: x (flag, text="a b")',
        ),
        (
            {
                "at": "entry",
                "when_layer": {"observation": 0.25},
                "when_incoming": 0.1,
                "estimator": "ema",
                "passes": [{"name": "x"}, {"name": "y"}],
            },
            "as a fragment enters, where observation 25 %, where 10 % or more arrive, as seen by ema: x; then y",
        ),
    ],
)
def test_a_stage_in_words(stage, text):
    assert stage_text(stage) == text
