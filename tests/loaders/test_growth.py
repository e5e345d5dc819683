"""Long sessions with many compactions, clearings and runs: the work grows with the records, not with their square."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest

from ctxbudget.loaders import Options, load

MANY = 6_000
SAMPLES = Path(__file__).parents[2] / "sample_traces" / "formats"


def jsonl(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def goose_pairs():
    """Every call in the context is summarised alone, the oldest first."""
    talk = [{"role": "user", "created": 1, "content": [{"type": "text", "text": "go"}]}]
    for at in range(MANY):
        call = {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}
        result = {"status": "success", "value": [{"type": "text", "text": "x"}]}
        asked = {"type": "toolRequest", "id": f"c{at}", "toolCall": call}
        told = {"type": "toolResponse", "id": f"c{at}", "toolResult": result}
        talk.append({"role": "assistant", "created": at + 2, "content": [asked]})
        talk.append({"role": "user", "created": at + 2, "content": [told]})
    hidden = {"userVisible": False, "agentVisible": True}
    for at in range(MANY):
        content = [{"type": "text", "text": f"summary {at}"}]
        talk.append({"role": "user", "created": MANY + at, "content": content, "metadata": hidden})
    return json.dumps({"id": "x", "working_dir": "/w", "conversation": talk})


def opencode_clearings():
    """Every result is cleared some thousand calls later, one at a time."""
    messages = [{"info": {"id": "u", "role": "user"}, "parts": [{"type": "text", "text": "go"}]}]
    for at in range(MANY):
        state = {"status": "completed", "input": {}, "output": "x", "time": {"compacted": at + MANY // 2}}
        part = {"id": f"p{at}", "type": "tool", "tool": "bash", "callID": f"c{at}", "state": state}
        tokens = {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        info = {"id": f"m{at}", "role": "assistant", "modelID": "gpt-5", "time": {"created": at}, "tokens": tokens}
        messages.append({"info": {**info, "finish": "tool-calls"}, "parts": [part]})
    return json.dumps({"info": {"id": "ses_1", "directory": "/w"}, "messages": messages})


def openhands_ranges():
    """Each event of the first half is condensed away by a range of its own."""
    events = [{"id": 0, "source": "user", "action": "message", "args": {"content": "go"}}]
    for at in range(1, MANY):
        events.append({"id": 2 * at, "source": "user", "action": "message", "args": {"content": "more"}})
        ends = {"forgotten_events_start_id": at, "forgotten_events_end_id": at + 1, "summary": "s"}
        events.append({"id": 2 * at + 1, "source": "agent", "action": "condensation", "args": ends})
    return json.dumps(events)


def cline_truncations():
    """A notice of a truncation behind every second reply."""
    messages = []
    for at in range(MANY):
        hidden = {"truncationParent": f"t{at}"}
        messages.append({"role": "user", "content": [{"type": "text", "text": "x"}], "ts": 10 * at, **hidden})
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "y"}], "ts": 10 * at + 5})
        notice = {"role": "user", "isTruncationMarker": True, "truncationId": f"t{at}", "content": "[truncated]"}
        messages.append({**notice, "ts": 10 * at + 6})
    return json.dumps(messages)


def pi_compactions():
    """Compactions that keep some thousand entries, each one entry less."""
    records, last = [{"type": "session", "id": "s", "cwd": "/w", "version": 3}], None
    for at in range(2 * MANY):
        said = {"role": "user", "content": "x"}
        records.append({"type": "message", "id": f"m{at}", "parentId": last, "message": said})
        last = f"m{at}"
        if at > MANY:
            kept = {"summary": "s", "firstKeptEntryId": f"m{at - MANY}"}
            records.append({"type": "compaction", "id": f"k{at}", "parentId": last, **kept})
            last = f"k{at}"
    return jsonl(records)


def qwen_telemetry():
    """Counts of calls that no reply has."""
    records, last = [], None
    for at in range(MANY):
        usage = {"promptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 6}
        reply = {"type": "assistant", "message": {"role": "model", "parts": [{"text": "x"}]}, "usageMetadata": usage}
        counts = {"input_token_count": 7 + at, "output_token_count": 1, "total_token_count": 8 + at}
        event = {"event.name": "qwen-code.api_response", **counts}
        told = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}}
        for name, record in ((f"t{at}", told), (f"a{at}", reply)):
            records.append({"uuid": name, "parentUuid": last, "sessionId": "s", **record})
            last = name
    return jsonl(records)


def copilot_runs():
    """A session that was resumed after every reply."""
    records = [{"type": "session.start", "id": "s", "parentId": None, "data": {"producer": "copilot-agent"}}]
    for at in range(MANY // 2):
        said = {"content": "x", "apiCallId": f"c{at}", "model": "gpt-5", "outputTokens": 3}
        usage = {"gpt-5": {"usage": {"inputTokens": 9, "outputTokens": 3}}}
        records.append({"type": "assistant.message", "id": f"a{at}", "parentId": None, "data": said})
        records.append({"type": "session.shutdown", "id": f"e{at}", "parentId": None, "data": {"modelMetrics": usage}})
    return jsonl(records)


def kimi_pieces():
    """Arguments that come in pieces of a few characters."""
    said = [
        {"type": "TurnBegin", "payload": {"user_input": "x"}},
        {"type": "StepBegin", "payload": {"n": 1}},
        {"type": "ToolCall", "payload": {"id": "c", "function": {"name": "w", "arguments": None}}},
        *[{"type": "ToolCallPart", "payload": {"arguments_part": "a few characters "}}] * (10 * MANY),
    ]
    return jsonl({"timestamp": 1, "message": message} for message in said)


@pytest.mark.parametrize(
    "make",
    [
        goose_pairs, opencode_clearings, openhands_ranges, cline_truncations, pi_compactions, qwen_telemetry,
        copilot_runs, kimi_pieces,
    ],
)  # fmt: skip
def test_no_quadratic_work(make, tmp_path):
    path = tmp_path / "long.json"
    path.write_text(make(), encoding="utf-8")
    load(str(SAMPLES / "goose.jsonl"), Options(calibrate=False))  # what is loaded once is not counted
    begun = process_time()
    (trace,) = load(str(path), Options(calibrate=False))
    assert trace.fragments
    assert process_time() - begun < 5
