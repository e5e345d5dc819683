"""Items of the Responses API, which Codex records too: their contents, and what their calls are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def parts(content: Any) -> Iterator[tuple[int, str, str]]:
    """The parts of a content: place, what it is (``text``, ``image``, ``sealed``, else its type), text or data."""
    if isinstance(content, str):
        yield 0, "text", content
    for block, part in enumerate(content if isinstance(content, list) else []):
        match part:
            case str(text) | {"text": str(text)} | {"refusal": str(text)}:
                yield block, "text", text
            case {"type": "input_image" | "output_image" | "image"}:
                url = part.get("image_url")
                yield block, "image", url if isinstance(url, str) else ""
            case {"encrypted_content": str(sealed)}:
                yield block, "sealed", sealed
            case {"type": str(kind)}:
                yield block, kind, ""
            case _:
                yield block, type(part).__name__, ""


def tool_name(item: dict[str, Any]) -> str:
    """The name of a called tool; one of a namespace (an MCP server) is written ``namespace__name``."""
    name, space = item.get("name"), item.get("namespace")
    name = name if isinstance(name, str) and name else "?"
    return f"{space}__{name}" if isinstance(space, str) and space and not name.startswith(space) else name
