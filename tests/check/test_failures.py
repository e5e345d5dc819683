"""What a failure says: the place, the cause, the error of the count, and the ways down."""

import json
import shlex
from dataclasses import replace

import pytest

from ctxbudget import load, prepare, sizes
from ctxbudget.checking import check
from ctxbudget.checking.breaches import near
from ctxbudget.checking.measured import hides_tools, recorded, replayed
from ctxbudget.config import Settings
from ctxbudget.config.budget import Budget, Cap
from ctxbudget.layers import AGENT, WINDOW
from ctxbudget.trace import Calibration, Compaction, Edit, Kind

LONG = "sample_traces/migrate_module.jsonl"


def only(report, rule):
    (one,) = [failure for row in report.checked for failure in row.failures if failure.id == rule]
    return one


def test_a_failure_names_the_place_and_what_crossed_the_limit():
    failure = only(check(LONG), "CB102")
    (trace,) = load(LONG)
    turn = next(each for each in trace.turns if each.reported > 150_000)
    largest = max(trace.entering(turn), key=lambda one: one.tokens)
    assert (failure.turn, failure.fragment, failure.line) == (turn.index, largest.id, largest.origin.line)
    assert (failure.tool, failure.resource) == (largest.tool, largest.resource.target)
    assert (failure.path, failure.layer, failure.kind) == (LONG, "observation", "result")
    assert failure.measured == max(each.reported for each in trace.turns)
    for number in ("151,845", "75.92 %", "150,000", "turn 51", "turn 55"):
        assert number in failure.message


@pytest.mark.parametrize("limit", ["75%", "40%", "20%"])
def test_the_ways_down_are_what_a_replay_gives(limit):
    failure = only(check(LONG, max=limit), "CB102")
    assert 1 <= len(failure.ways) <= 2
    for way in failure.ways:
        assert way.tokens < failure.measured
        assert way.enough is (way.tokens <= failure.limit)
        words = shlex.split(way.command)
        options = dict(zip(words[3::2], words[4::2], strict=True))
        window = int(options["--window"]) if "--window" in options else None
        prepared = prepare(LONG, options["--strategy"], window=window)
        run = prepared.run()
        counted = {turn.turn: turn.size - turn.estimated for turn in recorded(prepared.trace, AGENT).turns}
        assert max(row.tokens + counted[row.turn] for row in run.turns) == way.tokens


def test_the_cheapest_ways_come_first():
    """Where collecting garbage is enough it is named first; where nothing is enough, what comes closest."""
    assert only(check(LONG), "CB102").ways[0].strategy == "collect-garbage"
    hopeless = only(check(LONG, max="1k"), "CB102").ways
    assert not any(way.enough for way in hopeless)
    assert [way.tokens for way in hopeless] == sorted(way.tokens for way in hopeless)


def test_presets_get_the_limit_for_a_window():
    """Their triggers are shares of the window: in the whole one they would begin beyond the limit."""
    failures = check("sample_traces/refund_support.json", window=5_000).failures
    ways = {one.id: {way.strategy: way for way in one.ways} for one in failures if one.level == "error"}
    assert ways["CB102"]["five-layer"].command.endswith("--strategy five-layer --window 3750")
    assert ways["CB102"]["five-layer"].enough
    assert ways["CB102"]["clear-tool-results"].command.endswith(":when=3750 --window 5000")
    assert ways["CB101"]["five-layer"].command.endswith("--strategy five-layer --window 5000")


@pytest.mark.parametrize("option, rule", [("growth", "CB104"), ("max_result", "CB105")])
def test_ways_down_of_one_result_and_one_turn(option, rule):
    broken = [one for one in check(LONG, max="100%", **{option: "50k"}).checked[0].failures if one.id == rule]
    assert [one.turn for one in broken] == [35]
    assert broken[0].resource == "python tools/check.py -v"
    assert broken[0].ways[0].enough
    assert {way.strategy for way in broken[0].ways} <= {"collect-garbage", "external-memory", "boundary"}


def test_only_what_fails_needs_a_way_down():
    budget = Budget(soft_threshold=sizes.amount("50%", "x"), hard_threshold=sizes.amount("90%", "x"))
    warned = only(check(LONG, settings=Settings(budget=budget)), "CB102")
    assert (warned.level, warned.ways) == ("warning", [])


def test_of_a_layer_the_piece_that_is_named_is_one_of_it():
    """Not what else came in at the same turn, however large."""
    (trace,) = load(LONG)
    outdone = 0
    for most in range(200, 6_200, 1_000):
        broken = only(check(LONG, max="100%", max_layer={"reasoning": str(most)}), "CB103")
        came = trace.entering(trace.turns[broken.turn - 1])
        own = [one for one in came if AGENT.layer(one) == "reasoning"]
        assert broken.fragment == max(own, key=lambda one: one.tokens).id
        outdone += max(came, key=lambda one: one.tokens).id != broken.fragment
    assert outdone


