"""Which rules a check looks at and how serious each is, and what is told of them."""

import pytest

from ctxbudget import sizes
from ctxbudget.checking import Rules, check
from ctxbudget.config import Settings
from ctxbudget.config.budget import Budget, Cap
from ctxbudget.errors import UsageError
from ctxbudget.findings import LEVELS, RULES
from ctxbudget.findings.catalogue import explain, pages

LONG = "sample_traces/migrate_module.jsonl"


RULED = [
    # flags, settings, the level that CB205 then has; None: not looked at
    (Rules(), Rules(), "warning"),
    (Rules(), Rules(ignore=("CB205",)), None),
    (Rules(), Rules(severity={"CB205": "error"}), "error"),
    (Rules(select=("CB1",)), Rules(severity={"CB205": "error"}), None),
    (Rules(select=("CB2",)), Rules(severity={"CB205": "error"}), "error"),
    (Rules(ignore=("CB2",)), Rules(), None),
    (Rules(select=("CB205",), ignore=("CB2",)), Rules(), "warning"),
    (Rules(ignore=("CB205",)), Rules(severity={"CB205": "error"}), None),
    (Rules(select=("CB3",)), Rules(), None),
]


@pytest.mark.parametrize("flags, own, level", RULED)
def test_which_rules_count_and_how_much(session, flags, own, level):
    path = session("rules.jsonl", [700, 300])
    report = check(path, window=1_000, rules=flags, settings=Settings(rules=own))
    assert [one.level for one in report.checked[0].failures if one.id == "CB205"] == ([level] if level else [])
    assert report.exit_code == (level == "error")


def test_a_severity_turns_waste_on():
    rules = Rules(severity={"CB303": "error"})
    report = check(LONG, max="100%", rules=rules)
    assert {one.id for one in report.checked[0].failures} == {"CB303"}
    assert report.exit_code == 1
    with pytest.raises(UsageError):
        Rules.asked(["CB8"], [])
    assert Rules.asked(["CB1, cb203", "CB3"], ["CB104"]) == Rules(("CB1", "CB203", "CB3"), ("CB104",))


def test_every_rule_is_explained():
    assert [page.rule for page in pages()] == list(RULES)
    assert [rule.id for rule in RULES] == sorted(rule.id for rule in RULES)
    for page in pages():
        assert page.rule.level in LEVELS
        assert page.what.endswith(".")
        assert all(len(words.split()) > 3 for words in (page.what, page.why, page.example, page.fix))
    assert explain("cb303") is explain("stale copy still in context")


def test_explain_as_a_command(run, tmp_path):
    one = run("explain", "CB102", cwd=tmp_path)
    assert b"CB102 over the budget" in one.stdout
    assert one.returncode == 0
    listed = run("explain", cwd=tmp_path)
    assert all(rule.id.encode() in listed.stdout for rule in RULES)
    unknown = run("explain", "CB999", cwd=tmp_path)
    assert unknown.returncode == 2
    assert b"unknown finding 'CB999'" in unknown.stderr


def test_a_warning_before_the_limit_stays_one_whatever_the_severity(session):
    path = session("soft_level.jsonl", [100, 850])

    def found(hard, level):
        budget = Budget(soft_threshold=sizes.amount("0.7", "x"), hard_threshold=sizes.amount(hard, "x"))
        settings = Settings(budget=budget, rules=Rules(severity={"CB102": level}))
        (one,) = check(path, window=1_000, settings=settings).failures
        return one.level, one.key

    soft, hard = found("0.9", "error"), found("0.8", "error")
    assert (soft[0], hard[0]) == ("warning", "error")
    assert soft[1] != hard[1], "another failure to whoever follows it"
    assert found("0.8", "note")[0] == "note"


def test_the_most_serious_comes_first_then_the_id_then_the_turn(session):
    path = session("order.jsonl", [None] * 4, orphan=True, results=["word " * 700, "word " * 900])
    rows = [(one.level, one.id, one.turn) for one in check(path, window=1_000, max="1000%").failures]
    assert rows == sorted(rows, key=lambda row: (-LEVELS.index(row[0]), row[1], row[2]))
    assert [row[:2] for row in rows] == [
        ("error", "CB101"), ("error", "CB202"), ("warning", "CB104"), ("warning", "CB104"), ("warning", "CB105"),
        ("warning", "CB105"), ("warning", "CB201"),
    ]  # fmt: skip


def test_a_strategy_must_leave_what_the_budget_pins():
    def touched(pinned):
        budget = Budget(layers={"observation": Cap(pinned=pinned)})
        report = check(LONG, max="100%", strategy="clear-tool-results:when=50000", settings=Settings(budget=budget))
        return {(one.level, one.layer, one.tool is None) for one in report.failures if one.id == "CB203"}

    assert touched(False) == set()
    assert touched(True) == {("error", "observation", False)}


@pytest.mark.parametrize("asked, held", [(8_000, 8_000), (199_999, 199_999), (200_000, 0), (300_000, 0)])
def test_a_reserve_of_the_settings_that_leaves_nothing_does_not_hold(asked, held):
    row = check(LONG, settings=Settings(reserve=asked)).checked[0]
    assert (row.reserve, row.window, row.status) == (held, 200_000, "violated")
