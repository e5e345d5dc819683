"""The report of a run: its sums, its contract, one turn of it, one fragment's life."""

from dataclasses import replace
from io import BytesIO

import jsonschema
import orjson
import pytest
from arbitrary import STRATEGY, WINDOWS, traces
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sketch import sketch

import ctxbudget
from ctxbudget import frames
from ctxbudget.errors import ConfigError, UnknownName, UsageError
from ctxbudget.renderers import RUN_TABLES, Look, render
from ctxbudget.replays import replay, report_of
from ctxbudget.report import schema
from ctxbudget.report.loading import from_json
from ctxbudget.report.run_events import events, foremost, outcome

some = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
LOSING = "S9 U9* | R4 c1:8 r1:90 | A9 U20 | R4 c2:8 r2:90 | R4 c3:8 r3:90 | A9"


def written(report):
    out = BytesIO()
    render(report, "json", out)
    return out.getvalue()


@pytest.fixture(scope="module")
def report():
    trace = sketch(LOSING, texts={"U2": "Never force push to main, please."})
    return replay(trace, "sliding-window:keep=2", window=200, turn=5, fragment="t3.1")


@some
@given(traces(), STRATEGY, WINDOWS, st.data())
def test_its_sums_hold_for_every_run(trace, strategy, window, data):
    turn = data.draw(st.integers(1, len(trace.turns)))
    fragment = data.draw(st.sampled_from(trace.fragments))
    report = replay(trace, strategy, window=window, turn=turn, fragment=fragment.id)
    for row in report.turns:
        log = trace.fragments[: trace.turns[row.turn - 1].stop]
        assert row.tokens == sum(row.layers.values())
        assert sum(row.survival.values()) == len(log)
        assert sum(one.whole + one.short + one.lost for one in row.born.values()) == sum(one.tokens for one in log)
        assert all(sum(edit.kinds.values()) == len(edit.removed or edit.inserted) for edit in row.edits)
        assert row.before - row.tokens == sum(edit.before - edit.after for edit in row.edits)
    shown = report.shown_turn
    assert sum(one.now for one in shown.fragments) == shown.tokens == report.turns[turn - 1].tokens
    assert {one.id for one in shown.fragments} >= {one.id for one in trace.fragments[: trace.turns[turn - 1].stop]}
    counts = {}
    for one in shown.fragments:
        if one.id in {each.id for each in trace.fragments}:
            counts[one.form] = counts.get(one.form, 0) + 1
    assert counts == report.turns[turn - 1].survival
    lived = [(each.since, each.until, each.form) for each in report.lives if each.id == fragment.id]
    assert [(each.since, each.until, each.form) for each in report.story.chapters] == lived
    for chapter in report.story.chapters:
        assert (chapter.tokens == 0) == (chapter.form == "lost") or fragment.tokens == 0
        assert (chapter.text is None) == (chapter.form in {"whole", "lost"})
    assert sum(one.freed for one in events(report)) == sum(row.before - row.tokens for row in report.turns)
    assert from_json(written(report)) == report


def test_it_holds_to_the_shipped_schema(report):
    shipped = orjson.loads(schema.FILE.read_bytes())
    jsonschema.validate(orjson.loads(written(report)), shipped)
    jsonschema.validate(orjson.loads(written(replay(sketch(LOSING), "none", window=200))), shipped)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda data: data["turns"][0].pop("edits"), "lacks the key 'edits'"),
        (lambda data: data["totals"].update(more=1), "unknown key 'more'"),
        (lambda data: data["constraints"][0].update(kept="yes"), "is str, not bool"),
    ],
)
def test_what_is_not_exactly_a_run_is_refused(report, change, message):
    data = orjson.loads(written(report))
    change(data)
    with pytest.raises(ConfigError, match=message):
        from_json(orjson.dumps(data))


def test_a_constraint_and_what_removed_it(report):
    (fate,) = report.constraints
    assert (fate.text, fate.turn, fate.lost_at, fate.lost_by) == (
        "Never force push to main, please.",
        3,
        5,
        "sliding-window",
    )
    (event,) = [one for one in events(report) if one.gone]
    assert (event.turn, event.by, event.outcome, event.lossy) == (5, "sliding-window", "lost", True)
    assert event in foremost(events(report), 1)


