"""The body of an answer: the text in it, or what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

from ctxbudget.safe import unicode_text
from ctxbudget.summaries.cache import Answer

_SHORTEST_SECRET = 6
"""Characters of a key that is taken out of texts. Shorter ones (``EMPTY``, ``none``) are no secret, but words."""
_COMPLAINT = 300


class Malformed(Exception):
    """Not an answer. ``broken``: not even JSON, so that another attempt may bring it whole."""

    def __init__(self, reason: str, *, broken: bool = False) -> None:
        super().__init__(reason)
        self.broken = broken


def answer(body: bytes, key: str) -> Answer:
    """The first choice's text and the usage. A refusal, or a text of None, is an empty text."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed("the answer is no JSON", broken=True) from None
    try:
        message = data["choices"][0]["message"]
        content = message["content"] if "content" in message else message["refusal"] and None
    except (KeyError, IndexError, TypeError):
        raise Malformed("the answer holds no choices[0].message.content") from None
    usage = data.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    text = without(key, unicode_text(_text(content)))
    return Answer(text, _tokens(counts.get("prompt_tokens")), _tokens(counts.get("completion_tokens")))


def complaint(body: bytes, key: str) -> str:
    """What the body of an error says, in one short line without the key; empty where it says nothing."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = data.get("error", data) if isinstance(data, dict) else data
    said = error.get("message", "") if isinstance(error, dict) else error
    return " ".join(without(key, said).split())[:_COMPLAINT] if isinstance(said, str) else ""


def without(key: str, text: str) -> str:
    """``text`` with the key taken out, in case an endpoint repeats it."""
    return text.replace(key, "[key]") if len(key) >= _SHORTEST_SECRET else text


def _text(content: Any) -> str:
    """Text, or a list of parts with text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return "".join(parts)
    raise Malformed("the answer's content is no text")


def _tokens(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
