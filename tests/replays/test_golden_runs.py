"""What `replay` and `compare` say of samples, whole. After an intended change:

pytest tests/replays/test_golden_runs.py --update-goldens -n 0
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import ctxbudget

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"

RUNS = {
    "migrate_module.sliding-window": ("migrate_module.jsonl", "sliding-window", 120_000),
    "refund_support.recursive-summary": ("refund_support.json", "recursive-summary", 8_000),
    "forensic_review.external-memory": ("forensic_review.jsonl", "external-memory", 96_000),
}
"""Each with the window of its sample's story (sample_traces/README.md)."""
COMPARED = ("none", "sliding-window", "tool-result-clearing", "recursive-summary")


@pytest.fixture
def same(update_goldens):
    """Whether a report reads as it did, 100 columns wide."""

    def check(report, name):
        out = io.BytesIO()
        ctxbudget.render(report, "terminal", out, ctxbudget.Look(width=100))
        path = GOLDEN / name
        if update_goldens:
            path.write_text(out.getvalue().decode(), encoding="utf-8", newline="\n")
        assert out.getvalue().decode() == path.read_text(encoding="utf-8")

    return check


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reads_the_same(name, same, monkeypatch):
    monkeypatch.chdir(ROOT)
    file, strategy, window = RUNS[name]
    same(ctxbudget.replay(f"sample_traces/{file}", strategy, window=window), f"{name}.replay.txt")


def test_a_comparison_reads_the_same(same, monkeypatch):
    monkeypatch.chdir(ROOT)
    same(ctxbudget.compare("sample_traces/order_supplies.json", COMPARED, window=8_000), "order_supplies.compare.txt")
