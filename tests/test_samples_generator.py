"""The sample traces are what their generator makes: the same bytes on every machine."""

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parent.parent / "sample_traces"
STORIES = {
    "migrate_module": {"migrate_module.jsonl", "migrate_module/subagents/agent-a3f81c7.jsonl"},
    "refund_support": {"refund_support.json"},
    "order_supplies": {"order_supplies.json"},
    "forensic_review": {"forensic_review.jsonl"},
    "fix_failing_test": {"fix_failing_test.traj"},
}


def make(*arguments):
    command = [sys.executable, "-B", str(SAMPLES / "make"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("story", STORIES)
def test_the_generator_makes_the_committed_bytes(story, tmp_path):
    ran = make(story, "--to", tmp_path)
    assert ran.returncode == 0, ran.stderr
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert made == STORIES[story]
    for name in made:
        assert (tmp_path / name).read_bytes() == (SAMPLES / name).read_bytes(), name


def test_every_committed_trace_has_a_story():
    traces = {path for ending in ("json", "jsonl", "traj") for path in SAMPLES.rglob(f"*.{ending}")}
    names = {path.relative_to(SAMPLES).as_posix() for path in traces if SAMPLES / "formats" not in path.parents}
    assert names == set().union(*STORIES.values())


def test_check_writes_nothing_and_tells_by_its_exit_code(tmp_path):
    assert make("order_supplies", "--check", "--to", tmp_path).returncode == 1
    assert not list(tmp_path.iterdir())
    assert make("order_supplies", "--to", tmp_path).returncode == 0
    assert make("order_supplies", "--check", "--to", tmp_path).returncode == 0
    (tmp_path / "order_supplies.json").write_bytes(b"{}\n")
    assert make("order_supplies", "--check", "--to", tmp_path).returncode == 1
    assert (tmp_path / "order_supplies.json").read_bytes() == b"{}\n"


def test_an_unknown_story_is_an_error_that_lists_the_known_ones():
    ran = make("nonsense")
    assert ran.returncode == 2
    assert "no such story: nonsense" in ran.stderr
