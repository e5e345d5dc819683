"""Contents as the Gemini API takes them (a checkpoint, a request, a response) → the turns of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import compact
from ctxbudget.loaders.gemini_cli.parts import PARTS, Speaker
from ctxbudget.loaders.gemini_cli.usage import read_usage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Record

Fields = dict[str, Any]


def is_content(data: Any) -> bool:
    """Whether it is a ``Content``: parts of Gemini's, which have no ``type``."""
    match data:
        case {"role": "user" | "model" | "function", "parts": list(parts)}:
            return any(isinstance(part, dict) and "type" not in part and PARTS & part.keys() for part in parts)
    return False


def conversations(found: Iterable[Record], start: Start) -> Iterator[tuple[TraceBuilder, dict[str, int]]]:
    """The contents of the file as one conversation; each request or checkpoint in it as one of its own."""
    loose: list[tuple[Fields, int]] = []
    documents: list[tuple[Fields, int]] = []
    for record in found:
        data = record.data
        if isinstance(data, dict):
            whole = not data.keys().isdisjoint({"contents", "history", "candidates"})
            (documents if whole else loose).append((data, record.line))
    if loose:
        documents.insert(0, ({"contents": [data for data, _ in loose]}, 0))
    for document, line in documents:
        build = start(label=str(line) if len(documents) > 1 else None)
        yield _told(build, document, line)


def _told(build: TraceBuilder, document: Fields, line: int) -> tuple[TraceBuilder, dict[str, int]]:
    build.agent = "gemini-cli" if "history" in document else None
    speaker = Speaker(build)
    model = document.get("model") or document.get("modelVersion")
    build.model = model if isinstance(model, str) else None
    _overhead(build, speaker, document)
    contents = document.get("contents") or document.get("history")
    for number, content in enumerate(contents if isinstance(contents, list) else [], 1):
        if isinstance(content, dict):
            _say(build, speaker, content, number)
        else:
            speaker.skipped[f"a {type(content).__name__} among the contents"] += 1
    match document:
        case {"candidates": [{"content": dict(content)}, *_]}:
            usage = document.get("usageMetadata")
            _say(build, speaker, {"usageMetadata": usage, **content, "role": "model"}, max(line, 1))
    return build, dict(speaker.skipped)


def _say(build: TraceBuilder, speaker: Speaker, content: Fields, number: int) -> None:
    role, parts = content.get("role"), content.get("parts")
    if role == "model":
        build.turn(model=build.model, usage=read_usage(content.get("usageMetadata")), line=number)
        speaker.model(parts, number)
    else:
        speaker.user(parts, number)


def _overhead(build: TraceBuilder, speaker: Speaker, document: Fields) -> None:
    """System prompt and function declarations of a request."""
    config = document.get("config")
    places = [document, config] if isinstance(config, dict) else [document]
    for place in places:
        if prompt := place.get("systemInstruction") or place.get("system_instruction"):
            speaker.system(prompt, 1)
        tools = place.get("tools")
        for block, tool in enumerate(_declared(tools if isinstance(tools, list) else [])):
            if block == 0:
                build.message("system", 1)
            build.add(Kind.TOOL_DEFINITIONS, compact(tool), block=block)


def _declared(tools: list[Any]) -> Iterator[Any]:
    for tool in tools:
        match tool:
            case {"functionDeclarations": list(inner)} | {"function_declarations": list(inner)}:
                yield from inner
            case _:
                yield tool
