"""mini-swe-agent: bare lists with fenced actions, documents with calls, dropped replies, what was submitted."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, mini_swe_agent, sniff
from ctxbudget.records import read
from ctxbudget.trace import Outcome, Usage

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "mini_swe_agent"
PLAIN = Options(calibrate=False)

FENCE = "look\n```mswea_bash_command\nls\n```"
SEEN = "<returncode>0</returncode>\n<output>\na\n</output>"


def loaded(tmp_path, document):
    path = tmp_path / "run.traj.json"
    path.write_text(json.dumps(document))
    [trace] = load(str(path), PLAIN)
    assert trace.source.format == "mini-swe-agent"
    return trace


def said(role, content, **more):
    return {"role": role, "content": content, **more}


def run(*messages, **info):
    return {"info": {"mini_version": "1", **info}, "messages": messages, "trajectory_format": "mini-swe-agent-1"}


def kinds(parts):
    return [str(part.kind) for part in parts]


def texts(parts):
    return [part.text for part in parts]


def test_the_sample_of_today():
    [trace] = load(str(SAMPLES / "mini_swe_agent.json"), PLAIN)
    assert (trace.source.format, trace.model) == ("mini-swe-agent", "openai/gpt-5-mini")
    assert Counter(kinds(trace.fragments)) == {
        "system_prompt": 1, "user": 1, "reasoning": 2, "call": 4, "result": 4, "injected": 1,
    }  # fmt: skip
    assert [turn.usage for turn in trace.turns] == [
        Usage(420, 0, 0, 90, 40, 510),
        Usage(226, 384, 0, 30, 0, 640),
        Usage(178, 512, 0, 25, 0, 715),
        None,
    ]
    assert [one.key for one in trace.billed] == ["chatcmpl-1", "chatcmpl-2", "chatcmpl-3"]
    assert unpaired(trace) == ([], [])
    assert [part.error for part in trace.fragments if part.answers] == [False, True, False, False]
    assert trace.outcome == Outcome(None, None, "info.exit_status: Submitted")
    assert [warning.code for warning in trace.warnings] == ["calls-missing"]


def test_the_sample_of_version_0():
    [trace] = load(str(SAMPLES / "mini_swe_agent-list.json"), PLAIN)
    assert Counter(kinds(trace.fragments)) == {
        "system_prompt": 1, "user": 1, "reasoning": 3, "call": 3, "result": 3, "answer": 1, "injected": 1,
    }  # fmt: skip
    assert unpaired(trace) == ([], [])
    assert [part.resource.cls for part in trace.fragments if part.asks] == ["read", "search", "edit"]
    assert [turn.pending for turn in trace.turns] == [False] * 4 + [True]


def test_every_character_of_a_reply_is_kept_once(tmp_path):
    messages = [said("system", "s"), said("user", "t"), said("assistant", FENCE + "\nthen stop"), said("user", SEEN)]
    trace = loaded(tmp_path, messages)
    assert texts(trace.fragments)[2:] == ["look\n", "```mswea_bash_command\nls\n```", "\nthen stop", SEEN]


@pytest.mark.parametrize(
    "text, acts",
    [
        ("```bash\nls\n```", True),
        ("<mswea_bash_command>ls</mswea_bash_command>", True),
        (FENCE + FENCE, False),
        ("```python\nls\n```", False),
        ("no action", False),
    ],
)
def test_exactly_one_block_is_an_action(tmp_path, text, acts):
    trace = loaded(tmp_path, run(said("system", "s"), said("user", "t"), said("assistant", text), said("user", "x")))
    assert any(part.asks for part in trace.fragments) is acts
    assert kinds(trace.fragments)[-1] == ("result" if acts else "injected")


def test_items_of_the_responses_interface(tmp_path):
    usage = {"input_tokens": 90, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 64}}
    call = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'}
    reply = {"object": "response", "id": "resp_1", "model": "gpt-5", "output": [call], "usage": usage}
    result = {"type": "function_call_output", "call_id": "c1", "output": SEEN}
    trace = loaded(tmp_path, run(said("system", "s"), said("user", "t"), reply, result))
    assert kinds(trace.fragments) == ["system_prompt", "user", "call", "result"]
    assert trace.turns[0].usage == Usage(26, 64, 0, 9, None, 99)
    assert unpaired(trace) == ([], [])


def test_a_complaint_is_no_result(tmp_path):
    call = {"id": "c", "function": {"name": "bash", "arguments": "{}"}}
    complaint = said("user", "interrupted", extra={"interrupt_type": "UserInterruption"})
    trace = loaded(tmp_path, run(said("user", "t"), said("assistant", "", tool_calls=[call]), complaint))
    assert kinds(trace.fragments) == ["user", "call", "injected"]


@pytest.mark.parametrize("name", ["order_supplies.json", "refund_support.json"])
def test_plain_messages_are_not_taken(name):
    assert sniff(read(str(ROOT / "sample_traces" / name)))["mini-swe-agent"] == 0


def test_a_list_that_only_quotes_a_block_is_not_taken():
    messages = [said("system", "s"), said("user", "how?"), said("assistant", FENCE), said("user", "thanks")]
    assert mini_swe_agent.sniff(json.dumps(messages).encode(), "a.json") == 0


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_list():
    """Ten replies; what the last command gave follows, and no call saw it."""
    path = REAL / "github_issue-v0-list.traj.json"
    [trace] = load(str(path))
    assert (trace.source.format, sum(not turn.pending for turn in trace.turns)) == ("mini-swe-agent", 10)
    assert unpaired(trace) == ([], [])
    assert sum(part.asks for part in trace.fragments) == 10
    messages = json.loads(path.read_text())
    assert "".join(texts(trace.fragments)) == "".join(message["content"] for message in messages)
