"""Real edit logs of other people's agents, beside the checkout; absent, these skip. The index against plain reading."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest

from ctxbudget.evidence import Signal, holds, index
from ctxbudget.evidence.sources import NEWEST, OLDEST, is_observed
from ctxbudget.loaders import Options, load

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "real_traces"
SPOTTER = "claude_code/spotter"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")


def files():
    found = [
        path for name in ("claude_code", "swe_agent") for path in sorted((REAL / name).rglob("*")) if path.is_file()
    ]
    return [str(path.relative_to(REAL)) for path in found if "subagents" not in path.parts]


@cache
def members(name):
    return [member for trace in load(str(REAL / name), Options(calibrate=False)) for member in trace.family()]


def bounded(ids):
    return ids if len(ids) <= OLDEST + NEWEST else (*ids[:OLDEST], *ids[-NEWEST:])


@pytest.mark.parametrize("name", files())
def test_sources_are_what_reading_every_earlier_fragment_finds(name):
    for member in members(name):
        evidence = index(member)
        for use in (*evidence.of(Signal.EDIT), *evidence.of(Signal.ARGUMENT)):
            reached = [fragment for fragment in member.fragments if fragment.turn <= use.turn]
            holding = [fragment for fragment in reached if holds(fragment.text, use)]
            if use.kind is Signal.ARGUMENT:
                assert all(is_observed(fragment) for fragment in holding)
            assert use.sources == bounded(tuple(fragment.id for fragment in holding))


@pytest.mark.parametrize("name", files())
def test_no_fragment_holds_what_is_said_to_be_held_only_in_parts(name):
    for member in members(name):
        for use in index(member).partly:
            assert not any(holds(fragment.text, use) for fragment in member.fragments if fragment.turn <= use.turn)


LEAST = {
    f"{SPOTTER}/ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl": {"D1": 65, "partly": 2, "D4": 28, "D5": 16},
    f"{SPOTTER}/fa812bfe-b295-4cca-9c2f-fdf01028cb46.jsonl": {"D1": 50, "partly": 0, "D4": 22, "D5": 9},
    "claude_code/gitai-1.0.111.jsonl": {"D1": 7, "partly": 0, "D4": 5, "D5": 0},
    "swe_agent/smith-pandas-53652.traj": {"D1": 2, "partly": 0, "D4": 0, "D5": 1},
    "swe_agent/marshmallow-1867-replay.traj": {"D1": 1, "partly": 0, "D4": 0, "D5": 1},
}


@pytest.mark.parametrize("name", LEAST)
def test_counts_of_the_long_edit_logs(name):
    evidence = index(members(name)[0])
    found = {kind: len(evidence.partly if kind == "partly" else evidence.of(Signal(kind))) for kind in LEAST[name]}
    assert found == LEAST[name]


def test_a_refused_edit_made_again_is_a_loop():
    name = "claude_code/lantern-inline-sidechain-1.0.98.jsonl"
    looped = [use for member in members(name) for use in index(member).of(Signal.LOOP) if use.failed]
    assert [(use.turn, use.target.rsplit("/", 1)[-1]) for use in looped] == [
        (17, "page.tsx"),
        (11, "index.ts"),
        (21, "state.ts"),
    ]


@pytest.mark.timed
def test_a_long_session_takes_well_under_a_second():
    (member, *_) = members(f"{SPOTTER}/fa812bfe-b295-4cca-9c2f-fdf01028cb46.jsonl")
    best = min(_seconds(member) for _ in range(3))
    assert best < 0.5


def _seconds(member):
    begun = time.perf_counter()
    index(member)
    return time.perf_counter() - begun
