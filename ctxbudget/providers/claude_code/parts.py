"""What the lines of a Claude Code session hold, as parts of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget import injected, media
from ctxbudget.records.values import count, tokens
from ctxbudget.trace import Kind, Resource, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.providers.claude_code.lines import Line

USAGE_FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")

ATTACHMENTS = {
    "file": Kind.RESULT,
    "edited_text_file": Kind.RESULT,
    "nested_memory": Kind.MEMORY_FILE,
    "queued_command": Kind.USER,
}
"""Attachment types that are not plain injected text."""

UNSENT = frozenset({"command_permissions", "hook_non_blocking_error", "hook_cancelled", "batching_reminder_sent"})
"""Attachment types that only the client uses."""

TEXT_FIELDS = ("content", "text", "prompt", "snippet", "banner", "blockingError", "addedLines", "addedBlocks",
               "addedNames", "skills", "file", "description", "subject", "newDate", "deltaSummary")  # fmt: skip
"""Fields of an attachment that end up in the prompt, in that order."""


def add_user(build: TraceBuilder, line: Line) -> None:
    """The parts of a user line: text, results, images."""
    content = line.body.get("content")
    if isinstance(content, str):
        add_text(build, content, line)
        return
    for block, part in enumerate(content if isinstance(content, list) else []):
        match part:
            case {"type": "text", "text": str(text)}:
                add_text(build, text, line, block)
            case {"type": "tool_result"}:
                add_result(build, part, line, block)
            case {"type": "image" | "document"}:
                add_media(build, part, line, block)
            case dict() | str():
                add_text(build, part if isinstance(part, str) else plain(part), line, block)
            case _:
                build.warn("malformed-block", f"a block of type {type(part).__name__} in a user message", line.number)


def add_summary(build: TraceBuilder, line: Line) -> None:
    """What the client wrote in place of the compacted history."""
    content = line.body.get("content")
    texts = [content] if isinstance(content, str) else list(_texts(content))
    build.message("user", line.number)
    build.add(Kind.SUMMARY, "\n".join(texts), line=line.number)


def add_text(build: TraceBuilder, text: str, line: Line, block: int = 0) -> None:
    """User text, cut where the client injected something."""
    if line.meta:
        memory = any(kind is Kind.MEMORY_FILE for kind, _ in injected.split(text))
        build.add(Kind.MEMORY_FILE if memory else Kind.INJECTED, text, block=block, line=line.number)
        return
    for kind, piece in injected.split(text):
        build.add(kind, piece, block=block, line=line.number)


def add_result(build: TraceBuilder, part: dict[str, Any], line: Line, block: int) -> None:
    """A tool result: its texts as one fragment, its images each on its own."""
    content, call = part.get("content"), part.get("tool_use_id")
    call = call if isinstance(call, str) else "?"
    texts = [content] if isinstance(content, str) else []
    images = []
    for item in content if isinstance(content, list) else []:
        match item:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image" | "document"}:
                images.append(item)
            case _:
                texts.append(item if isinstance(item, str) else plain(item))
    failed = part.get("is_error") is True
    if texts or not images:
        build.result("\n".join(texts), call=call, error=failed, block=block, line=line.number)
    for image in images:
        add_media(build, image, line, block, call=call)


def add_media(build: TraceBuilder, part: dict[str, Any], line: Line, block: int, *, call: str | None = None) -> None:
    """An image or a document: by its size, never by the length of its base64."""
    match part.get("source"):
        case {"type": "text", "data": str(text)}:
            build.add(Kind.USER, text, block=block, line=line.number, call=call)
        case {"data": str(data)}:
            build.add(Kind.MEDIA, "", block=block, line=line.number, size=media.base64_size(data), call=call)
        case _:
            build.add(Kind.MEDIA, "", block=block, line=line.number, call=call)


def add_attachment(build: TraceBuilder, line: Line) -> bool:
    """Context the client attached; False where nothing of it is sent."""
    kind = str(line.body.get("type"))
    text = "\n".join(_texts({name: line.body[name] for name in TEXT_FIELDS if name in line.body}))
    if kind in UNSENT or not text:
        return False
    build.message("user", line.number)
    piece = build.add(ATTACHMENTS.get(kind, Kind.INJECTED), text, line=line.number)
    name = line.body.get("filename") or line.body.get("path")
    if isinstance(name, str):
        piece.resource = Resource("read", name)
    if kind == "queued_command" and line.body.get("commandMode") == "task-notification":
        piece.kind = Kind.INJECTED
    return True


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    match value:
        case str() if value:
            yield value
        case {"type": "image"}:
            return
        case dict() if depth < 8:
            for item in value.values():
                yield from _texts(item, depth + 1)
        case list() if depth < 8:
            for item in value:
                yield from _texts(item, depth + 1)


def plain(part: Any) -> str:
    """An unknown block as compact JSON, without encoded data."""
    if isinstance(part, dict):
        part = {key: value for key, value in part.items() if key not in {"data", "signature", "encrypted_content"}}
    return orjson.dumps(part, option=orjson.OPT_NON_STR_KEYS).decode()


def reply_blocks(group: list[Line]) -> list[tuple[Line, int, dict[str, Any]]]:
    """The distinct blocks of one response, whose lines are streaming snapshots, one block each, or copies.

    A call counts once by its id. Text and thinking replace an earlier block that they continue.
    """
    kept: list[tuple[Line, int, dict[str, Any]]] = []
    for line in group:
        content = line.body.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block, part in enumerate(parts if isinstance(parts, list) else []):
            if not isinstance(part, dict):
                continue
            same = next((at for at, (_, _, old) in enumerate(kept) if _continues(old, part)), None)
            if same is None:
                kept.append((line, block, part))
            else:
                kept[same] = (line, block, part)
    return kept


def _continues(old: dict[str, Any], new: dict[str, Any]) -> bool:
    kind = new.get("type")
    if old.get("type") != kind:
        return False
    if kind == "tool_use":
        return old.get("id") == new.get("id")
    name = "thinking" if kind == "thinking" else "text"
    before, after = old.get(name), new.get(name)
    return isinstance(before, str) and isinstance(after, str) and after.startswith(before) and before.strip() != ""


def add_reply(build: TraceBuilder, group: list[Line]) -> None:
    """The parts of one response, all its lines together."""
    for line, block, part in reply_blocks(group):
        match part:
            case {"type": "text", "text": str(text)}:
                build.add(None, text, block=block, line=line.number)
            case {"type": "thinking", "thinking": str(text)}:
                build.add(Kind.THINKING, text, block=block, line=line.number, opaque=_length(part, "signature"))
            case {"type": "redacted_thinking"}:
                build.add(Kind.THINKING, "", block=block, line=line.number, opaque=_length(part, "data"))
            case {"type": "tool_use" | "server_tool_use", "name": str(name)}:
                call = part.get("id")
                known = call if isinstance(call, str) else None
                build.call(name, part.get("input"), id=known, block=block, line=line.number)
            case {"type": str(kind)} if kind.endswith("_tool_result"):
                call = str(part.get("tool_use_id"))
                build.result(plain(part.get("content")), call=call, block=block, line=line.number)
            case _:
                build.add(Kind.OTHER, plain(part), block=block, line=line.number)


def _length(part: dict[str, Any], name: str) -> int:
    value = part.get(name)
    return len(value) if isinstance(value, str) else 0


def read_usage(build: TraceBuilder, group: list[Line]) -> Usage | None:
    """The usage of one response: its lines repeat the prompt counts; the output count grows while it streams.

    It is final where a line carries a stop reason (see the formats' notes: up to 2.1.39 many lines hold the
    placeholder of ``message_start``). A field that is no sane integer is left out and flagged.
    """
    found: tuple[Line, dict[str, Any]] | None = None
    most, final = -1, False
    for line in group:
        raw = line.body.get("usage")
        final = final or bool(line.body.get("stop_reason"))
        if isinstance(raw, dict) and (output := tokens(raw.get("output_tokens"))) > most:
            most, found = output, (line, raw)
    if found is None:
        return None
    line, raw = found
    counts = {name: count(raw.get(name)) for name in USAGE_FIELDS}
    bad = {name for name in USAGE_FIELDS if counts[name] is None and raw.get(name) is not None}
    for name in sorted(bad):
        build.warn("invalid-usage", f"usage field {name} is not a token count; left out", line.number)
    given, read, write, output = (count or 0 for count in counts.values())
    detail = raw.get("output_tokens_details")
    return Usage(
        input=given,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=count(detail.get("thinking_tokens")) if isinstance(detail, dict) else None,
        total=given + read + write + output,
        final=final,
        split=not bad - {"output_tokens"},
    )
