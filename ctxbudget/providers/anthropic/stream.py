"""A streamed response: its server-sent events back together."""

from __future__ import annotations

from typing import Any

from ctxbudget.exchanges import events, parsed

PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Types of deltas, and the field that holds the next piece."""


def joined(stream: str) -> dict[str, Any]:
    """The message that the events give; empty if the stream holds none (an error).

    ``message_start`` has the prompt's counts, ``message_delta`` the final output count; it may repeat the others, as
    zero or not at all from some gateways.
    """
    response: dict[str, Any] = {}
    blocks: dict[Any, dict[str, Any]] = {}
    pieces: dict[Any, list[str]] = {}
    for event in events(stream):
        match event:
            case {"type": "message_start", "message": dict(message)}:
                response.update(message)
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                blocks[index], pieces[index] = dict(block), []
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)} if index in blocks:
                _take(delta, blocks[index], pieces[index])
            case {"type": "message_delta", "delta": dict(delta)}:
                response["stop_reason"] = delta.get("stop_reason")
                response["usage"] = _merged(response.get("usage"), event.get("usage"))
    if response:
        response["content"] = [_whole(block, "".join(pieces[index])) for index, block in sorted(blocks.items())]
    return response


def _take(delta: dict[str, Any], block: dict[str, Any], pieces: list[str]) -> None:
    match delta:
        case {"type": "signature_delta", "signature": str(signature)}:
            block["signature"] = signature
        case {"type": str(kind)} if kind in PIECES and isinstance(delta.get(PIECES[kind]), str):
            pieces.append(delta[PIECES[kind]])


def _whole(block: dict[str, Any], text: str) -> dict[str, Any]:
    match block:
        case {"type": "text" | "thinking" as name} if text:
            return {**block, name: f"{block[name] if isinstance(block.get(name), str) else ''}{text}"}
        case {"input": _} if text:
            return {**block, "input": found if (found := parsed(text)) is not None else text}
    return block


def _merged(first: Any, last: Any) -> dict[str, Any]:
    usage = dict(first) if isinstance(first, dict) else {}
    if isinstance(last, dict):
        usage.update({name: value for name, value in last.items() if value or name not in usage})
    return usage
