"""A project's budget drives ``priority`` in a replay and a comparison as it does in a check."""

import json
from pathlib import Path

import forked
import pytest

from ctxbudget import config
from ctxbudget.checking import check
from ctxbudget.comparing import compare
from ctxbudget.config import document
from ctxbudget.errors import UnknownName
from ctxbudget.prepared import prepare
from ctxbudget.replays import replay

SAMPLE = str(Path(__file__).parents[2] / "sample_traces" / "migrate_module.jsonl")
WINDOW_LAYERS = "layers: {working_memory: {max_tokens: 42000, verbatim_tail_turns: 4}, system: {pinned: true}}"
AGENT_LAYERS = "layers: {observation: {max_tokens: 30000}}"
WHOLE = "max_input_tokens: 120000, soft_threshold: 0.70, hard_threshold: 0.90"


def settings(folder, text):
    (folder / "ctxbudget.yaml").write_text(text, encoding="utf-8")
    return config.read(document.opened(str(folder / "ctxbudget.yaml")))


def of(folder, *parts):
    return settings(folder, f"context_budget: {{{', '.join(parts)}}}\n")


@pytest.mark.parametrize("parts", [(WHOLE,), (WHOLE, WINDOW_LAYERS), (WHOLE, AGENT_LAYERS), (AGENT_LAYERS,)])
def test_replay_compare_and_check_agree(tmp_path, parts):
    found = of(tmp_path, *parts)
    report = replay(SAMPLE, "priority", settings=found, placebo=False)
    (row,) = check(SAMPLE, settings=found, strategy="priority").checked
    assert (report.peak.tokens, report.peak.turn) == (row.peak.tokens, row.peak.turn)
    (compared,) = compare(SAMPLE, ["priority"], settings=found, placebo=False).pooled
    assert (compared.peak, compared.sent) == (report.peak.tokens, sum(turn.tokens for turn in report.turns))
    assert report.description.endswith("those of the project's budget.")
    assert report.peak.tokens < replay(SAMPLE, "priority", placebo=False).peak.tokens


def test_only_the_preset_of_that_name_is_driven(tmp_path):
    found = of(tmp_path, WHOLE, WINDOW_LAYERS)
    rows = {row.strategy: row for row in compare(SAMPLE, ["clear", "none"], settings=found, placebo=False).pooled}
    for row in compare(SAMPLE, ["clear", "none"], placebo=False).pooled:
        assert rows[row.strategy].peak == row.peak
    assert prepare(SAMPLE, "priority", settings=found).scheme.name == "window"
    assert prepare(SAMPLE, "clear", settings=found).scheme.name == "agent"


def test_what_is_set_wins_over_the_budget(tmp_path):
    found = of(tmp_path, WHOLE)
    stages = prepare(SAMPLE, "priority", settings=found, options=["evict-by-priority.when=50000"]).strategy.stages
    assert [stage.when for stage in stages] == [50_000, 108_000]
    with pytest.raises(UnknownName):
        prepare("no such file", "priority", settings=found, options=["evict-by-priority.wen=1"])


def test_the_last_override_that_matches_drives(tmp_path):
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "one.jsonl").write_bytes(Path(SAMPLE).read_bytes())
    found = of(tmp_path, WHOLE, "overrides: [{paths: ['long/**'], soft_threshold: 30000}]")
    stages = prepare(str(tmp_path / "long" / "one.jsonl"), "priority", settings=found).strategy.stages
    assert [stage.when for stage in stages] == [30_000, 108_000]


def test_facts_of_the_budget_are_kept_once(tmp_path):
    found = of(tmp_path, "must_keep: [legacy]")
    ready = prepare(SAMPLE, "sliding-window", settings=found, must_keep=["legacy"])
    assert [fact.raw for fact in ready.facts] == ["legacy"]


def test_the_commands_find_the_file(tmp_path):
    of(tmp_path, WHOLE, WINDOW_LAYERS)

    def ran(*arguments):
        return json.loads(forked.run(*arguments, "--format", "json", "-q", cwd=tmp_path).stdout)

    checked = ran("check", SAMPLE, "--strategy", "priority")["checked"][0]["peak"]["tokens"]
    replayed = ran("replay", SAMPLE, "-s", "priority", "--no-placebo")["peak"]["tokens"]
    compared = ran("compare", SAMPLE, "-s", "priority", "--no-placebo")["pooled"][0]["peak"]
    assert checked == replayed == compared
