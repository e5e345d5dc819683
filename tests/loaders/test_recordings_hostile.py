"""Nonsense made of the words that recordings use: every loader of them ends in traces or in a clean error."""

import json
import random

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.dialects import answered, chat, counts, message, system, tools
from ctxbudget.errors import CtxbudgetError
from ctxbudget.layers import AGENT
from ctxbudget.ledger import entries
from ctxbudget.loaders import LOADERS, sniff
from ctxbudget.records import read

SEEDS = 150

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
WORDS = """
user assistant tool system text tool_call tool_use tool_result tool-call step-start dynamic-tool function_call
function_call_output reasoning GENERATION TOOL AGENT llm human gpt observation constructor chat invoke_agent
execute_tool LLM text-delta start file a b acompletion ai image
"""
FIELDS = """
text content id name arguments input toolCallId toolName state output result source tool_use_id response functionCall
toolUse toolResult functionResponse data url
"""
ASIDE = """
level error status_code usageDetails usage model parentObservationId metadata parent_run_id extra scores cache_hit
session_id request_properties images tools chatId parent_id response_status id name status events startTime
"""
ROLES = ("user", "assistant", "assistant", "tool", "system", "look", "")
TEXTS = ("", "x", "a\x00b", "\u202e", "7", '{"role": "user", "content": "x"}', '[{"role": "assistant"}]', "[1, 2", "{}")


def value(dice, depth=3):
    """Anything, most often something that is no object."""
    match dice.randrange(9):
        case 0:
            return dice.choice((None, True, False, 0, -1, 7, 2**63, 1.5, 1e308))
        case 1 | 2:
            return dice.choice(WORDS.split())
        case 3:
            return dice.choice(TEXTS)
        case 4 | 5 if depth:
            return [value(dice, depth - 1) for _ in range(dice.randrange(4))]
        case 6 | 7 | 8 if depth:
            return given(dice, NAMES, depth - 1)
    return dice.choice(TEXTS)


def given(dice, names, depth=2):
    """An object with some of these names, and anything under them."""
    chosen = dice.sample(names.split(), dice.randrange(5))
    return {name: value(dice, depth) for name in chosen}


def part(dice):
    return {"type": dice.choice(WORDS.split())} | given(dice, FIELDS)


def call(dice):
    return given(dice, "id function name args type")


def said(dice):
    """A message: its parts and calls more often right than not."""
    found = {"role": dice.choice(ROLES)} | given(dice, "content parts tool_calls tool_call_id usage metadata name")
    for name, make in (("content", part), ("parts", part), ("tool_calls", call), ("toolInvocations", part)):
        if dice.random() < 0.4:
            found[name] = [make(dice) for _ in range(dice.randrange(4))]
    return found


def helicone(asked, reply):
    row = {"request_id": "r", "request_path": "p", "provider": "x", "request_body": {"messages": asked}}
    return row | {"response_body": {"choices": [{"message": reply}], "usage": reply.get("usage")}}


def langchain(asked, reply):
    return {
        "messages": [{"type": "ai" if one["role"] == "assistant" else "human", "data": one} for one in [*asked, reply]]
    }


def langfuse(asked, reply):
    return {"type": "GENERATION", "traceId": "t", "startTime": "1", "input": asked, "output": reply}


def langsmith(asked, reply):
    outputs = {"generations": [[{"message": reply}]]}
    return {"run_type": "llm", "trace_id": "t", "start_time": "1", "inputs": {"messages": [asked]}, "outputs": outputs}


def litellm(asked, reply):
    row = {"call_type": "acompletion", "response_cost": 0, "model_parameters": {}, "spend": 1, "messages": asked}
    return row | {"response": {"choices": [{"message": reply}], "usage": reply.get("usage")}}


def openinference(asked, reply):
    given = {"llm.input_messages": [{"message": one} for one in asked], "llm.output_messages": [{"message": reply}]}
    return {"span_kind": "LLM", "context": {"trace_id": "t", "span_id": "s"}, "attributes": given}


def otel_genai(asked, reply):
    given = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(asked)}
    return {"traceId": "t", "spanId": "s", "attributes": given | {"gen_ai.output.messages": [reply]}}


def sharegpt(asked, reply):
    return {"conversations": [{"from": one["role"], "value": json.dumps(one)} for one in asked] + [reply]}


def vercel_ui(asked, reply):
    return {"messages": [*asked, reply]}


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
        return 0
    for member in (member for trace in traces for member in trace.family()):
        for entry in entries(member, AGENT):
            assert sum(entry.layers.values()) == entry.tokens >= 0
    return len(traces)


@pytest.mark.parametrize("make", MAKERS)
def test_nonsense_is_read_or_refused(make):
    found = 0
    for seed in range(SEEDS):
        dice = random.Random(f"{make.__name__} {seed}")
        talks = [[said(dice) for _ in range(dice.randint(1, 5))] for _ in range(dice.randint(1, 3))]
        rows = [make(talk, talk[-1]) | (given(dice, ASIDE) if seed % 2 else {}) for talk in talks]
        try:
            found += holds(make.__name__.replace("_", "-"), rows)
        except Exception as error:
            error.add_note(f"{make.__name__}, seed {seed}: {json.dumps(rows)[:2_000]}")
            raise
    assert found > SEEDS / 2, "hardly any of it was read: nothing is tested"


def test_no_value_breaks_a_dialect():
    for seed in range(2_000):
        anything = value(random.Random(seed), 5)
        beside = system(anything if isinstance(anything, dict) else {})
        for one in (*chat(anything), *message(anything), *chat(anything, "assistant"), *beside):
            assert isinstance(one["role"], str)
        tools(anything)
        answered(anything)
        counts(anything)
