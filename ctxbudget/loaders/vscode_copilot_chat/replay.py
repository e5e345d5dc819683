"""A chat replay → the conversations of its requests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import Exchange, Log, compact
from ctxbudget.loaders.vscode_copilot_chat.parts import add, rendered, split
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, Start, TraceBuilder
    from ctxbudget.exchanges import Speaker
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace, Usage

ROLES = {0: "system", 1: "user", 2: "assistant", 3: "tool"}
"""Roles by their number (``@vscode/prompt-tsx``, ``Raw.ChatRole``)."""
SUFFIX = "__vscode-"
"""What the client puts behind the id of a call to make it its own."""


def traces(data: dict[str, Any], start: Start, reading: Reading) -> Iterator[Trace]:
    """Every conversation, the main loop first; a reply's calls stand in the log behind it."""
    log = Log(start, Provider())
    prompts = items(data.get("prompts")) or [data]
    entries = [entry for prompt in prompts for entry in items(mapping(prompt).get("logs")) if isinstance(entry, dict)]
    latest: Exchange | None = None
    for line, entry in enumerate(entries, 1):
        match entry:
            case {"kind": "request", "requestMessages": asked}:
                latest = _exchange(entry, asked)
                log.take(latest, line)
            case {"kind": "toolCall", "id": str(name), "tool": str(tool)} if latest and latest.reply is not None:
                latest.reply["calls"].append([name.split(SUFFIX)[0], tool, compact(entry.get("args"))])
            case {"kind": str(kind)} if kind not in {"element", "toolCall"}:
                log.skipped[f"log entry of kind {kind[:40]!r}, skipped"] += 1
    order = log.ordered()
    for at, conversation in enumerate(order):
        conversation.build.agent = "vscode-copilot-chat"
        if len(order) > 1:
            conversation.build.label = str(conversation.line)
        yield conversation.finish(reading, log.skipped if at == 0 else Counter())


def _exchange(entry: dict[str, Any], asked: Any) -> Exchange:
    facts = mapping(entry.get("metadata"))
    messages = [message for message in map(_message, items(mapping(asked).get("messages"))) if message]
    begin = next((at for at, message in enumerate(messages) if message["role"] != "system"), len(messages))
    tools = [(Kind.TOOL_DEFINITIONS, compact(tool)) for tool in items(facts.get("tools"))]
    system = [
        (Kind.SYSTEM_PROMPT, value)
        for message in messages[:begin]
        for _, kind, value in message["parts"]
        if kind == "text"
    ]
    found = Exchange(messages[begin:], [*tools, *system], model=string(facts.get("model")))
    found.window = (tokens(facts.get("maxPromptTokens")) + tokens(facts.get("maxResponseTokens"))) or None
    response = mapping(entry.get("response"))
    if response.get("type") == "success":
        found.called = True
        found.usage, found.key = read_usage(facts.get("usage")), string(entry.get("id"))
        said = "".join(text for text in items(response.get("message")) if isinstance(text, str))
        found.reply = {"role": "assistant", "parts": [[0, "text", said]] if said else [], "calls": []}
    return found


def _message(message: Any) -> dict[str, Any] | None:
    match message:
        case {"role": int(role), "content": content} if role in ROLES:
            parts = [list(part) for part in rendered(content)]
            said = [part for part in parts if part[2] or role != 2]
            told: dict[str, Any] = {"role": ROLES[role], "parts": said, "calls": []}
            for call in items(message.get("toolCalls")):
                match call:
                    case {"id": str(name), "function": {"name": str(tool), **rest}}:
                        told["calls"].append([name, tool, rest.get("arguments")])
            told["call"] = string(message.get("toolCallId"))
            return told
    return None


class Provider:
    """How requests of one conversation are told apart, and how their messages are said."""

    def exchange(self, data: dict[str, Any], skipped: Counter[str]) -> Exchange | None:  # noqa: ARG002
        """The requests are found by ``traces``."""
        return None

    def speaker(self, build: TraceBuilder) -> Speaker:
        """Says messages to ``build``."""
        return Messages(build)

    def identity(self, message: Any) -> Any:
        """What makes it the same message in a later request."""
        return [message["role"], message["parts"], [call[:2] for call in message["calls"]]]


class Messages:
    """Says the messages of one conversation to a builder."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build

    def message(self, message: Any, line: int) -> list[Piece]:
        """One message, and its parts; one without any keeps its place with an empty part."""
        self._build.message(message["role"], line)
        pieces = [piece for part in message["parts"] for piece in self._part(message, *part)]
        for number, (name, tool, given) in enumerate(message["calls"], len(message["parts"])):
            pieces.append(self._build.call(tool, given, id=name, block=number))
        kind = {"user": Kind.USER, "assistant": None}.get(message["role"], Kind.OTHER)
        return pieces or [self._build.add(kind, "")]

    def billed(self, message: dict[str, Any]) -> tuple[str | None, Usage | None, str | None]:  # noqa: ARG002
        """The requests have it."""
        return None, None, None

    def _part(self, message: dict[str, Any], number: int, kind: str, value: Any) -> list[Piece]:
        call = message.get("call")
        if kind != "text":
            return [add(self._build, kind, value, number, call)]
        match message["role"]:
            case "tool":
                return [self._build.result(value, call=call or "?", block=number)]
            case "user":
                return [self._build.add(own, text, block=number) for own, text in split(value)]
            case "assistant":
                return [self._build.add(None, value, block=number)]
        return [self._build.add(Kind.INJECTED, value, block=number)]
