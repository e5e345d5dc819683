"""A UI message → chat messages: one reply for every step, each followed by the results of its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import dialects

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

SENT = frozenset({"text", "reasoning", "file"})
"""Parts that reach the model, beside those of tools."""

ANSWERED = frozenset({"output-available", "output-error", "output-denied", "result"})
DENIED = "Tool execution denied."
"""What the model is told where the user denied a call (``convert-to-model-messages.ts``)."""


def is_tool(kind: str) -> bool:
    """Whether a type of part is a tool's: ``tool-NAME``, ``dynamic-tool``, version 4's ``tool-invocation``."""
    return kind == "dynamic-tool" or (kind.startswith("tool-") and kind not in {"tool-call", "tool-result"})


def messages(row: dict[str, Any], skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    """The chat messages of a UI message."""
    role, parts = row.get("role"), _parts(row)
    if role != "assistant":
        yield {"role": role, "content": [_plain(part) for part in parts if _is_sent(part, skipped)]}
        return
    steps = list(_steps(parts, skipped))
    usage = dialects.counts(_metadata(row).get("usage")) or dialects.counts(_metadata(row).get("totalUsage"))
    if len(steps) > 1 and usage:
        skipped["counts of several model calls in one, not used"] += 1
    for step in steps:
        yield from _reply(step, row, usage if len(steps) == 1 else {})


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    found = row.get("metadata")
    return found if isinstance(found, dict) else {}


def _parts(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts; before version 4.2 text, reasoning, calls and attachments stood apart."""
    parts = row.get("parts")
    if isinstance(parts, list) and parts:
        return [part for part in parts if isinstance(part, dict)]
    found: list[dict[str, Any]] = []
    if isinstance(row.get("reasoning"), str) and row["reasoning"]:
        found.append({"type": "reasoning", "text": row["reasoning"]})
    calls = row.get("toolInvocations")
    found += [{"type": "tool-invocation", "toolInvocation": call} for call in calls] if isinstance(calls, list) else []
    if isinstance(row.get("content"), str) and row["content"]:
        found.append({"type": "text", "text": row["content"]})
    files = row.get("experimental_attachments")
    return (
        found + [{"type": "file", **item} for item in files if isinstance(item, dict)]
        if isinstance(files, list)
        else found
    )


def _is_sent(part: dict[str, Any], skipped: Counter[str]) -> bool:
    kind = part.get("type")
    if isinstance(kind, str) and (kind in SENT or is_tool(kind)):
        return True
    name = "data" if isinstance(kind, str) and kind.startswith("data-") else kind
    if name != "step-start":
        skipped[f"part of type {str(name)[:40]}, not sent"] += 1
    return False


def _steps(parts: list[dict[str, Any]], skipped: Counter[str]) -> Iterator[list[dict[str, Any]]]:
    """The parts of every call of the model. A text behind a result is of the next call, even without a mark."""
    step: list[dict[str, Any]] = []
    for part in parts:
        begins = part.get("type") == "step-start" or (_is_answered(step) and part.get("type") in ("text", "reasoning"))
        if begins and step:
            yield step
            step = []
        if _is_sent(part, skipped):
            step.append(part)
    if step:
        yield step


def _is_answered(step: list[dict[str, Any]]) -> bool:
    if not step or not isinstance(step[-1].get("type"), str) or not is_tool(step[-1]["type"]):
        return False
    return _tool(step[-1])["state"] in ANSWERED and step[-1].get("providerExecuted") is not True


def _reply(step: list[dict[str, Any]], row: dict[str, Any], usage: dict[str, Any]) -> Iterator[dict[str, Any]]:
    tools = [_tool(part) for part in step if is_tool(part["type"])]
    model = next((value for name in ("model", "modelId") if isinstance(value := _metadata(row).get(name), str)), None)
    yield {
        "role": "assistant",
        "content": [_plain(part) for part in step if not is_tool(part["type"])],
        "tool_calls": [
            {"id": tool["id"], "function": {"name": tool["name"], "arguments": tool["input"]}} for tool in tools
        ],
        "usage": usage,
        "model": model,
    }
    for tool in tools:
        if tool["state"] in ANSWERED:
            failed = tool["state"] in {"output-error", "output-denied"}
            yield {"role": "tool", "tool_call_id": tool["id"], "content": tool["output"], "is_error": failed}


def _tool(part: dict[str, Any]) -> dict[str, Any]:
    """Call and result live in one part."""
    if isinstance(part.get("toolInvocation"), dict):
        part = {"type": "tool-invocation", **part["toolInvocation"]}
    name, state = part.get("toolName"), part.get("state")
    output = part.get("output", part.get("result"))
    match state:
        case "output-error":
            output = part.get("errorText")
        case "output-denied":
            approval = part.get("approval")
            output = (approval.get("reason") if isinstance(approval, dict) else None) or DENIED
    return {
        "id": part["toolCallId"] if isinstance(part.get("toolCallId"), str) else None,
        "name": name if isinstance(name, str) else str(part.get("type")).removeprefix("tool-"),
        "input": part.get("input", part.get("args", part.get("rawInput"))),
        "state": state if isinstance(state, str) else "",
        "output": dialects.answered(output),
    }


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    match part:
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "reasoning", "text": str(text)} | {"type": "reasoning", "reasoning": str(text)}:
            return {"type": "thinking", "thinking": text}
        case {"type": "file", "url": str(url)} if url.startswith("data:image/"):
            return {"type": "image_url", "image_url": {"url": url}}
        case {"type": "file"}:
            return {"type": "file"}
    return part
