"""Anthropic messages: a list, a request or a response, and request and response logs with streamed bodies.

Where: wherever a program keeps ``messages`` in Anthropic's shape: a list, a request, a response, JSON Lines of them,
logs of proxies with requests, responses and server-sent events.
Seen: everything that was sent: system text, tool definitions, texts, images, documents, thinking, calls, results.
Unseen: thinking that was sealed; in a bare list the system text and the tools too.
Counts: the ``usage`` of a response where the log has it: prompt = input + cache read + cache write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget import exchanges, message_lists
from ctxbudget.providers.anthropic import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Blocks such as ``tool_use``, tools with an ``input_schema``, a system prompt beside the messages."""
    return message_lists.score(head, message_lists.ANTHROPIC)


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every conversation in the file; of a log the main loop comes first, helper calls are traces of their own."""
    return exchanges.traces(reading, start, requests)
