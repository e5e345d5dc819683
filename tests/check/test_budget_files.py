"""Budget files: three forms that say the same, mistakes with their place, overrides, origins, and nothing that acts."""

import json

import pytest

from ctxbudget import config
from ctxbudget.checking import check, fitting
from ctxbudget.config import document, globs, shown
from ctxbudget.config.driven import driven
from ctxbudget.errors import ConfigError
from ctxbudget.layers import SCHEMES, WINDOW
from ctxbudget.loaders import Options, load
from ctxbudget.strategy.naming import find

SAMPLE = """\
context_budget:
  max_input_tokens: 120000
  soft_threshold: 0.70
  hard_threshold: 0.90
  layers:
    system: {pinned: true, max_tokens: 18000}
    tools: {max_tokens: 24000, cache_stable: true}
    working_memory: {max_tokens: 42000, verbatim_tail_turns: 6}
    retrieval: {max_tokens: 36000, strategy: just_in_time}   # kept for the chain that asked, then first to go
"""
TOML = """\
[context_budget]
max_input_tokens = 120000
soft_threshold = 0.70
hard_threshold = 0.90
[context_budget.layers]
system = {pinned = true, max_tokens = 18000}
tools = {max_tokens = 24000, cache_stable = true}
working_memory = {max_tokens = 42000, verbatim_tail_turns = 6}
retrieval = {max_tokens = 36000, strategy = "just_in_time"}
"""
TRACES = ["fix_failing_test.traj", "forensic_review.jsonl", "migrate_module.jsonl", "order_supplies.json",
          "refund_support.json"]  # fmt: skip


