"""Chunks of a UI message stream → the UI messages that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import parsed

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

CHUNKS = frozenset({
    "type", "id", "delta", "messageId", "messageMetadata", "toolCallId", "toolName", "dynamic", "input", "output",
    "inputTextDelta", "errorText", "providerExecuted", "providerMetadata", "preliminary", "url", "mediaType", "title",
    "sourceId", "filename", "data", "transient", "approvalId", "finishReason", "toolMetadata", "reason",
})  # fmt: skip
"""Keys that chunks have (vercel/ai 6)."""

STATES = {"tool-output-available": "output-available", "tool-output-error": "output-error"}
STATES |= {"tool-output-denied": "output-denied"}


class Message:
    """A UI message in the making."""

    def __init__(self) -> None:
        """Nothing in it yet."""
        self.parts: list[dict[str, Any]] = []
        self.metadata: dict[str, Any] = {}
        self._texts: dict[Any, list[str]] = {}
        self._tools: dict[Any, dict[str, Any]] = {}

    def take(self, chunk: dict[str, Any], skipped: Counter[str]) -> None:
        """The next chunk."""
        if isinstance(chunk.get("messageMetadata"), dict):
            self.metadata.update(chunk["messageMetadata"])
        match chunk:
            case {"type": "start-step"}:
                self.parts.append({"type": "step-start"})
            case {"type": "text-start" | "reasoning-start" as kind}:
                self._begin(kind.removesuffix("-start"), chunk)
            case {"type": "text-delta" | "reasoning-delta" as kind, "delta": str(piece)}:
                name = (kind.removesuffix("-delta"), str(chunk.get("id")))
                if name not in self._texts:
                    self._begin(name[0], chunk)
                self._texts[name].append(piece)
            case {"type": str(kind), "toolCallId": str(name)}:
                self._tool(kind, self._tools.get(name), chunk)
            case {"type": "file"}:
                self.parts.append(chunk)
            case {"type": "start" | "finish-step" | "text-end" | "reasoning-end" | "finish" | "message-metadata"}:
                pass
            case {"type": kind}:
                skipped[f"chunk of type {str(kind)[:40]}, skipped"] += 1

    def _begin(self, kind: str, chunk: dict[str, Any]) -> None:
        pieces = self._texts[kind, str(chunk.get("id"))] = []
        self.parts.append({"type": kind, "pieces": pieces})

    def _tool(self, kind: str, tool: dict[str, Any] | None, chunk: dict[str, Any]) -> None:
        if tool is None:
            tool = {"type": "dynamic-tool", "toolCallId": chunk["toolCallId"], "toolName": "?", "pieces": []}
            self._tools[chunk["toolCallId"]] = tool
            self.parts.append(tool)
        if isinstance(chunk.get("toolName"), str):
            tool["toolName"] = chunk["toolName"]
        if isinstance(chunk.get("inputTextDelta"), str):
            tool["pieces"].append(chunk["inputTextDelta"])
        tool |= {name: chunk[name] for name in ("input", "output", "errorText", "providerExecuted") if name in chunk}
        tool["state"] = STATES.get(kind, tool.get("state", "input-available"))

    def finished(self) -> dict[str, Any]:
        """The message, its pieces joined."""
        return {"role": "assistant", "parts": [_whole(part) for part in self.parts], "metadata": self.metadata}


def _whole(part: dict[str, Any]) -> dict[str, Any]:
    pieces = part.get("pieces")
    if not isinstance(pieces, list):
        return part
    text, rest = "".join(pieces), {key: value for key, value in part.items() if key != "pieces"}
    if part["type"] != "dynamic-tool":
        return {**rest, "text": text}
    given = parsed(text)
    return {"input": text if given is None else given, **rest}


def assembled(
    chunks: Iterable[tuple[dict[str, Any], int]], skipped: Counter[str]
) -> Iterator[tuple[dict[str, Any], int]]:
    """The messages of a stream, each with the line it begins at; ``start`` begins one."""
    message, first = Message(), 0
    for chunk, line in chunks:
        if chunk["type"] == "start" and message.parts:
            yield message.finished(), first
            message, first = Message(), 0
        first = first or line
        message.take(chunk, skipped)
    if message.parts:
        yield message.finished(), first