def test_one_turn_tells_what_is_lost_too(report):
    shown = {one.id: one for one in report.shown_turn.fragments}
    assert (shown["t3.1"].form, shown["t3.1"].now, shown["t3.1"].since, shown["t3.1"].by) == (
        "lost",
        0,
        5,
        "sliding-window",
    )
    assert (shown["t1.1"].form, shown["t1.1"].now) == ("whole", 9)
    assert "t6.0" not in shown


def test_a_life_in_chapters(report):
    assert [(one.form, one.by, one.reason) for one in report.story.chapters] == [
        ("whole", "", ""),
        ("lost", "sliding-window", "older than the last 2 turns"),
    ]
    assert report.story.holds == ["Never force push to main, please."]
    assert not report.story.pinned
    fixed = replay(sketch(LOSING), "sliding-window:keep=1", window=200, fragment="t1.0").story
    assert fixed.pinned
    assert [one.form for one in fixed.chapters] == ["whole"]


def test_what_stands_in_place_is_told_with_its_text():
    trace = sketch(LOSING)
    report = replay(trace, "clear-tool-results:keep=1", window=200, turn=5, fragment="t2.2")
    chapter = report.story.chapters[-1]
    assert chapter.form == "cleared"
    assert chapter.text == "[tool result cleared; call the tool again if it is needed]"
    shown = next(one for one in report.shown_turn.fragments if one.id == "t2.2")
    assert (shown.text, shown.now, shown.stand_in) == (chapter.text, chapter.tokens, chapter.stand_in)
    assert [one.what for one in report.stand_ins if one.id == shown.stand_in]


def test_a_fragment_or_turn_that_is_not_there():
    with pytest.raises(UsageError, match="unknown fragment"):
        replay(sketch(LOSING), "none", window=200, fragment="t3.7")
    with pytest.raises(UsageError, match="no turn 99"):
        replay(sketch(LOSING), "none", window=200, turn=99)


def test_findings_of_a_run():
    over = replay(sketch(LOSING), "none", window=150)
    assert [(one.id, one.level, one.turn) for one in over.findings] == [("CB101", "error", 4)]
    assert over.totals.over == 3
    kept = replay(sketch(LOSING), "none", window=150, reserve=100)
    assert "100 of them kept free for the reply" in kept.findings[0].message
    assert [one.id for one in replay(sketch(LOSING), "none", window=5_000).findings] == []
    starved = replay(
        sketch("S9 U9 | " + " | ".join(f"R1 c{n}:4 r{n}:40" for n in range(9))), "category-budget", window=300
    )
    assert [(one.id, one.level, one.layer) for one in starved.findings] == [
        ("CB106", "warning", "reasoning"),
        ("CB106", "warning", "observation"),
    ]


def test_a_pinned_fragment_that_the_recording_removed():
    from sketch import compaction

    trace = sketch("S9 U9 | A9 U20* | A9 U20 | A9 U9")
    trace = replace(trace, recorded=(compaction(4, "t1.1 t2.1 t2.0", "all that was"),))
    (finding,) = replay(trace, "as-recorded", window=500).findings
    assert (finding.id, finding.turn) == ("CB203", 4)
    assert "t2.1" in finding.message
    assert replay(trace, "sliding-window:keep=1", window=500).findings == []


def test_what_was_broken_in_the_recording_is_said():
    report = replay(sketch("S9 U9 | R4 c1:8 | A9 U9"), "none", window=500)
    assert [one.id for one in report.findings] == ["CB201"]
    assert report.excepted


def test_sub_agents_run_under_their_own_window():
    trace = replace(sketch(LOSING), children=(replace(sketch("U9 | A9 U9"), window=77, children=(sketch("U3"),)),))
    assert replay(trace, "none", window=200).children == []
    (child,) = replay(trace, "none", window=200, children=True).children
    assert (child.window, len(child.turns), len(child.children)) == (77, 2, 1)


def test_a_must_keep_fact_that_nothing_holds_is_a_warning():
    found = replay(sketch(LOSING), "none", window=200, must_keep=["the answer is 42"])
    assert [one.code for one in found.warnings] == ["must-keep-unseen"]
    assert (found.constraints[0].turn, found.constraints[0].kept) == (None, False)


