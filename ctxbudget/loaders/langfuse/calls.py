"""An observation → the model call, the agent's run or the tool's answer that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import dialects
from ctxbudget.loaders.langfuse.usage import read_usage
from ctxbudget.spans import AGENT, MODEL, OTHER, TOOL, Span, loaded, nested

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.exchanges import Exchange

TYPES = {
    "GENERATION": MODEL, "AGENT": AGENT, "TOOL": TOOL, "SPAN": OTHER, "EVENT": OTHER, "CHAIN": OTHER,
    "RETRIEVER": OTHER, "EVALUATOR": OTHER, "EMBEDDING": OTHER, "GUARDRAIL": OTHER,
}  # fmt: skip
"""Types of observations (langfuse 3; before, all but generations and events were spans)."""

TOOLS = (
    "gen_ai.tool.definitions", "model_request_parameters", "invocation_params", "llm.tools", "tools",
    "ai.prompt.tools",
)  # fmt: skip
"""Where frameworks leave the tool definitions in the metadata."""


class Calls:
    """Reads observations."""

    @staticmethod
    def span(row: dict[str, Any], run: str | None, line: int, number: int) -> Span:
        """The observation as a span; agents of frameworks that call them spans are told by their attributes."""
        trace = str(row.get("traceId") or row.get("trace_id"))
        kind = TYPES.get(row["type"], OTHER)
        given = _attributes(row)
        named = given.get("gen_ai.agent.name") if given.get("gen_ai.operation.name") != "chat" else None
        if kind == OTHER and (named or given.get("openinference.span.kind") == "AGENT"):
            kind = AGENT
        above = row.get("parentObservationId", row.get("parent_observation_id"))
        begun = str(row.get("startTime") or row.get("start_time"))
        name = row["id"] if isinstance(row.get("id"), str) else f"{line}.{number}"
        return Span(
            name, above if isinstance(above, str) else None, run or trace, (begun, number), kind, line, row, _title(row)
        )

    def exchange(self, span: Span, skipped: Counter[str]) -> Exchange | None:
        """The model call: what was asked, what was answered, its tools and its counts."""
        row = span.data
        given, answer = loaded(row.get("input"), skipped), loaded(row.get("output"), skipped)
        call = dialects.exchange(given, answer, _tools(row, given, answer), read_usage(row), skipped)
        if call is not None:
            _name_tools(call.messages)
            call.model = row["model"] if isinstance(row.get("model"), str) and row["model"] else None
            call.key = f"{row.get('traceId')}:{span.id}"
        return call

    def opening(self, span: Span) -> list[dict[str, Any]]:
        """What a run was given."""
        return dialects.chat(loaded(span.data.get("input"), None))

    def answer(self, span: Span) -> dict[str, Any] | None:
        """What a tool answered."""
        row, given = span.data, _attributes(span.data)
        output = loaded(row.get("output"), None)
        if output is None:
            return None
        named = given.get("gen_ai.tool.call.id")
        tool = given.get("gen_ai.tool.name") or given.get("tool.name") or row.get("name")
        match loaded(row.get("input"), None):
            case {"input": arguments, **rest} if not rest:
                pass
            case arguments:
                pass
        match output:
            case {"content": content, **rest} if "role" not in rest:
                output = content
        return {
            "id": named if isinstance(named, str) else None,
            "name": tool if isinstance(tool, str) else None,
            "arguments": arguments,
            "content": dialects.answered(output),
            "is_error": row.get("level") == "ERROR",
        }


def _title(row: dict[str, Any]) -> str | None:
    return row["name"] if isinstance(row.get("name"), str) and row["name"] else None


def _attributes(row: dict[str, Any]) -> dict[str, Any]:
    """The attributes of the span that an observation was made of, where it was one."""
    metadata = loaded(row.get("metadata"), None)
    inner = metadata.get("attributes") if isinstance(metadata, dict) else None
    inner = loaded(inner, None)
    return inner if isinstance(inner, dict) else metadata if isinstance(metadata, dict) else {}


def _name_tools(asked: list[dict[str, Any]]) -> None:
    """LangChain's handler writes the tool's name as the role of its result."""
    known: set[str] = set()
    for message in asked:
        for call in message.get("tool_calls") or []:
            name = nested(call, "function.name") if isinstance(call, dict) else None
            known.update([name] if isinstance(name, str) else [])
        if message["role"] in known:
            message["name"], message["role"] = message["role"], "tool"


def _tools(row: dict[str, Any], given: Any, answer: Any) -> list[Any]:
    """The tool definitions, from wherever they are."""
    places = [
        place for place in (given, answer, row.get("modelParameters"), _attributes(row)) if isinstance(place, dict)
    ]
    for place in places:
        for name in TOOLS:
            if found := dialects.tools(loaded(place.get(name), None)):
                return [_plain(tool) for tool in found]
    return []


def _plain(tool: Any) -> Any:
    """Pydantic AI notes more of a tool than it sends."""
    match tool:
        case {"name": name, "parameters_json_schema": schema}:
            return {"name": name, "description": tool.get("description"), "parameters": schema}
    return tool
