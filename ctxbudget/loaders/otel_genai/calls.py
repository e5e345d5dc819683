"""GenAI attributes of a span → the model call, the agent's run or the tool's answer that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import dialects
from ctxbudget.exchanges import Exchange, compact
from ctxbudget.loaders.otel_genai import words
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.spans import AGENT, MODEL, OTHER, TOOL, loaded
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.spans import Exported, Span

OPERATIONS = {
    "chat": MODEL, "text_completion": MODEL, "generate_content": MODEL, "completion": MODEL, "responses": MODEL,
    "invoke_agent": AGENT, "execute_tool": TOOL,
}  # fmt: skip
TRACELOOP = {"agent": AGENT, "tool": TOOL}

WINDOWS = ("copilot_chat.request.max_prompt_tokens",)
"""The limit of a prompt, where the harness says it."""


class Calls:
    """Reads spans in GenAI words."""

    @staticmethod
    def kind(span: Exported) -> str:
        """What the span is: by its operation, else by what it holds."""
        given = span.attributes
        match given:
            case {"gen_ai.operation.name": str(name)}:
                return OPERATIONS.get(name, OTHER)
            case {"traceloop.span.kind": str(name)} if name in TRACELOOP:
                return TRACELOOP[name]
            case {"ai.operationId": str(name)}:
                # the outer span of a Vercel call sums its steps
                return MODEL if name.endswith((".doGenerate", ".doStream")) else TOOL if "toolCall" in name else OTHER
            case {"traceloop.span.kind": _}:
                return OTHER
        telling = ("gen_ai.usage.", "gen_ai.prompt", "gen_ai.input.messages", "gen_ai.completion")
        return MODEL if any(name.startswith(telling) for name in given) else OTHER

    @staticmethod
    def session(span: Exported) -> str | None:
        """The session or conversation that the span says it belongs to."""
        names = (
            "session.id",
            "copilot_chat.chat_session_id",
            "gen_ai.conversation.id",
            "traceloop.association.properties.session_id",
        )
        return next((value for name in names if isinstance(value := span.attributes.get(name), str) and value), None)

    def exchange(self, span: Span, skipped: Counter[str]) -> Exchange | None:
        """The model call: its history, its reply, its tools and its counts."""
        data: Exported = span.data
        given = data.attributes
        asked, answered = words.messages(data, skipped), words.replies(data, skipped)
        usage = read_usage(_usage(given))
        if not asked and not answered and usage is None:
            skipped["model span without messages or counts, skipped"] += 1
            return None
        skipped["alternative answer, skipped"] += max(0, len(answered) - 1)
        return Exchange(
            [*([] if _has_system(asked) else _instructions(given, skipped)), *asked],
            [(Kind.TOOL_DEFINITIONS, compact(tool)) for tool in words.tools(given, skipped)],
            called=bool(answered) or usage is not None,
            reply=answered[0] if answered else None,
            model=_text(given, "gen_ai.response.model", "gen_ai.request.model", "ai.model.id"),
            usage=usage,
            key=f"{data.trace}:{data.id}",
            agent=_text(given, "gen_ai.agent.name"),
            window=next((value for name in WINDOWS if type(value := given.get(name)) is int and value > 0), None),
        )

    def opening(self, span: Span) -> list[dict[str, Any]]:
        """What an agent was asked, if its span says so."""
        return words.messages(span.data, None)

    def answer(self, span: Span) -> dict[str, Any] | None:
        """What a tool answered."""
        given = span.data.attributes
        result = next(
            (given[name] for name in ("gen_ai.tool.call.result", "ai.toolCall.result") if name in given), None
        )
        if result is None and not span.data.failed:
            return None
        return {
            "role": "tool",
            "id": _text(given, "gen_ai.tool.call.id", "ai.toolCall.id"),
            "name": _text(given, "gen_ai.tool.name", "ai.toolCall.name"),
            "content": dialects.answered(result),
            "is_error": span.data.failed,
        }


def _has_system(asked: list[dict[str, Any]]) -> bool:
    """The instructions often stand a second time as the first message."""
    return bool(asked) and asked[0].get("role") in {"system", "developer"}


def _instructions(given: dict[str, Any], skipped: Counter[str]) -> list[dict[str, Any]]:
    value = given.get("gen_ai.system_instructions")
    return dialects.system({"system": loaded(value, skipped)}) if value else []


def _usage(given: dict[str, Any]) -> dict[str, Any]:
    """The counts in the words of OpenAI chat, which mean the same: cached is part of input, reasoning of output."""

    def count(*names: str) -> Any:
        return next((given[f"gen_ai.usage.{name}"] for name in names if f"gen_ai.usage.{name}" in given), None)

    return {
        "prompt_tokens": count("input_tokens", "prompt_tokens"),
        "completion_tokens": count("output_tokens", "completion_tokens"),
        "total_tokens": count("total_tokens") or given.get("llm.usage.total_tokens"),
        "prompt_tokens_details": {
            "cached_tokens": count("cache_read.input_tokens", "cache_read_input_tokens", "cached_input_tokens"),
            "cache_creation_tokens": count("cache_creation.input_tokens", "cache_creation_input_tokens"),
        },
        "completion_tokens_details": {"reasoning_tokens": count("reasoning.output_tokens", "reasoning_tokens")},
    }


def _text(given: dict[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := given.get(name), str) and value), None)