def test_must_keep_files_and_patterns(tmp_path):
    file = tmp_path / "facts.txt"
    file.write_text("# mine\nforce push\n/ma[i]n/i\n", encoding="utf-8")
    trace = sketch(LOSING, texts={"U2": "Never force push to main, please."})
    report = replay(trace, "sliding-window:keep=1", window=200, must_keep_files=[file])
    assert [(one.text, one.source, one.kept) for one in report.constraints[:2]] == [
        ("force push", "must-keep", True),
        ("/ma[i]n/i", "must-keep", True),
    ]
    assert report.constraints[2].kept


def test_options_that_are_off_by_default_are_not_told():
    report = replay(sketch(LOSING), "clear-tool-results:keep=0", window=200)
    assert report.stages == [
        {
            "at": "call",
            "passes": [
                {
                    "name": "clear-tool-results",
                    "keep": 0,
                    "text": "[tool result cleared; call the tool again if it is needed]",
                }
            ],
        }
    ]
    assert report.options["clear-tool-results.keep_turns"] == 0


@pytest.mark.parametrize("name", RUN_TABLES)
def test_every_table_is_a_frame_and_csv(report, name):
    frame = frames.table(report, name)
    assert list(frame.columns[:2]) == ["trace", "strategy"]
    out = BytesIO()
    render(report, "csv", out, Look(table=name))
    assert len(out.getvalue().splitlines()) == len(frame) + 1
    with pytest.raises(UnknownName):
        frames.table(report, "tools")


def test_frames_say_what_the_report_says(report):
    turns = frames.run_turns(report)
    assert turns["tokens"].tolist() == [row.tokens for row in report.turns]
    assert turns["overflow"].tolist() == [row.overflow for row in report.turns]
    layers = frames.run_layers(report)
    assert layers.groupby("turn")["tokens"].sum().tolist() == turns["tokens"].tolist()
    assert len(frames.lives(report)) == len(report.lives)
    assert frames.edits(report)["removed"].tolist() == [
        " ".join(edit.removed) for row in report.turns for edit in row.edits
    ]
    assert frames.fates(report)["lost_at"].tolist() == [5]


def test_the_library_gives_the_report_and_the_run():
    trace = sketch(LOSING)
    ready = ctxbudget.prepare(trace, "sliding-window:keep=2", window=200)
    assert ctxbudget.replay(trace, "sliding-window", window=200, options=["keep=2"]) == report_of(ready)
    assert [row.tokens for row in ready.run().turns] == [row.tokens for row in report_of(ready).turns]
    assert ready.view(4).tokens == ready.run().turns[3].tokens


def test_the_engine_s_folder_does_not_hide_the_function():
    import importlib

    importlib.import_module("ctxbudget.replay.stages")
    importlib.reload(importlib.import_module("ctxbudget.replay.run"))
    assert ctxbudget.replay is replay


@pytest.mark.parametrize(
    "options", [{"window": 100, "reserve": 100}, {"window": 0}, {"scheme": "agents"}, {"options": ["kep=2"]}]
)
def test_what_cannot_be_used_is_refused(options):
    with pytest.raises(UsageError):
        replay(sketch(LOSING), "sliding-window", **options)


def test_several_traces_are_refused(tmp_path):
    chats = tmp_path / "chats.jsonl"
    chats.write_bytes(
        b"".join(b'{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}\n' for _ in "ab")
    )
    with pytest.raises(UsageError, match="2 traces"):
        replay(chats, "none")
    assert replay(f"{chats}#2", "none").source.select == "2"
    assert replay(chats, "none", select="1").source.select == "1"
    (tmp_path / "more.jsonl").write_bytes(chats.read_bytes())
    with pytest.raises(UsageError, match="2 files"):
        replay(tmp_path, "none")


def test_settings_of_a_project_count_below_flags():
    from ctxbudget.config import Settings

    settled = Settings(window=150, reserve=10, tools={"Read": "files"})
    report = replay(sketch(LOSING), "none", settings=settled)
    assert (report.window, report.reserve, report.window_source) == (150, 10, "configuration")
    assert "files" in report.layers
    assert replay(sketch(LOSING), "none", settings=settled, window=180).window == 180


def test_outcomes():
    report = replay(sketch(LOSING), "category-budget", window=160)
    assert {outcome(edit) for row in report.turns for edit in row.edits} <= {"lost", "cleared", "digest", "back whole"}
