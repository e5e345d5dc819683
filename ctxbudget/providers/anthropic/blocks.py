"""Texts and data of content blocks."""

from __future__ import annotations

from typing import Any

from ctxbudget.exchanges import plain


def texts_of(content: Any) -> list[str]:
    """The texts in the content of a result: text blocks as they are, others as compact JSON without encoded data."""
    match content:
        case None | "":
            return []
        case str():
            return [content]
        case list():
            return [text for item in content for text in texts_of(item)]
        case {"type": "text", "text": str(text)}:
            return [text]
        case {"type": "search_result", "content": list(parts)}:
            return texts_of(parts)
    return [plain(content)]


def hidden_length(content: Any) -> int:
    """Characters of encrypted page text in the results of a search that ran at the provider's."""
    items = content if isinstance(content, list) else [content]
    found = [item.get("encrypted_content") for item in items if isinstance(item, dict)]
    return sum(len(data) for data in found if isinstance(data, str))


def base64_of(block: dict[str, Any]) -> str:
    """The data of an image or a document; empty for a link or a file id."""
    match block.get("source"):
        case {"data": str(data)}:
            return data
    return ""