def settings(tmp_path, text, name="ctxbudget.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return config.read(document.opened(str(path)))


def test_three_forms_say_the_same(tmp_path):
    inside = TOML.replace("[context_budget", "[tool.ctxbudget.context_budget")
    forms = [("ctxbudget.yaml", SAMPLE), ("ctxbudget.toml", TOML), ("pyproject.toml", inside)]
    budgets = []
    for name, text in forms:
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text(text, encoding="utf-8")
        found = config.discover(tmp_path / name).budget
        budgets.append((found.max_input_tokens, found.soft_threshold, found.hard_threshold, found.layers))
    assert budgets[0] == budgets[1] == budgets[2]
    assert budgets[0][0] == 120_000
    assert budgets[0][3]["working_memory"].verbatim_tail_turns == 6


def test_two_files_in_one_folder_are_refused(tmp_path):
    (tmp_path / "ctxbudget.yaml").write_text(SAMPLE, encoding="utf-8")
    (tmp_path / "ctxbudget.toml").write_text(TOML, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        config.discover(tmp_path)
    assert "ctxbudget.yaml and ctxbudget.toml" in error.value.message


@pytest.mark.parametrize("strategy", [None, "priority"])
def test_the_sample_runs_on_every_trace_in_scheme_window(tmp_path, strategy):
    report = check([f"sample_traces/{name}" for name in TRACES], settings=settings(tmp_path, SAMPLE), strategy=strategy)
    assert [row.status in {"clean", "violated"} for row in report.checked] == [True] * 5
    assert {one.limit_source for row in report.checked for one in row.failures if one.limit} <= {
        f"ctxbudget.yaml:{line}" for line in range(2, 10)
    }
    layers = {one.layer for row in report.checked for one in row.failures if one.id == "CB103"}
    assert layers <= {*WINDOW.layers, "system and tools"}
    assert report.exit_code == 1


def test_hidden_tools_are_held_against_the_sum_of_two_caps(tmp_path):
    """The file of migrate_module does not hold its system prompt and tools: 17,923 tokens were billed for them."""
    text = "context_budget: {layers: {system: {max_tokens: %d}, tools: {max_tokens: 10000}}}"

    def broken(cap):
        row = check("sample_traces/migrate_module.jsonl", max="100%", settings=settings(tmp_path, text % cap)).checked[
            0
        ]
        assert [one.code for one in row.warnings] == ["tools-unseen"]
        return [(one.layer, one.measured, one.limit) for one in row.failures if one.id == "CB103"]

    assert broken(7_923) == []
    assert broken(7_922) == [("system and tools", 17_923, 17_922)]
    alone = check("sample_traces/migrate_module.jsonl", max="100%", max_layer={"tools": "1k"}).checked[0]
    assert "tools could not be measured" in alone.warnings[0].message


MISTAKES = [
    ("context_budget:\n  max_input: 5\n", 2, "unknown setting in [context_budget] 'max_input'", "max_input_tokens"),
    ("context_budget:\n  soft_treshold: 0.7\n", 2, "'soft_treshold'", "did you mean 'soft_threshold'?"),
    ("max_input_tokens: 5\n", 1, "stands outside of context_budget", "under context_budget"),
    ("context_budget:\n  layers:\n    sytem: {max_tokens: 500}\n", 3, "unknown layer 'sytem'", "'system'"),
    ("context_budget:\n  layers:\n    system: {max_tokns: 500}\n", 3, "'max_tokns'", "'max_tokens'"),
    ("context_budget:\n  layers:\n    tools: {}\n    task: {}\n", 4, "layers of different schemes", "agent"),
    ("context_budget:\n  layers:\n    tools: {pinned: maybe}\n", 3, "pinned is 'maybe'", "true or false"),
    ("context_budget:\n  layers:\n    tools: {strategy: later}\n", 3, "'later'", "just_in_time"),
    ("context_budget:\n  hard_threshold: much\n", 2, "is no share and no number of tokens", "75%"),
    ("context_budget:\n  hard_threshold: 80\n", 2, "may mean a share or tokens", "80%"),
    ("context_budget:\n  max_input_tokens: yes\n", 2, "max_input_tokens is True", "a number"),
    ("context_budget:\n  max_input_tokens: .inf\n", 2, "is no number of tokens", "200k"),
    ("context_budget:\n  soft_threshold: 0.9\n  hard_threshold: 0.7\n", 2, "above hard_threshold", "the larger"),
    ("context_budget:\n  growth: 1k\n  growth: 2k\n", 3, "stands here twice", "one of them"),
    ("context_budget:\n  overrides:\n    - growth: 5k\n", 3, "an override without paths", "paths"),
    ("context_budget:\n  overrides:\n    - paths: ['../other']\n", 3, "cannot match", "relative to the folder"),
    ("context_budget:\n  layers: {task: 5k}\n", 2, "context_budget.layers.task is not a table", "write task: with"),
    ("context_budget:\n  overrides: {growth: 5k}\n", 2, "not a list of tables", "dash"),
    ("check:\n  severity: {CB104: fatal}\n", 2, "unknown level 'fatal'", "error, note, warning"),
    ("check:\n  severity: {CB999: error}\n", 2, "unknown rule 'CB999'", ""),
    ("check:\n  ignore: [XY]\n", 2, "unknown rule 'XY'", ""),
    ("context_budget: [\n", 2, "", "read as YAML"),
    ("- 3\n", 1, "no mapping", "names and values"),
    ("a: &x 1\nb: *x\n", 1, "an anchor", "write the value out"),
    ("a: !!python/object/apply:os.system [ls]\n", 1, "a value of the type", "texts, numbers"),
    ("[" * 5000, 1, "nested too deep", "levels"),
    ("llm_url: http://example.org\n", 1, "unknown setting 'llm_url'", ""),
    ("store: /tmp\n", 1, "unknown setting 'store'", ""),
    ("summariser: llm\n", 1, "unknown setting 'summariser'", ""),
    ("strategy: ./mine.py\n", 1, "unknown setting 'strategy'", ""),
]  # fmt: skip


@pytest.mark.parametrize("text, line, words, hint", MISTAKES, ids=[row[0][:50] for row in MISTAKES])
def test_a_mistake_has_its_line_and_the_nearest_key(tmp_path, text, line, words, hint):
    with pytest.raises(ConfigError) as error:
        settings(tmp_path, text)
    assert error.value.message.startswith(f"{tmp_path / 'ctxbudget.yaml'}:{line}: ")
    assert words in error.value.message
    assert hint in error.value.hint


def test_a_file_cannot_name_code(tmp_path):
    """A dotted path where a preset's name stands is no name: only a command line may load code."""
    with pytest.raises(ConfigError):
        settings(tmp_path, "context_budget: {layers: {retrieval: {strategy: os.system}}}")


OVERRIDES = """\
context_budget:
  hard_threshold: 0.5
  layers: {observation: {max_tokens: 40k}}
  overrides:
    - paths: ["long/**"]
      hard_threshold: 0.9
    - paths: ["long/deep/*.jsonl", "odd.jsonl"]
      layers: {observation: {max_tokens: 90k}, task: {max_tokens: 1k}}
"""


def test_overrides_for_some_paths(tmp_path, monkeypatch):
    found = settings(tmp_path, OVERRIDES)

    def held(path):
        budget = found.budget_for(str(tmp_path / path))
        return budget.hard_threshold.text, {name: cap.max_tokens.text for name, cap in budget.layers.items()}

    assert held("a.jsonl") == ("50 %", {"observation": "40,000"})
    assert held("long/a.jsonl") == ("90 %", {"observation": "40,000"})
    assert held("long/deep/a.jsonl") == ("90 %", {"observation": "90,000", "task": "1,000"})
    assert held("any/where/odd.jsonl")[1] == {"observation": "90,000", "task": "1,000"}
    (tmp_path / "long").mkdir()
    monkeypatch.chdir(tmp_path / "long")
    assert found.budget_for("a.jsonl").hard_threshold.text == "90 %", "relative to the file, not the working folder"


def test_an_override_reaches_the_check(tmp_path, session):
    found = settings(tmp_path, OVERRIDES)
    paths = [session("a.jsonl", [100, 700], into=tmp_path), session("a.jsonl", [100, 700], into=tmp_path / "long")]
    report = check(paths, window=1_000, settings=found)
    assert [row.status for row in report.checked] == ["violated", "clean"]
    assert report.checked[0].failures[0].limit_source == "ctxbudget.yaml:2"
    assert report.checked[1].peak.limit_source == "ctxbudget.yaml:6"


@pytest.mark.parametrize(
    "path, pattern, expected",
    [
        ("a/b/c.jsonl", "**/c.jsonl", True),
        ("c.jsonl", "**/c.jsonl", True),
        ("a/b/c.jsonl", "a/*/c.jsonl", True),
        ("a/b/x/c.jsonl", "a/*/c.jsonl", False),
        ("a/b/x/c.jsonl", "a/**/c.jsonl", True),
        ("a/c.jsonl", "a/**/c.jsonl", True),
        ("a/b.jsonl", "a/**", True),
        ("ab/b.jsonl", "a/**", False),
        ("a/b.jsonl", "*.jsonl", True),
        ("a/b.jsonl", "a/*.json", False),
        ("a/b1.jsonl", "a/b[0-9].jsonl", True),
        ("a/A.jsonl", "a/a.jsonl", False),
        ("x/" * 60 + "y", "**/" * 60 + "z", False),
    ],
)
def test_patterns(path, pattern, expected):
    assert globs.matches(path, pattern) is expected


def test_every_value_knows_where_it_came_from(tmp_path):
    rows = {row.key: (row.value, row.origin) for row in shown.rows(settings(tmp_path, SAMPLE))}
    assert rows["context_budget.max_input_tokens"] == ("120,000", "ctxbudget.yaml:2")
    assert rows["context_budget.layers.retrieval.strategy"] == ("just_in_time", "ctxbudget.yaml:9")
    assert rows["context_budget.growth"] == ("50 % of the window, a warning", "default")
    assert rows["check.select"] == ("CB1, CB2", "default")
    inside = settings(tmp_path, OVERRIDES)
    of_path = {row.key: (row.value, row.origin) for row in shown.rows(inside, str(tmp_path / "long" / "a.jsonl"))}
    assert of_path["context_budget.hard_threshold"] == ("90 %", "ctxbudget.yaml:6")
    everywhere = [row for row in shown.rows(inside) if "for long/**" in row.key]
    assert [(row.value, row.origin) for row in everywhere] == [("90 %", "ctxbudget.yaml:6")]


def test_show_and_init_as_commands(run, tmp_path, session):
    session("a.jsonl", [100, 70_000, 500], into=tmp_path, results=["x " * 300])
    made = run("config", "init", "a.jsonl", "-o", "ctxbudget.yaml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr.decode()
    text = (tmp_path / "ctxbudget.yaml").read_text(encoding="utf-8")
    assert "seen: 70,000 at most (a.jsonl, turn 2)" in text
    checked = run("check", "a.jsonl", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout.decode()
    rows = json.loads(run("config", "show", "--json", cwd=tmp_path).stdout)
    assert {"key": "context_budget.hard_threshold", "value": "90 %", "origin": "ctxbudget.yaml:6"} in rows
    assert b"hard_threshold" in run("config", "show", cwd=tmp_path).stdout
    assert run("config", "init", "a.jsonl", "-o", "ctxbudget.yaml", cwd=tmp_path).returncode == 2


FITTED = [
    # the fullest turn, the window, soft, hard, the levels that a check under it then finds
    (50_000, 100_000, "0.70", "0.90", []),
    (70_000, 100_000, "0.70", "0.90", []),
    (75_920, 100_000, "0.76", "0.90", []),
    (88_001, 100_000, "0.89", "0.94", []),
    (95_500, 100_000, "0.96", "1.00", []),
    (100_000, 100_000, "1.00", "1.00", []),
    (100_001, 100_000, "1.00", "1.00", ["error", "error"]),
]


@pytest.mark.parametrize("peak, window, soft, hard, levels", FITTED)
def test_what_init_writes_does_not_warn_at_once(tmp_path, session, peak, window, soft, hard, levels):
    path = session("fit.jsonl", [100, peak], into=tmp_path)
    text = fitting.written(fitting.fitted(load(str(path)), SCHEMES["agent"], window), SCHEMES["agent"])
    assert f"soft_threshold: {soft} " in text
    assert f"hard_threshold: {hard} " in text
    assert ("Not all of them stay within their window" in text) is bool(levels)
    report = check(path, window=window, settings=settings(tmp_path, text))
    assert [one.level for one in report.failures] == levels


def test_nor_where_the_window_is_unknown(tmp_path):
    chat = {"messages": [{"role": "user", "content": "hi " * 60_000}, {"role": "assistant", "content": "yes"}]}
    (tmp_path / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    fit = fitting.fitted(load(str(tmp_path / "chat.json")), SCHEMES["agent"])
    text = fitting.written(fit, SCHEMES["agent"])
    assert fit.fullest is None
    assert f"max_input_tokens: {-(-fit.peak.tokens * 5 // 4000) * 1000} " in text
    assert "soft_threshold: 0.79 " in text
    assert "growth: 1000  # one turn may add; none seen" in text, "the first turn is the start, not growth"
    assert check(tmp_path / "chat.json", settings=settings(tmp_path, text)).failures == []


@pytest.mark.parametrize("scheme", ["agent", "window"])
def test_what_init_writes_is_kept_by_the_traces_it_was_fitted_to(tmp_path, scheme):
    paths = [f"sample_traces/{name}" for name in TRACES]
    fit = fitting.fitted(fitting.read(paths, Options(), None, []), SCHEMES[scheme])
    found = settings(tmp_path, fitting.written(fit, SCHEMES[scheme]))
    report = check(paths, settings=found)
    assert report.failures == []
    assert report.exit_code == 0
    assert set(found.budget.layers) <= set(SCHEMES[scheme].layers)


def test_the_budget_drives_the_priority_preset(tmp_path):
    found = settings(tmp_path, SAMPLE).budget
    strategy = driven(find("priority"), found)
    main = next(stage for stage in strategy.stages if stage.until is not None)
    assert (main.when, round(main.until)) == (84_000, 72_000)
    assert strategy.stages[-1].when == 108_000
    assert {one.tail_turns for one in main.passes} == {6}
    assert "system_prompt" in strategy.pin
    assert driven(find("clear"), found) == find("clear")
    row = check("sample_traces/migrate_module.jsonl", settings=settings(tmp_path, SAMPLE), strategy="priority").checked[
        0
    ]
    (trace,) = load("sample_traces/migrate_module.jsonl")
    plain = check(trace, strategy="priority", max="100%").checked[0]
    assert row.peak.tokens < plain.peak.tokens
    assert row.peak.tokens <= 108_000