def test_ways_down_of_a_layer():
    broken = only(check(LONG, max="100%", max_layer={"observation": "45%"}), "CB103")
    assert [way.enough for way in broken.ways] == [True, True]
    assert only(check(LONG, max="100%", max_layer={"system": "1k"}), "CB103").ways == []


@pytest.mark.parametrize(
    "measured, most, reported, error, expected",
    [
        (1_000, 980, False, 0.02, True),
        (1_000, 979, False, 0.02, False),
        (1_000, 1_020, False, 0.02, True),
        (1_000, 980, True, 0.02, False),
        (1_000, 980, False, 0.0, False),
        (1_000, 1_000, False, 0.0, False),
        (1_000, 1_200, False, None, True),
        (1_000, 800, False, None, True),
        (1_000, 799, False, None, False),
        (1_000, 1_201, False, None, False),
        (1_000, 980, True, None, False),
        (None, 980, False, 0.02, False),
        (1_000, None, False, 0.02, False),
    ],
)
def test_within_the_error_of_the_limit(measured, most, reported, error, expected):
    assert near(measured, most, reported=reported, error=error) is expected


def test_an_estimate_says_how_far_it_may_be_off():
    (trace,) = load(LONG)
    calibrated = replace(trace, turns=tuple(replace(turn, usage=None) for turn in trace.turns))
    size = max(turn.estimated for turn in recorded(calibrated, AGENT).turns)
    row = check(calibrated, max=str(size - 1)).checked[0]
    failure = next(one for one in row.failures if one.id == "CB102")
    assert (failure.reported, failure.near) == (False, True)
    assert failure.error == trace.calibration.median_error == row.peak.error
    assert "within the error of the count" in failure.message
    assert row.peak.near
    passed = check(calibrated, max=str(size)).checked[0]
    assert (passed.status, passed.peak.near) == ("clean", True)


@pytest.mark.parametrize(
    "limit, near, fails",
    [(0.79, False, True), (0.81, True, True), (1.0, True, False), (1.19, True, False), (1.3, False, False)],
)
@pytest.mark.parametrize("calibration", [None, Calibration(1.0, 0, 2, None, trusted=False)])
def test_an_estimate_whose_error_is_unknown_is_near_within_a_fifth(limit, near, fails, calibration):
    (trace,) = load(LONG)
    bare = replace(trace, calibration=calibration, turns=tuple(replace(turn, usage=None) for turn in trace.turns))
    size = max(turn.estimated for turn in recorded(bare, AGENT).turns)
    row = check(bare, max=str(round(size * limit))).checked[0]
    assert (row.peak.error, row.peak.near) == (None, near)
    broken = [one for one in row.failures if one.id == "CB102"]
    assert [(one.error, one.near) for one in broken] == ([(None, near)] if fails else [])
    for one in broken:
        assert ("; the limit is within 20 % of the count, whose error is unknown" in one.message) is near


def test_reported_counts_win_over_ours(session):
    """Our count of this session is a few hundred tokens; the provider says 900."""
    path = session("reported.jsonl", [100, 900])
    row = check(path, window=1_000).checked[0]
    assert (row.peak.tokens, row.peak.reported, row.status) == (900, True, "violated")
    assert row.peak.estimated < 900
    under = check(path, window=1_000, strategy="none").checked[0]
    assert (under.peak.tokens, under.peak.reported) == (under.peak.estimated, False), "a replay is always estimated"


def test_the_peak_is_neither_the_last_turn_nor_the_sum(session):
    path = session("peak.jsonl", [100, 740, 300])
    report = check(path, window=1_000)
    assert (report.checked[0].peak.tokens, report.checked[0].peak.turn) == (740, 2)
    assert report.exit_code == 0


KEEP = "Never touch the billing schema"


def test_a_fact_must_stay_in_view_and_be_there_at_all(session):
    path = session("keep.jsonl", [None] * 30)
    assert check(path, max="100%", must_keep=[KEEP]).exit_code == 0
    (trace,) = load(str(path))
    held = check(path, max="100%", must_keep=[KEEP], strategy="sliding-window:keep=2", window=4_000)
    assert held.exit_code == 0, "a must-keep fact is pinned"
    budget = Budget(must_keep=(KEEP,))
    assert check(trace, max="100%", settings=Settings(budget=budget)).exit_code == 0
    nowhere = Settings(budget=Budget(must_keep=("no such words",)))
    for unseen in (check(path, max="100%", must_keep=["no such words"]), check(path, max="100%", settings=nowhere)):
        assert (unseen.exit_code, [one.code for one in unseen.warnings]) == (2, ["must-keep-unseen"])


