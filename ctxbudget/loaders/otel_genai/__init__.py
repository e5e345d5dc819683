"""OpenTelemetry spans with GenAI attributes: OTLP JSON, console exports, sets of attributes.

Where: wherever a collector's file exporter, an SDK's console exporter or a backend's download puts them; VS Code Copilot Chat's ``agent-traces.db`` (SQLite).
Seen: system instructions, tool definitions and the whole history of every model call, where content is captured; agents started by agents as children; several traces of one session as one conversation.
Unseen: all text where content capture is off, which is the default of most instrumentations: then only counts stand.
Counts: per call, from the provider; cached tokens are part of the input, reasoning is part of the output. Sums on agent spans are not added.

Rules: semantic-conventions 1.41 ``gen-ai-spans``, its events until 1.36, OpenLLMetry 0.x's numbered attributes, Vercel
AI SDK 4 and 5 (``ai.prompt.messages``). Attributes may be cut at a length limit: what is whole before the cut is used.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ctxbudget import spans, sqlite
from ctxbudget.loaders.otel_genai.calls import Calls
from ctxbudget.providers.openai import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace


def sniff(head: bytes, path: str) -> float:
    """Spans with ``gen_ai`` attributes; an export request without any yet may be one. A database by its tables."""
    if sqlite.tables(head, path) >= spans.COPILOT:
        return 0.95
    words = spans.words(head)
    if words["gen_ai"]:
        return 0.9 if words["gen_ai"] >= words["openinference"] else 0.7
    return 0.3 if words["spans"] and not words["openinference"] else 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The conversations of a file, each named by its session or trace."""
    skipped: Counter[str] = Counter()
    found = spans.of(reading, skipped)
    yield from spans.traces(reading, spans.named(found, Calls.kind, Calls.session), start, Calls(), requests, skipped)
