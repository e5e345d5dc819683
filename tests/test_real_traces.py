"""Real files of other people's agents, beside the checkout. Nothing of them is in the project; absent, these skip."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from ctxbudget import models
from ctxbudget.calibrate import points
from ctxbudget.fit import held_out
from ctxbudget.layers import AGENT, WINDOW
from ctxbudget.ledger import context, entries, unpaired
from ctxbudget.loaders import Options, load

REAL = Path(__file__).parents[2] / "shared" / "real_traces"
FORMATS = tuple(sorted(path.name for path in REAL.iterdir() if path.is_dir())) if REAL.is_dir() else ()

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")

TRIMMED = "agent-sessions-all-record-types.jsonl"
"""Its texts were replaced by a placeholder: good for record kinds, not for counts."""

ORPHANS = {"openhands/v1-sdk-events.jsonl": 1}
"""Results that really lack their call: a piece of a longer log."""


def files(*formats):
    found = [path for name in formats for path in sorted((REAL / name).rglob("*")) if path.is_file()]
    return [str(path.relative_to(REAL)) for path in found]


@cache
def traces(name, calibrate=True):
    return tuple(load(str(REAL / name), Options(calibrate=calibrate)))


@pytest.mark.parametrize("name", files(*FORMATS))
def test_it_loads_and_every_sum_holds(name):
    for trace in traces(name):
        for member in trace.family():
            for scheme in (AGENT, WINDOW):
                for entry in entries(member, scheme):
                    assert sum(entry.layers.values()) == sum(entry.kinds.values()) == entry.tokens
                    assert min(entry.layers.values()) >= 0
            if member.turns:
                last = member.turns[-1].index
                assert sum(f.tokens for f in context(member, last)) == list(entries(member, AGENT))[-1].tokens


@pytest.mark.parametrize("name", files(*FORMATS))
def test_no_result_is_an_orphan_that_is_not_one_in_the_file(name):
    for trace in traces(name):
        for member in trace.family():
            _, orphans = unpaired(member)
            assert len(orphans) == ORPHANS.get(name, 0) or TRIMMED in name


@pytest.mark.parametrize("name", files("claude_code", "codex_rollout"))
def test_what_can_be_calibrated_is_within_five_percent_held_out(name):
    for trace in traces(name, False):
        for member in trace.family():
            calls = points(member)
            counts = [point.counted + point.fixed for point in calls]
            if len(calls) >= 10 and max(counts) - min(counts) >= 5_000:
                assert max(held_out(calls)) <= 0.05


@pytest.mark.parametrize("name", [*files("codex_rollout"), f"claude_code/{TRIMMED}"])
def test_files_without_their_texts_are_not_calibratable(name):
    (trace,) = traces(name)
    assert trace.calibration is None or not trace.calibration.trusted


def compacted():
    return [name for name in files("claude_code") if TRIMMED not in name and any(t.recorded for t in traces(name))]


@pytest.mark.parametrize("name", compacted() if REAL.is_dir() else [])
def test_the_context_before_and_after_a_compaction_is_what_was_reported(name):
    (trace,) = traces(name)
    ledger = list(entries(trace, AGENT))
    for compaction in trace.recorded:
        at = compaction.turn - 1
        assert ledger[at].before == pytest.approx(compaction.pre_tokens, rel=0.03)
        for side in (ledger[:at], ledger[at:]):
            drifts = [abs(e.tokens / e.turn.reported - 1) for e in side if e.turn.reported]
            assert median(drifts) <= 0.05


@pytest.mark.parametrize("name", compacted() if REAL.is_dir() else [])
def test_the_window_is_the_harness_s_not_the_model_s(name):
    (trace,) = traces(name)
    assert models.window_of(trace).tokens == 200_000
    assert models.list_window(trace.model) in {None, 200_000, 1_000_000}


@pytest.mark.parametrize("name", files(*FORMATS))
def test_ids_are_unique_and_turns_are_in_order(name):
    for trace in traces(name):
        for member in trace.family():
            put = [f for c in member.recorded for f in c.edit.inserted]
            ids = [f.id for f in (*member.fragments, *put)]
            assert len(ids) == len(set(ids))
            assert all(a.turn <= b.turn for a, b in pairwise(member.fragments))