def test_a_recorded_compaction_that_loses_a_fact_fails():
    """The agent's own compaction took the first message away."""
    (trace,) = load("sample_traces/migrate_module.jsonl")
    first = next(one for one in trace.fragments if one.kind.value == "user")
    fact = " ".join(first.text.split()[:6])
    again = replace(first, id="again", origin=replace(first.origin, line=None))

    def lost(*changes):
        edits = [(turn, Edit("recorded", gone, come, None, "")) for turn, gone, come in changes]
        lossy = replace(trace, recorded=tuple(Compaction(turn=turn, edit=edit, trigger="auto") for turn, edit in edits))
        return only(check(lossy, max="100%", must_keep=[fact]), "CB203")

    once = lost((30, (first.id,), ()))
    assert (once.turn, once.level) == (30, "error")
    assert fact in once.message
    twice = lost((30, (first.id,), ()), (34, (), (again,)), (38, ("again",), ()))
    assert twice.turn == 30, "told once, where it went first"


def test_validity_is_checked_too(session):
    orphan = check(session("orphan.jsonl", [100, 200], orphan=True), window=1_000)
    found = {one.id: one for one in orphan.checked[0].failures}
    assert set(found) == {"CB201", "CB202"}
    assert (found["CB202"].level, found["CB201"].level) == ("error", "warning")
    assert found["CB202"].line == 3
    assert found["CB201"].tool == "Read"
    assert orphan.exit_code == 1
    assert check(session("dangling.jsonl", [100, 200], dangling=True), window=1_000).exit_code == 0
    fell = check(session("fell.jsonl", [700, 300]), window=1_000)
    assert [(one.id, one.level) for one in fell.checked[0].failures] == [("CB205", "warning")]


def test_a_changed_prefix(tmp_path):
    """CB204: the tools of the second request are others; a stable layer makes an error of it."""

    def request(tools, *texts):
        messages = [{"role": "system", "content": "help"}]
        messages += [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(texts)]
        defined = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
        reply = {"choices": [{"message": {"role": "assistant", "content": "fine"}}], "usage": {"prompt_tokens": 90}}
        return json.dumps({"request": {"model": "gpt-4.1", "messages": messages, "tools": defined}, "response": reply})

    def changed(last, **caps):
        path = tmp_path / "log.jsonl"
        requests = (request(["a"], "one"), request(["a"], "one", "fine", "two"), last)
        path.write_text("\n".join(requests), encoding="utf-8")
        settings = Settings(budget=Budget(layers={name: Cap(cache_stable=True) for name in caps}))
        return [(one.turn, one.level, one.line) for one in check(path, settings=settings).failures if one.id == "CB204"]

    texts = ("one", "fine", "two", "fine", "3")
    assert changed(request(["a"], *texts)) == []
    assert changed(request(["b"], *texts)) == [(3, "warning", 3)], "another tool"
    assert changed(request(["a", "b"], *texts)) == [(3, "warning", 3)], "one more tool"
    assert changed(request(["b"], *texts), tools=True) == [(3, "error", 3)]
    assert changed(request(["b"], *texts), retrieval=True) == [(3, "warning", 3)], "another layer is to be stable"


def test_tools_are_hidden_only_where_the_file_does_not_hold_them():
    (trace,) = load(LONG)
    assert hides_tools(trace)
    kinds = [one.kind.value for one in trace.fragments]
    at = kinds.index("injected") if "injected" in kinds else 1
    shown = [replace(one, kind=Kind.TOOL_DEFINITIONS) if n == at else one for n, one in enumerate(trace.fragments)]
    assert not hides_tools(replace(trace, fragments=tuple(shown)))
    (chat,) = load("sample_traces/refund_support.json")
    assert not hides_tools(chat)


def test_sub_agents_are_checked_under_their_own_window():
    alone = check(LONG)
    report = check(LONG, children=True, window=1_000_000)
    assert [row.child for row in alone.checked] == [None]
    assert [row.child for row in report.checked] == [None, "a3f81c7"]
    assert [row.window for row in report.checked] == [1_000_000, 200_000]
    assert "subagents" in report.checked[1].path


def test_a_replay_measures_what_entered_as_it_was_left():
    prepared = prepare(LONG, "boundary")
    run = prepared.run()
    measured = replayed(prepared.trace, run, lambda scheme: replace(prepared, scheme=scheme).run())
    assert max(one.tokens for one in measured.results.values()) < 2_000
    for turn, row in zip(measured.turns, run.turns, strict=True):
        before = run.turns[row.turn - 2].tokens if row.turn > 1 else 0
        assert turn.size - before == turn.added, "boundary edits what enters, and nothing else"
    assert [sum(row.values()) for row in measured.by_layer(WINDOW)] == [row.tokens for row in run.turns]
