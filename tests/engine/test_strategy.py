"""Strategies as data: names, compositions, settings, files, and mistakes in each."""

import re
import tomllib
from pathlib import Path

import pytest
from sketch import sketch, words

from ctxbudget.errors import ConfigError, UnknownName, UsageError
from ctxbudget.passes.clear_tool_results import ClearToolResults
from ctxbudget.replay import replay
from ctxbudget.strategy import MOMENTS, Stage, Strategy, compose
from ctxbudget.strategy.naming import STRATEGIES, aliases, find
from ctxbudget.strategy.reading import read_strategy, strategy_of
from ctxbudget.strategy.values import amount

OURS = ("as-recorded", "category-budget", "five-layer", "none", "priority", "sliding-window", "tool-result-clearing")


@pytest.mark.parametrize("name", OURS)
def test_a_preset_documents_itself(name):
    found = STRATEGIES.get(name)
    assert found.name == name
    assert all((found.description, found.keeps, found.costs, found.fails, found.use_when))
    assert name == "none" or found.stages
    assert STRATEGIES.describe(name) == found.description


def test_names_come_from_files_and_aliases_from_what_stands_in_them():
    assert set(OURS) <= set(STRATEGIES.names())
    assert {
        "window": "sliding-window",
        "budget": "category-budget",
        "clear": "tool-result-clearing",
    }.items() <= aliases().items()
    assert find("window") == find("sliding-window")


def test_a_pass_is_a_strategy_of_one_stage():
    found = find("drop-thinking")
    assert (found.passes, found.stages[0].at) == (("drop-thinking",), "call")


def test_composed_strategies_run_entry_stages_first():
    found = find("five-layer+sliding-window+drop-thinking:at=reply")
    assert found.name == "five-layer+sliding-window+drop-thinking"
    assert [stage.at for stage in found.stages] == ["entry", "reply", "call", "call", "overflow", "overflow"]
    assert [MOMENTS.index(stage.at) for stage in found.stages] == sorted(
        MOMENTS.index(stage.at) for stage in found.stages
    )
    assert "sliding-window:" in found.description


def test_pins_of_composed_strategies_add_up():
    assert compose([Strategy("a", pin=("task",)), Strategy("b", pin=("plan", "task"))]).pin == ("task", "plan")


@pytest.mark.parametrize(
    ("text", "where", "value"),
    [
        ("sliding-window.keep=7", lambda s: s.stages[0].passes[0].keep, 7),
        ("sliding-window.unit=messages", lambda s: s.stages[0].passes[0].unit, "messages"),
        ("sliding-window.when=20k", lambda s: s.stages[0].when, 20_000),
        ("sliding-window.at=overflow", lambda s: s.stages[0].at, "overflow"),
        ("sliding-window.when-incoming=50%", lambda s: s.stages[0].when_incoming, 0.5),
        ("keep=3", lambda s: s.stages[0].passes[0].keep, 3),
        (
            "sliding-window.when_layer=observation:0.4,task:100",
            lambda s: s.stages[0].when_layer,
            {"observation": 0.4, "task": 100},
        ),
        ("sliding-window.estimator=ema", lambda s: s.stages[0].estimator, "ema"),
    ],
)
def test_settings(text, where, value):
    assert where(find("sliding-window", settings=[text])) == value


def test_a_setting_inside_a_table():
    found = find("category-budget", settings=["budget-per-layer.quotas.task=0.2"])
    assert found.stages[0].passes[0].quotas == {"task": 0.2, "state": 0.15, "reasoning": 0.2, "observation": 0.45}
    assert find("category-budget", settings=["budget-per-layer.quotas=task:.5,state:.5"]).stages[0].passes[
        0
    ].quotas == {"task": 0.5, "state": 0.5}


def test_lists_and_flags():
    found = (
        find("clear", settings=["clear-tool-results.exclude_tools=Read, Bash", "skip-errors=yes"]).stages[0].passes[0]
    )
    assert (found.exclude_tools, found.skip_errors) == (("Read", "Bash"), True)


