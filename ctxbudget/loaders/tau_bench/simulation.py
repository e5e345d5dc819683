"""A simulation of tau2-bench: the agent's conversation, and the simulated user's as its child."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import compact
from ctxbudget.loaders.tau_bench.ending import ends
from ctxbudget.providers.openai.messages import Messages
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder

FAREWELL = "the user's last words, never sent"
OTHER = {"assistant": "user", "user": "assistant"}


def say(build: TraceBuilder, run: dict[str, Any], results: dict[str, Any], start: Start, skipped: Counter[str]) -> None:
    """Say the agent's side to ``build``; ``results`` holds the settings of all simulations."""
    info = mapping(results.get("info"))
    environment, own, user = (mapping(info.get(f"{name}_info")) for name in ("environment", "agent", "user"))
    build.agent, build.session = string(own.get("implementation")) or "tau2-bench", string(run.get("id"))
    messages = list(_flat(run.get("messages")))
    _overhead(build, [environment.get("policy")], environment.get("tool_defs"))
    _side(build, messages, "assistant", string(own.get("llm")), f"tau2:{build.session}", skipped)
    if any(read_usage(one.get("usage")) for one in messages if one.get("role") == "user"):
        child = start(label="user")
        child.agent = string(user.get("implementation")) or "user simulator"
        task = next((one for one in items(results.get("tasks")) if _same(mapping(one), run)), None)
        scenario = mapping(task).get("user_scenario")
        _overhead(child, [user.get("global_simulation_guidelines"), scenario], None)
        _side(child, messages, "user", string(user.get("llm")), f"tau2:{build.session}:user", skipped)
        build.child(child.finish())


def _same(task: dict[str, Any], run: dict[str, Any]) -> bool:
    return "id" in task and task["id"] == run.get("task_id")


def _flat(messages: Any) -> Iterator[dict[str, Any]]:
    """The messages; several results may share one."""
    for one in items(messages):
        message = mapping(one)
        inner = [mapping(each) for each in items(message.get("tool_messages"))]
        yield from inner or [message]


def _overhead(build: TraceBuilder, prompts: list[Any], tools: Any) -> None:
    definitions = [*mapping(tools).values(), *items(tools)]
    texts = [one if isinstance(one, str) else compact(one) for one in prompts if one]
    if texts or definitions:
        build.message("system", 0)
    for block, text in enumerate(texts):
        build.add(Kind.SYSTEM_PROMPT, text, block=block)
    for block, tool in enumerate(definitions, len(texts)):
        build.add(Kind.TOOL_DEFINITIONS, compact(tool), block=block)


def _side(
    build: TraceBuilder, messages: list[dict[str, Any]], side: str, model: str | None, key: str, skipped: Counter[str]
) -> None:
    """The conversation as one ``side`` saw it: its own words and calls, the other's words, its own results."""
    build.model = model
    speaker = Messages(build)
    counted = any(read_usage(one.get("usage")) for one in messages if one.get("role") == side)
    for line, one in enumerate(messages, 1):
        role = one.get("role")
        if role == side:
            usage = read_usage(mapping(one.get("raw_data")).get("usage")) or read_usage(one.get("usage"))
            if usage is not None or build.turns or not counted:
                build.turn(model=model, usage=usage, line=line, key=f"{key}:{line}" if usage else None)
            speaker.message(_chat(one, "assistant"), line)
        elif role == "tool":
            if one.get("requestor", "assistant") == side:
                speaker.message(
                    {**_chat(one, "tool"), "tool_call_id": one.get("id"), "is_error": one.get("error")}, line
                )
        elif side == "assistant" and line == len(messages) and ends(one):
            skipped[FAREWELL] += 1
        elif role == OTHER[side] and one.get("content"):
            speaker.message(_chat(one, "user"), line)
        elif role == "system":
            speaker.message(_chat(one, "system"), line)
    skipped.update(speaker.skipped)


def _chat(message: dict[str, Any], role: str) -> dict[str, Any]:
    """The message for a model that speaks as the assistant."""
    made: dict[str, Any] = {"role": role, "content": message.get("content")}
    if role == "assistant" and (calls := [mapping(one) for one in items(message.get("tool_calls"))]):
        made["tool_calls"] = [
            {
                "id": one.get("id"),
                "function": {"name": string(one.get("name")) or "?", "arguments": one.get("arguments")},
            }
            for one in calls
        ]
    return made
