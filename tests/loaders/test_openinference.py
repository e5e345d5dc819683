"""OpenInference spans: flat, nested and tabular exports say the same; agents, counts, placeholders."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_traces" / "formats" / "openinference.jsonl"
REAL = ROOT.parent / "shared" / "real_traces" / "openinference_spans"
PLAIN = Options(calibrate=False)

CONTEXT = {"trace_id": "t", "span_id": "s"}


def loaded(tmp_path, *records):
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    assert max(sniff(read(str(path))).items(), key=lambda item: item[1])[0] == "openinference"
    return load(str(path), PLAIN)


def texts(trace, kind):
    return [fragment.text for fragment in trace.fragments if fragment.kind is kind]


# ── the sample ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sample_has_a_session_with_a_sub_agent_and_a_trace_of_placeholders():
    trip, hidden = load(str(SAMPLE), PLAIN)
    assert (trip.source.label, len(trip.turns), len(hidden.turns)) == ("trip-31", 4, 1)
    assert [turn.reported for turn in trip.turns] == [372, 424, 461, 489]
    assert [(call.usage.cache_read, call.usage.reasoning) for call in trip.billed] == [
        (0, 0),
        (256, 12),
        (384, 0),
        (384, 0),
    ]
    assert hidden.turns[0].reported == 2310
    [child] = trip.children
    assert [turn.reported for turn in child.turns] == [71, 92]
    assert texts(child, Kind.SYSTEM_PROMPT) == ["You know fares."]


def test_the_sample_keeps_meaning():
    trip = load(str(SAMPLE), PLAIN)[0]
    assert unpaired(trip) == ([], [])
    kinds = [fragment.kind.value for fragment in trip.entering(trip.turns[0])]
    assert kinds == ["tool_definitions", "tool_definitions", "system_prompt", "user", "media"]
    assert [fragment.error for fragment in trip.fragments if fragment.answers] == [False, True, False, False]
    assert texts(trip, Kind.THINKING) == ["The second search failed, once more."]
    assert texts(trip, Kind.REASONING) == ["I look both ways."]


def test_phoenix_s_database_says_what_its_export_says():
    store = SAMPLE.with_name("openinference-store.db")
    for stored, told in zip(load(str(store), PLAIN), load(str(SAMPLE), PLAIN), strict=True):
        assert [(f.kind, f.text, f.call, f.error) for f in stored.fragments] == [
            (f.kind, f.text, f.call, f.error) for f in told.fragments
        ]
        assert [turn.usage for turn in stored.turns] == [turn.usage for turn in told.turns]
        assert len(stored.children) == len(told.children)
    scores = sniff(read(str(store)))
    assert scores.pop("openinference") >= 0.8 > max(scores.values())


def test_no_other_format_claims_the_sample():
    scores = sniff(read(str(SAMPLE)))
    assert scores.pop("openinference") >= 0.8
    assert max(scores.values()) < 0.5


# ── forms ──────────────────────────────────────────────────────────────────────────────────────────────────────────

CALL = {"id": "c", "function": {"name": "look", "arguments": '{"at": 1}'}}
MESSAGES = [
    {"role": "system", "content": "S"},
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "seen"},
    *({"role": "user", "content": f"u{number}"} for number in range(9)),
]


def paths(prefix, value):
    match value:
        case dict():
            return {name: leaf for key, item in value.items() for name, leaf in paths(f"{prefix}.{key}", item).items()}
        case list():
            return {n: leaf for at, item in enumerate(value) for n, leaf in paths(f"{prefix}.{at}", item).items()}
    return {prefix: value}


def message(given, *, dotted):
    calls = [{"tool_call": call} for call in given.get("tool_calls", [])]
    if dotted:
        calls = [paths("tool_call", call) for call in given.get("tool_calls", [])]
    fields = {**given, **({"tool_calls": calls} if calls else {})}
    return {f"message.{key}": item for key, item in fields.items()} if dotted else {"message": fields}


def forms():
    reply = {"role": "assistant", "content": "R"}
    counts = {"prompt": 90, "completion": 4, "prompt_details": {"cache_read": 30}}
    for dotted in (False, True):
        llm = {
            "input_messages": [message(given, dotted=dotted) for given in MESSAGES],
            "output_messages": [message(reply, dotted=dotted)],
        }
        nested = {"openinference": {"span": {"kind": "LLM"}}, "llm": {**llm, "token_count": counts}}
        yield {"name": "x", "context": CONTEXT, "span_kind": "LLM", "attributes": nested}
        listed = {f"llm.{key}": item for key, item in llm.items()} | paths("llm.token_count", counts)
        yield {"name": "x", "context": CONTEXT, "span_kind": "LLM", "attributes": listed}
        table = {f"attributes.{key}": item for key, item in listed.items()}
        yield {"name": "x", "context.span_id": "s", "context.trace_id": "t", "span_kind": "LLM", **table}
    flat = paths("llm", {**llm, "token_count": counts}) | {"openinference.span.kind": "LLM"}
    otlp = [{"key": key, "value": {"intValue" if type(v) is int else "stringValue": v}} for key, v in flat.items()]
    span = {"traceId": "t", "spanId": "s", "startTimeUnixNano": "1", "attributes": otlp}
    yield {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


@pytest.mark.parametrize("record", list(forms()))
def test_every_form_says_the_same_in_the_same_order(tmp_path, record):
    [trace] = loaded(tmp_path, record)
    said = [fragment.text for fragment in trace.fragments]
    assert said == ["S", 'look {"at":1}', "seen", *(f"u{number}" for number in range(9)), "R"]
    assert (trace.billed[0].usage.input, trace.billed[0].usage.cache_read, trace.billed[0].usage.output) == (60, 30, 4)
    assert unpaired(trace) == ([], [])


def test_of_two_vocabularies_on_a_span_one_is_read(tmp_path):
    both = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5, "openinference.span.kind": "LLM"}
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"context": CONTEXT, "attributes": both}))
    [trace] = load(str(path), PLAIN)
    assert (trace.source.format, len(trace.turns)) == ("otel-genai", 1)


def test_values_stand_in_for_messages_that_are_not_there(tmp_path):
    given = {"openinference.span.kind": "LLM", "input.value": "ask", "output.value": "said"}
    [trace] = loaded(tmp_path, {"context": CONTEXT, "attributes": given})
    assert [(fragment.role, fragment.text) for fragment in trace.fragments] == [("user", "ask"), ("assistant", "said")]


@pytest.mark.skipif(not REAL.is_dir(), reason="no real OpenInference spans beside the checkout")
def test_real_files_load_by_themselves():
    for path in sorted(REAL.rglob("*.json")):
        traces = load(str(path), PLAIN)
        assert {trace.source.format for trace in traces} == {"openinference"}
        assert all(unpaired(trace) == ([], []) for trace in traces)