@pytest.mark.parametrize(
    ("text", "settings", "message", "hint"),
    [
        ("sliding-windw", [], "unknown strategy 'sliding-windw'", "did you mean 'sliding-window'?"),
        ("windo", [], "unknown strategy 'windo'", "did you mean 'window'?"),
        ("sliding-window", ["sliding-window.kep=3"], "unknown option of sliding-window 'kep'", "did you mean 'keep'?"),
        (
            "sliding-window",
            ["slidin-window.keep=3"],
            "unknown pass of strategy 'slidin-window'",
            "did you mean 'sliding-window'?",
        ),
        ("sliding-window", ["kepp=3"], "unknown option of strategy 'kepp'", "did you mean 'keep'?"),
        ("./nothing.toml", [], "unknown strategy './nothing.toml'", None),
        ("ctxbudget.passes.sliding_window", [], "unknown strategy 'ctxbudget.passes.sliding_window'", None),
    ],
)
def test_mistyped_names_suggest_the_nearest(text, settings, message, hint):
    with pytest.raises(UnknownName) as caught:
        find(text, settings=settings)
    assert caught.value.message == message
    assert hint is None or caught.value.hint == hint


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("sliding-window.keep=many", "sliding-window.keep must be a whole number, not 'many'"),
        ("sliding-window.keep=2.5", "sliding-window.keep must be a whole number, not '2.5'"),
        ("sliding-window.keep=-1", "sliding-window.keep must be a whole number, not '-1'"),
        ("sliding-window.when=high", "sliding-window.when must be a number, such as 0.7 or 20k, not 'high'"),
        ("sliding-window.unit=turn", "sliding-window.unit: unknown value 'turn'"),
        ("sliding-window.at=cal", "sliding-window.at: unknown value 'cal'"),
    ],
)
def test_values_of_the_wrong_kind_are_mistakes(setting, message):
    with pytest.raises(ConfigError) as caught:
        find("sliding-window", settings=[setting])
    assert caught.value.message == message


def test_a_setting_needs_a_value():
    with pytest.raises(UsageError):
        find("sliding-window", settings=["sliding-window.keep"])


GOOD = """
description = "mine"
aliases = ["m"]
pin = ["task"]
estimator = "anchored"
atomic_loops = true

[[stages]]
at = "reply"
when = "20k"
until = 0.5
when_layer = { observation = 0.3 }
every = 3
passes = [{ name = "clear-tool-results", keep = 2, exclude_tools = ["Read"] }, { name = "drop-thinking" }]

[[stages]]
estimator = "bpe"
passes = [{ name = "hard-limit" }]
"""


