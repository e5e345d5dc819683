"""Whatever the bytes: a trace whose sums hold, or one clean error. Nothing else, and nothing lost without a word."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxbudget.errors import CtxbudgetError
from ctxbudget.layers import AGENT
from ctxbudget.ledger import context, entries
from ctxbudget.loaders import LOADERS, Options, load
from ctxbudget.report.build import build
from ctxbudget.safe import visible

SAMPLES = sorted(
    path
    for path in (Path(__file__).parents[1] / "sample_traces").iterdir()
    if path.suffix in {".json", ".jsonl", ".traj"}
)
"""Five formats."""

quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([
        "type", "role", "content", "message", "text", "uuid", "parentUuid", "sessionId", "isSidechain", "usage", "id",
        "input_tokens", "output_tokens", "tool_use_id", "name", "input", "payload", "timestamp", "messages", "tools",
        "history", "trajectory", "info", "query", "kind", "ctxbudget", "call_id", "function", "arguments", "tool_calls",
    ]), inner, max_size=6),
    max_leaves=25,
)  # fmt: skip
"""JSON with the words of our formats in all the wrong places."""


def check(path, options=Options()):  # noqa: B008 - frozen
    """Load a file and hold every promise about it, or see one clean error."""
    try:
        traces = load(str(path), options)
    except CtxbudgetError as error:
        assert error.message
        assert "\n" not in visible(error.message)
        return
    for trace in traces:
        for member in trace.family():
            for entry in entries(member, AGENT):
                assert sum(entry.layers.values()) == sum(entry.kinds.values()) == entry.tokens
                assert min(entry.layers.values()) >= 0
            for turn in member.turns:
                assert 0 <= turn.start <= turn.stop <= len(member.fragments)
            if member.turns:
                context(member, member.turns[-1].index)
    build(traces, AGENT, with_estimators=True, with_fragments=True)


@pytest.mark.parametrize("name", [None, *LOADERS.names()])
@quick
@given(data=st.binary(max_size=400))
def test_any_bytes(tmp_path, name, data):
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    check(path, Options(format=name))


@pytest.mark.parametrize("name", [None, *LOADERS.names()])
@quick
@given(values=st.lists(json_values, min_size=1, max_size=6))
def test_any_json(tmp_path, name, values):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    check(path, Options(format=name))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1))
def test_any_cut_of_a_sample(tmp_path, sample, share):
    whole = sample.read_bytes()
    path = tmp_path / sample.name
    path.write_bytes(whole[: int(share * len(whole))])
    check(path)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_any_damage_to_a_sample(tmp_path, sample, seed):
    chance = random.Random(seed)
    data = bytearray(sample.read_bytes())
    for _ in range(chance.randrange(1, 30)):
        at = chance.randrange(len(data))
        data[at : at + chance.randrange(0, 40)] = chance.randbytes(chance.randrange(0, 20))
    path = tmp_path / sample.name
    path.write_bytes(bytes(data))
    check(path)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_same_input_gives_the_same_report(sample):
    first, second = (build(load(str(sample)), AGENT, with_fragments=True) for _ in range(2))
    assert first == second
