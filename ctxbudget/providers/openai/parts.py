"""What stands in the content of a chat message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MEDIA = frozenset({
    "image_url", "input_audio", "file", "image", "video_url", "audio", "video", "input_image", "input_file",
})  # fmt: skip


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
    match part:
        case {"type": str(kind)}:
            return kind in MEDIA
    return False


def encoded(part: dict[str, Any]) -> str:
    """The base64 data of an image, an audio or a file part; empty for a link."""
    match part:
        case (
            {"image_url": {"url": str(url)} | str(url)}
            | {"file": {"file_data": str(url)}}
            | {"source": {"data": str(url)}}
        ):
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