def test_a_file(tmp_path):
    path = tmp_path / "my_own.toml"
    path.write_text(GOOD)
    found = find(str(path), anywhere=True)
    assert found.name == "my-own"
    assert found.stages[0] == Stage(
        at="reply",
        passes=(ClearToolResults(keep=2, exclude_tools=("Read",)), found.stages[0].passes[1]),
        when=20_000,
        when_layer={"observation": 0.3},
        every=3,
        until=0.5,
        estimator="anchored",
    )
    assert (found.stages[1].estimator, found.pin, found.atomic_loops, found.description) == (
        "bpe",
        ("task",),
        True,
        "mine",
    )
    assert find(f"{path}+window", anywhere=True).name == "my-own+sliding-window"
    with pytest.raises(UnknownName):
        find(str(path))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[[stages]\n", "not a strategy file", ""),
        ("descripton = 'x'", "unknown key 'descripton'", "did you mean 'description'?"),
        (
            "[[stages]]\nwen = 3\npasses = [{name = 'drop-thinking'}]",
            "stage 1: unknown key 'wen'",
            "did you mean 'when'?",
        ),
        (
            "[[stages]]\npasses = [{name = 'drop-thinkin'}]",
            "unknown pass 'drop-thinkin'",
            "did you mean 'drop-thinking'?",
        ),
        (
            "[[stages]]\npasses = [{name = 'drop-thinking', keep_turn = 2}]",
            "unknown option 'keep_turn'",
            "did you mean 'keep_turns'?",
        ),
        ("[[stages]]\npasses = []", "passes must be a list of tables", ""),
        ("[[stages]]\npasses = [{keep = 3}]", "a pass needs a name", ""),
        (
            "[[stages]]\nat = 'cal'\npasses = [{name = 'drop-thinking'}]",
            "at: unknown value 'cal'",
            "did you mean 'call'?",
        ),
        (
            "estimator = 'emma'\n[[stages]]\npasses = [{name = 'drop-thinking'}]",
            "unknown estimator 'emma'",
            "did you mean 'ema'?",
        ),
        ("[[stages]]\npasses = [{name = 'ctxbudget.passes.drop_thinking'}]", "unknown pass", ""),
        ("[[stages]]\npasses = [{name = './evil.py'}]", "unknown pass", ""),
        ("pin = 3", "pin must be a list of names", ""),
        ("stages = 3", "stages must be tables", ""),
    ],
)
def test_mistakes_in_a_file(tmp_path, text, message, hint):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_strategy("mine", path)
    assert message in caught.value.message
    assert caught.value.message.startswith("mine.toml")
    assert not hint or caught.value.hint == hint


def test_code_of_the_users_own_works_on_the_command_line_only(tmp_path):
    path = tmp_path / "keep_nothing.py"
    path.write_text(
        "from dataclasses import dataclass\nfrom ctxbudget.trace import Edit\nfrom ctxbudget.view import cut\n\n\n"
        "@dataclass(frozen=True, slots=True)\nclass KeepNothing:\n    '''Drop it all.'''\n\n    really: bool = True\n\n"
        "    def plan(self, view):\n        gone = cut(view, view.editable(view.end))\n"
        "        if gone and self.really:\n"
        "            yield Edit('keep-nothing', tuple(one.id for one in gone))\n"
    )
    found = find(str(path), anywhere=True)
    assert found.passes == ("keep-nothing",)
    run = replay(sketch("S9 U5 | c1:3 r1:40"), found, window=100, count=words)
    assert run.turns[-1].survival == {"whole": 1, "lost": 3}
    assert find(str(path), anywhere=True, settings=["really=false"]).stages[0].passes[0].really is False
    assert find("ctxbudget.passes.sliding_window", anywhere=True).passes == ("sliding-window",)
    with pytest.raises(UnknownName):
        find(str(path))


def test_options_and_stages_are_reported():
    run = replay(sketch("S9 U5"), "priority", window=100, count=words)
    assert run.options["evict-by-priority.below"] == 60
    assert run.options["evict-by-priority#3.below"] == 100
    assert run.stages[0]["when"] == 0.7
    assert run.stages[0]["passes"][0] == {
        "name": "evict-by-priority",
        "ledger": True,
        "below": 60,
        "tail_turns": 6,
        "line": 60,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [("20k", 20_000), ("1.5M", 1_500_000), ("70%", 0.7), ("100_000", 100_000), (".5", 0.5), ("1,000", 1_000)],
)
def test_amounts(text, value):
    assert amount(text) == pytest.approx(value)


@pytest.mark.parametrize("text", [" ", "k", "1e5", "-3", "ten", "1 000", "0x10", "inf", "nan"])
def test_what_is_no_amount(text):
    with pytest.raises(ValueError, match=re.escape(text)):
        amount(text)


def test_our_own_files_hold_no_key_that_is_not_read():
    for path in sorted((Path(__file__).parents[2] / "ctxbudget" / "strategies").glob("*.toml")):
        strategy_of(path.stem, tomllib.loads(path.read_text()), path.name)
