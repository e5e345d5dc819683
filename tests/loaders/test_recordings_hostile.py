"""Nonsense made of the words that recordings use: every loader of them ends in traces or in a clean error."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxbudget.builder import TraceBuilder
from ctxbudget.dialects import answered, chat, counts, message, system, tools
from ctxbudget.errors import CtxbudgetError
from ctxbudget.layers import AGENT
from ctxbudget.ledger import entries
from ctxbudget.loaders import LOADERS, sniff
from ctxbudget.records import read

NAMES = """
role content parts type text id name arguments args input output messages data kwargs lc tool_calls
tool_call_id function toolCallId toolName state result response prompt system instructions tools usage model
generations message choices summary functionCall toolUse toolResult functionResponse source url value from
conversations trace observations traceId startTime usageDetails parentObservationId metadata scores run_type
trace_id inputs outputs extra child_runs start_time parent_run_id feedback_stats resourceSpans scopeSpans
spans spanId parentSpanId attributes key events span_kind gen_ai.operation.name gen_ai.input.messages
gen_ai.output.messages gen_ai.usage.input_tokens gen_ai.prompt.0.content gen_ai.tool.call.result
llm.input_messages llm.token_count.prompt context call_type response_cost model_parameters request_id
request_body response_body provider response_status delta messageMetadata providerExecuted approval
toolInvocations chosen images
"""
KEYS = st.sampled_from(NAMES.split())
WORDS = """
user assistant tool system text tool_call tool_use tool_result tool-call step-start dynamic-tool function_call
function_call_output reasoning GENERATION TOOL AGENT llm human gpt observation constructor chat invoke_agent
execute_tool LLM text-delta start file a b acompletion ai image
"""
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(WORDS.split()),
    st.sampled_from(['{"role": "user", "content": "x"}', '[{"role": "assistant"}]', "[1, 2"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=6)),
    max_leaves=25,
)


def objects(required, *optional):
    """Objects that have the right names, and anything under them."""
    return st.fixed_dictionaries(required, optional={name: VALUES for name in optional})


TYPES = st.sampled_from(WORDS.split())
CALLS = objects({}, "id", "function", "name", "args", "type")
PARTS = objects({"type": TYPES}, *"text content id name arguments input toolCallId toolName state output result".split(),
                *"source tool_use_id response functionCall toolUse toolResult functionResponse data url".split())  # fmt: skip
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "look", ""])},
        optional={
            "content": st.one_of(st.lists(PARTS, max_size=3), VALUES),
            "parts": st.one_of(st.lists(PARTS, max_size=3), VALUES),
            "tool_calls": st.one_of(st.lists(CALLS, max_size=2), VALUES),
            "tool_call_id": VALUES,
            "toolInvocations": st.lists(PARTS, max_size=2),
            "usage": VALUES,
            "metadata": VALUES,
        },
    ),
    min_size=1,
    max_size=4,
)
FLAGS = objects({}, "level", "error", "status_code", "usageDetails", "usage", "model", "parentObservationId", "metadata",
                "parent_run_id", "extra", "scores", "cache_hit", "session_id", "request_properties", "images", "tools",
                "chatId", "parent_id", "response_status", "id", "name", "status", "events", "startTime")  # fmt: skip


def helicone(asked, said):
    row = {"request_id": "r", "request_path": "p", "provider": "x", "request_body": {"messages": asked}}
    return row | {"response_body": {"choices": [{"message": said}], "usage": said.get("usage")}}


def langchain(asked, said):
    return {
        "messages": [{"type": "ai" if one["role"] == "assistant" else "human", "data": one} for one in [*asked, said]]
    }


def langfuse(asked, said):
    return {"type": "GENERATION", "traceId": "t", "startTime": "1", "input": asked, "output": said}


def langsmith(asked, said):
    outputs = {"generations": [[{"message": said}]]}
    return {"run_type": "llm", "trace_id": "t", "start_time": "1", "inputs": {"messages": [asked]}, "outputs": outputs}


def litellm(asked, said):
    row = {"call_type": "acompletion", "response_cost": 0, "model_parameters": {}, "spend": 1, "messages": asked}
    return row | {"response": {"choices": [{"message": said}], "usage": said.get("usage")}}


def openinference(asked, said):
    given = {"llm.input_messages": [{"message": one} for one in asked], "llm.output_messages": [{"message": said}]}
    return {"span_kind": "LLM", "context": {"trace_id": "t", "span_id": "s"}, "attributes": given}


def otel_genai(asked, said):
    given = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(asked)}
    return {"traceId": "t", "spanId": "s", "attributes": given | {"gen_ai.output.messages": [said]}}


def sharegpt(asked, said):
    return {"conversations": [{"from": one["role"], "value": json.dumps(one)} for one in asked] + [said]}


def vercel_ui(asked, said):
    return {"messages": [*asked, said]}


MAKERS = (helicone, langchain, langfuse, langsmith, litellm, openinference, otel_genai, sharegpt, vercel_ui)


def start(label=None, path=None):
    return TraceBuilder(path or "x", "x", label=label)


def holds(name, records):
    reading = read("x", "\n".join(json.dumps(record) for record in records).encode())
    assert all(0 <= score <= 1 for score in sniff(reading).values())
    try:
        traces = list(LOADERS.get(name).load(reading, start))
    except CtxbudgetError as error:
        assert "\n" not in error.message
        return
    for member in (member for trace in traces for member in trace.family()):
        for entry in entries(member, AGENT):
            assert sum(entry.layers.values()) == entry.tokens >= 0


@pytest.mark.parametrize("make", MAKERS)
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(MESSAGES, FLAGS), min_size=1, max_size=3))
def test_nonsense_is_read_or_refused(make, rows):
    name = make.__name__.replace("_", "-")
    holds(name, [make(asked, asked[-1]) for asked, _ in rows])
    holds(name, [{**make(asked, asked[-1]), **flags} for asked, flags in rows])


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_no_value_breaks_a_dialect(value):
    for said in (
        *chat(value),
        *message(value),
        *chat(value, "assistant"),
        *system(value if isinstance(value, dict) else {}),
    ):
        assert isinstance(said["role"], str)
    tools(value)
    answered(value)
    counts(value)
