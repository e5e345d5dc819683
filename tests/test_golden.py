"""What `analyze` says of each sample, whole: the terminal's text and the JSON. After an intended change:

pytest tests/test_golden.py --update-goldens -n 0
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import ctxbudget
from ctxbudget.renderers.json import dumped

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden"

SAMPLES = {
    "migrate_module.jsonl": 120_000,
    "refund_support.json": 8_000,
    "order_supplies.json": 8_000,
    "forensic_review.jsonl": 96_000,
    "fix_failing_test.traj": 6_000,
}
"""Each sample with the window of its story (sample_traces/README.md)."""


@pytest.fixture
def report(request, monkeypatch):
    monkeypatch.chdir(ROOT)
    return ctxbudget.analyze(f"sample_traces/{request.param}", window=SAMPLES[request.param])


def compare(name, got, update):
    path = GOLDEN / name
    if update:
        path.write_text(got, encoding="utf-8", newline="\n")
    assert got == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("report,name", [(name, name) for name in SAMPLES], indirect=["report"])
def test_the_terminal_says_the_same(report, name, update_goldens):
    out = io.BytesIO()
    ctxbudget.render(report, "terminal", out, ctxbudget.Look(width=100))
    compare(f"{name}.txt", out.getvalue().decode(), update_goldens)


@pytest.mark.parametrize("report,name", [(name, name) for name in SAMPLES], indirect=["report"])
def test_the_json_says_the_same(report, name, update_goldens):
    data = json.loads(dumped(report.single))
    assert all(sum(turn["layers"].values()) == turn["tokens"] == sum(turn["kinds"].values()) for turn in data["turns"])
    compare(f"{name}.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n", update_goldens)
