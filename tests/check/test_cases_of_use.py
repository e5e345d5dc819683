"""The cases from real use that are about gates: ``tests/cases/ID/expected.json`` says what is right."""

import json
import shlex
from pathlib import Path

import pytest

from ctxbudget.checking import check

CASES = Path(__file__).parents[1] / "cases"


def runs():
    """The commands of the case about gates that measure nothing, and what they must come to."""
    for one in json.loads((CASES / "C88" / "expected.json").read_text(encoding="utf-8"))["run"]:
        yield pytest.param(shlex.split(one["args"]), one["assert"], id=one["args"])


@pytest.mark.parametrize("arguments, expected", list(runs()))
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_gate_that_measured_nothing_does_not_pass(run, arguments, expected, form):
    done = run(*arguments, "--format", form, cwd=CASES / "C88")
    assert expected["cli.exit"].startswith("nonzero")
    assert done.returncode == 2, "not 0, and not the code of a budget that is broken"
    assert expected.get("stderr_mentions", arguments[1]) in done.stderr.decode()
    if form == "json":
        (row,) = json.loads(done.stdout)["checked"]
        assert (row["turns"], row["peak"], row["window"]) == (None, None, None), "null, not 0"
    else:
        assert b"could not check" in done.stdout
    if arguments[1] != "does_not_exist.jsonl":
        assert b"nothing to measure" in done.stderr


def test_a_folder_without_sessions(run, tmp_path):
    (tmp_path / "notes.txt").write_text("no session", encoding="utf-8")
    done = run("check", ".", "--max", "1000", cwd=tmp_path)
    assert done.returncode == 2
    assert b"nothing to measure" in done.stderr


@pytest.mark.parametrize(
    "case, file, options, code, peak",
    [
        ("C12", "rollout-2026-04-01T08-00-00-demo12.jsonl", {}, 0, 33_100),  # never the lifetime total, 191 %
        ("C12", "rollout-2026-04-01T08-00-00-demo12.jsonl", {"max": "66.2%"}, 0, 33_100),
        ("C12", "rollout-2026-04-01T08-00-00-demo12.jsonl", {"max": "66.1%"}, 1, 33_100),
        ("C31", "session.jsonl", {}, 0, 310_000),  # a prompt of 310,000 went through: the window is the larger one
        ("C31", "session.jsonl", {"window": 200_000}, 1, 310_000),  # 155 %, and not clamped
        ("C43", "chat.json", {"window": 1_000}, 1, None),  # the fixed part alone is larger
        ("C43", "chat.json", {"window": 1_000, "strategy": "compaction"}, 1, None),
        ("C49", "session.jsonl", {}, 0, None),  # it ends in the middle of a call: a warning
        ("C69", "cut.jsonl", {}, 0, None),
        ("C58", "session.jsonl", {}, 0, 150_000),  # exactly 75 %
    ],
)
def test_right_verdicts(case, file, options, code, peak):
    report = check(str(CASES / case / file), **options)
    row = report.checked[0]
    assert report.exit_code == code, row.failures
    if peak is not None:
        assert row.peak.tokens == peak


def test_an_assumed_window_is_no_limit(tmp_path):
    """Nothing tells the window of this one: the 200,000 tokens that other commands assume say nothing of it."""
    messages = [{"role": "user", "content": "hi " * 201_000}, {"role": "assistant", "content": "yes"}]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages}), encoding="utf-8")
    row = check(tmp_path / "chat.json", max="1M").checked[0]
    assert row.peak.tokens > 200_000
    assert (row.window, row.peak.fraction, row.failures) == (None, None, [])


def test_the_fraction_is_not_clamped():
    row = check(str(CASES / "C31" / "session.jsonl"), window=200_000).checked[0]
    assert row.peak.fraction == 1.55
    assert {"CB101", "CB102"} <= {one.id for one in row.failures}
