"""OpenAI chat messages: one conversation, fine-tuning sets, and request and response logs (LiteLLM, OpenHands).

Where: wherever a program keeps ``messages``: a list, ``{"messages": …, "tools": …}``, JSON Lines of either, request and
response pairs of gateways and proxies, streamed chunks.
Seen: everything that was sent: system text, tool definitions, texts, images, calls, results.
Unseen: reasoning, which the API does not give out; in a bare list the tools too.
Counts: the ``usage`` of a response where the log has it, the cached part inside the prompt; else estimates alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget import exchanges, message_lists
from ctxbudget.providers.openai import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Messages with tool calls, tool and system roles; a plain list of messages counts half."""
    return message_lists.score(head, message_lists.OPENAI)


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every conversation in the file; requests of a log that continue one another are one conversation."""
    return exchanges.traces(reading, start, requests)
