"""LangChain messages: ``dumps`` constructors, ``messages_to_dict``, ``model_dump``, LangGraph states.

Where: wherever an application stored them; LangGraph's thread states (``{"values": {"messages": […]}}``).
Seen: every message of the state, with the calls and results of tools.
Unseen: tool definitions, and the system prompt where the graph adds it at each call; messages that a state no longer holds (trimmed, removed, summarised).
Counts: per reply, ``usage_metadata`` (inclusive: cached in the input, reasoning in the output), else the provider's own words in ``response_metadata``; none in older versions.

Rules: langchain-core 0.1 to 1.0 ``messages/``, ``load/dump.py``; langchainjs writes the same. Of the states of one
thread the longest counts. Chunks of a streamed reply are put together.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import dialects
from ctxbudget.dialects import langchain
from ctxbudget.errors import EmptyTrace
from ctxbudget.exchanges import Log
from ctxbudget.message_lists import first_records
from ctxbudget.providers.openai import requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

TELLING = frozenset({"human", "ai", "HumanMessage", "AIMessage", "AIMessageChunk"})
"""Types that a plain ``{type, content}`` needs to have somewhere to be LangChain's."""

WRAPPERS = ("values", "messages", "kwargs", "state", "channel_values", "history")


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Constructors or typed data are certain, ``{type: human, content}`` nearly."""
    listed = [one for row in first_records(head) for one in _messages(row)]
    if any(_is_serialised(one) for one in listed):
        return 0.95
    return 0.9 if any(one.get("type") in TELLING and "role" not in one for one in listed) else 0.0


def _is_serialised(value: dict[str, Any]) -> bool:
    match value:
        case {"lc": _, "id": [*_, str(name)], "kwargs": dict()}:
            return name in langchain.ROLES
        case {"type": str(kind), "data": {"content": _}}:
            return kind in langchain.ROLES
    return False


def _is_message(value: Any) -> bool:
    match value:
        case dict() if _is_serialised(value):
            return True
        case {"type": str(kind), "content": _}:
            return kind in langchain.ROLES
        case {"role": str(), "content": _}:
            return True
    return False


def _messages(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The messages in a value, which may be one itself, a list of them, or a state around them."""
    if _is_message(value):
        return [value]
    match value:
        case list():
            return [item for item in value if _is_message(item)]
        case dict() if depth < len(WRAPPERS) and not value.keys() & {"run_type", "observations", "request_body"}:
            inner = (value[name] for name in WRAPPERS if isinstance(value.get(name), dict | list))
            return next((found for item in inner if (found := _messages(item, depth + 1))), [])
    return []


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every conversation in the file: messages one by one are one, each state is one."""
    log = Log(start, requests)
    single: list[tuple[dict[str, Any], int]] = []
    states: list[tuple[Any, list[dict[str, Any]], int]] = []
    for record in reading.unwrap():
        found = _messages(record.data)
        if found and found[0] is record.data:
            single.append((found[0], record.line))
        elif found:
            states.append((_thread(record.data), found, record.line))
        else:
            log.skipped["record without messages, skipped"] += 1
    if single:
        _say(log, single)
    for _, messages, line in _longest(states):
        _say(log, [(message, line) for message in messages])
    log.skipped["earlier state of a thread, skipped"] += len(states) + bool(single) - len(log.conversations)
    if not log.conversations:
        raise EmptyTrace(f"{reading.path}: no message in it", hint="nothing was measured")
    extra = log.skipped.copy()
    for conversation in log.conversations:
        if len(log.conversations) > 1:
            conversation.build.label = str(conversation.line)
        yield conversation.finish(reading, extra)
        extra.clear()


def _thread(state: Any) -> str | None:
    """The thread that a state belongs to."""
    match state:
        case (
            {"config": {"configurable": {"thread_id": str(name)}}}
            | {"checkpoint": {"thread_id": str(name)}}
            | {"metadata": {"thread_id": str(name)}}
            | {"thread_id": str(name)}
        ):
            return name
    return None


def _longest(states: list[tuple[Any, list[dict[str, Any]], int]]) -> list[tuple[Any, list[dict[str, Any]], int]]:
    """Of the states of a thread the one with the most messages; states without a thread are all their own."""
    best: dict[Any, tuple[Any, list[dict[str, Any]], int]] = {}
    for number, state in enumerate(states):
        key = number if state[0] is None else state[0]
        if key not in best or len(state[1]) > len(best[key][1]):
            best[key] = state
    return list(best.values())


def _say(log: Log, messages: list[tuple[dict[str, Any], int]]) -> None:
    conversation = log.begin(messages[0][1])
    for message, line in _joined(messages):
        for said in dialects.message(message):
            if said.get("role") == "assistant":
                said["usage"] = dialects.counts(langchain.usage(message))
                said["model"] = langchain.model(message)
            conversation.say(said, line)


def _joined(messages: Iterable[tuple[dict[str, Any], int]]) -> Iterator[tuple[dict[str, Any], int]]:
    """The messages; chunks that share an id, one behind the other, as one."""
    pieces: list[dict[str, Any]] = []
    first = 0
    for message, line in messages:
        name, fields = langchain.opened(message)
        is_chunk = name == "AIMessageChunk"
        if pieces and not (is_chunk and fields.get("id") == pieces[0].get("id")):
            yield _added(pieces), first
            pieces = []
        if is_chunk:
            first = first if pieces else line
            pieces.append(fields)
        else:
            yield message, line
    if pieces:
        yield _added(pieces), first


def _added(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """A streamed reply: texts and pieces of calls add up, the last counts stand."""
    content = [part for piece in pieces for part in _listed(piece.get("content"))]
    calls = [call for piece in pieces for call in _listed(piece.get("tool_calls"))] if len(pieces) == 1 else []
    found: dict[str, Any] = {
        "type": "AIMessageChunk",
        "content": "".join(content) if all(isinstance(part, str) for part in content) else content,
        "tool_calls": calls or _calls(pieces),
    }
    for name in ("additional_kwargs", "response_metadata", "usage_metadata"):
        found[name] = next((piece[name] for piece in reversed(pieces) if piece.get(name)), None)
    return found


def _calls(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of a streamed reply, whose names and arguments come in pieces."""
    parts: dict[str, dict[str, Any]] = {}
    for piece in (part for one in pieces for part in _listed(one.get("tool_call_chunks"))):
        if isinstance(piece, dict):
            call = parts.setdefault(str(piece.get("index")), {"name": [], "args": [], "id": None})
            call["id"] = call["id"] or piece.get("id")
            for name in ("name", "args"):
                call[name] += [piece[name]] if isinstance(piece.get(name), str) else []
    return [{"id": c["id"], "name": "".join(c["name"]), "args": "".join(c["args"])} for c in parts.values()]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []
