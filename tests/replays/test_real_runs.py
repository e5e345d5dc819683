"""Recorded truth: on real sessions with compactions, ``as-recorded`` comes out where the provider's counts were."""

from pathlib import Path
from statistics import median

import pytest

from ctxbudget.loaders import load
from ctxbudget.replays import replay
from ctxbudget.strategy.naming import STRATEGIES

REAL = Path(__file__).parents[3] / "shared" / "real_traces"
TRIMMED = "agent-sessions-all-record-types.jsonl"
"""Its texts were replaced by a placeholder: good for record kinds, not for counts."""

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")


def compacted():
    if not REAL.is_dir():
        return []
    files = [path for path in sorted((REAL / "claude_code").rglob("*.jsonl")) if path.name != TRIMMED]
    return [path for path in files if b'"compact_boundary"' in path.read_bytes()]


@pytest.fixture(scope="module")
def trace(request):
    return load(str(request.param))[0]


@pytest.mark.parametrize("trace", compacted(), ids=lambda path: path.name, indirect=True)
def test_as_recorded_is_what_was_reported_on_both_sides_of_each_boundary(trace):
    report = replay(trace, "as-recorded", placebo=False)
    assert len(trace.recorded) >= 1
    for each in trace.recorded:
        for side in (slice(0, each.turn - 1), slice(each.turn - 1, None)):
            pairs = list(zip(report.turns[side], trace.turns[side], strict=True))
            errors = [abs(row.tokens / turn.reported - 1) for row, turn in pairs if turn.reported]
            assert median(errors) <= 0.05


@pytest.mark.parametrize("trace", compacted(), ids=lambda path: path.name, indirect=True)
def test_every_preset_replays_a_real_session(trace):
    for name in STRATEGIES.names():
        report = replay(trace, name, placebo=False)
        assert len(report.turns) == len(trace.turns)
        assert all(row.tokens == sum(row.layers.values()) for row in report.turns)
        if name not in {"as-recorded", "none"}:
            assert any(one.code == "recorded-compactions" for one in report.warnings)
