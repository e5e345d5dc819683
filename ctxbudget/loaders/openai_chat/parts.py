"""What stands in the content of a chat message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import compact

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCODED = frozenset({"data", "file_data", "url", "image_url", "encrypted_content", "signature"})
"""Fields that hold encoded data: never counted as text."""


def parts(content: Any) -> Iterator[tuple[int, Any]]:
    """The parts of a message's content, with their numbers; a string is one part."""
    if isinstance(content, list):
        yield from enumerate(content)
    elif content is not None:
        yield 0, content


def text_of(part: Any) -> str | None:
    """The text of a text part (LLaMA-Factory calls it ``value``), or None."""
    match part:
        case str():
            return part
        case {"type": "text" | "input_text" | "output_text", "text": str(text)} | {"type": "text", "value": str(text)}:
            return text
    return None


def is_media(part: Any) -> bool:
    """Whether it is an image, audio, video or a file."""
    kinds = {"image_url", "input_audio", "file", "image", "video_url", "audio", "video", "input_image", "input_file"}
    return isinstance(part, dict) and part.get("type") in kinds


def encoded(part: dict[str, Any]) -> str:
    """The base64 data of an image, an audio or a file part; empty for a link."""
    match part:
        case {"image_url": {"url": str(url)} | str(url)} | {"file": {"file_data": str(url)}} | {"source": {"data": str(url)}}:
            head, comma, data = url.partition(",")
            return data if comma and head.startswith("data:") else "" if "://" in head[:12] else url
        case {"image": str(data)}:
            return data
    return ""


def reasoning_details(details: list[Any]) -> tuple[str, int]:
    """Reasoning in the blocks of OpenRouter and LiteLLM: its text, and the length of what is encrypted."""
    texts, hidden = [], 0
    for detail in details:
        match detail:
            case {"text": str(text)} | {"summary": str(text)} | {"thinking": str(text)} if text:
                texts.append(text)
            case {"data": str(data)} | {"signature": str(data)}:
                hidden += len(data)
    return "\n".join(texts), hidden


def plain(part: Any) -> str:
    """A part as compact JSON, without encoded data."""
    return part if isinstance(part, str) else compact(_without_data(part))


def _without_data(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_data(item) for key, item in value.items() if key not in ENCODED or not isinstance(item, str)}
        case list():
            return [_without_data(item) for item in value]
    return value
