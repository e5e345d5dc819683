"""The log of a run, and how each prompt showed it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxbudget import media
from ctxbudget.exchanges import parsed
from ctxbudget.resources import EDIT
from ctxbudget.resources.paths import below, normal
from ctxbudget.trace import Form, Kind, Resource

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from ctxbudget.builder import Piece, TraceBuilder

Message = dict[str, Any]

ON_OPEN_FILE = frozenset({"edit", "insert", "append"})
"""Commands that name lines and no file (SWE-agent 0.7 to 1.1, ``tools/windowed``)."""

REFUSED = (
    "Your proposed edit has introduced new syntax error",
    "The edit was not applied",
    "No replacement was performed",
)
"""How an observation begins that says an edit was not made (``tools/windowed_edit_linting``, ``edit_anthropic``)."""

_CALL = re.compile(r"<function=|<function_call>|<tool_call>|<command>")


@dataclass(slots=True)
class Slot:
    """A message of the log: its content as the last prompt showed it, and its parts."""

    role: Any
    content: Any
    pieces: list[Piece] = field(default_factory=list)


class Log:
    """Adds messages to a trace as they were first sent, and records an edit where a later prompt differs."""

    def __init__(self, build: TraceBuilder, unread: Counter[str]) -> None:
        """``unread`` counts the parts of messages that are not read."""
        self._build = build
        self._unread = unread
        self._slots: list[Slot] = []
        self._extra: list[Slot] = []
        """Messages that only the last prompt holds."""
        self._acted = False
        self._begun = False

    def enter(self, waiting: Sequence[tuple[int, Message]], prompt: list[Message] | None, line: int) -> None:
        """The messages since the last reply, as ``prompt`` shows them, which then went to the model."""
        ahead: list[Message] = []
        if prompt is not None:
            for slot in self._extra:
                self._replace([slot], [], line)
            self._extra = []
            # a shorter prompt has left out older messages; what is new stands at its end
            known = min(len(self._slots), max(0, len(prompt) - len(waiting)))
            self._compare(prompt[:known], line)
            ahead = prompt[known:]
        for at, (number, message) in enumerate(waiting):
            sent = ahead[at] if at < len(ahead) and ahead[at].get("role") == message.get("role") else message
            shown = any(what == "image" for _, what, _ in _others(sent.get("content")))
            # the history may hold an image as text
            self._add({**message, "content": sent.get("content")} if shown else message, number)
            self._show(self._slots[-1], sent.get("content"), number)
        for message in ahead[len(waiting) :]:
            self._begun = True
            self._add(message, line)
            self._extra.append(self._slots.pop())

    def reply(self, message: Message, step: Message, line: int) -> None:
        """The agent's message, cut into its reasoning and its action; ``step`` is what came of it."""
        self._build.message("assistant", line)
        slot = Slot("assistant", message.get("content"))
        slot.pieces += self._reply(message, step.get("action"))
        for piece in slot.pieces:
            place(piece, step.get("state"))
        self._slots.append(slot)
        self._acted = any(piece.call is not None for piece in slot.pieces)
        self._begun = True

    # ── the log ────────────────────────────────────────────────────────────────────────────────────────────────

    def _reply(self, message: Message, action: Any) -> Iterator[Piece]:
        text = plain(message.get("content"))
        calls = [call for call in _list(message.get("tool_calls")) if isinstance(call, dict)]
        if calls:
            if text:
                yield self._build.add(None, text)
            for block, call in enumerate(calls, 1):
                made = call.get("function")
                made = made if isinstance(made, dict) else {}
                name = made.get("name")
                tool = name if isinstance(name, str) and name else "?"
                yield self._build.call(tool, made.get("arguments"), id=_string(call.get("id")), block=block)
            return
        given = message.get("action")
        thought, done = split(text, plain(given if isinstance(given, str) else action), plain(message.get("thought")))
        if thought.strip():
            yield self._build.add(None, thought)
        if done:
            tool, rest = done
            yield self._build.call(tool, rest)

    def _add(self, message: Message, line: int) -> None:
        role, shown = _string(message.get("role")) or "user", is_shown(message)
        slot = Slot(message.get("role"), message.get("content"))
        self._slots.append(slot)
        self._build.message(role if role in {"system", "assistant", "tool"} else "user", line)
        if self._acted and role in {"user", "tool"} and not shown:
            self._acted = False
            ids = _list(message.get("tool_call_ids"))
            slot.pieces += self._result(slot.content, _string(ids[0]) if ids else None)
        elif role == "assistant" and not shown:
            slot.pieces += self._parts(slot.content, None)
        elif shown or self._begun:
            slot.pieces += self._parts(slot.content, Kind.INJECTED)
        else:
            slot.pieces += self._parts(slot.content, Kind.SYSTEM_PROMPT if role == "system" else Kind.USER)

    def _result(self, content: Any, call: str | None) -> Iterator[Piece]:
        text = plain(content)
        result = self._build.result(text, call=call, error=text.lstrip().startswith(REFUSED))
        yield result
        for block, what, data in _others(content):
            yield from self._other(block, what, data, result.call)

    def _parts(self, content: Any, kind: Kind | None) -> Iterator[Piece]:
        if text := plain(content):
            yield self._build.add(kind, text)
        for block, what, data in _others(content):
            yield from self._other(block, what, data, None)

    def _other(self, block: int, what: str, data: str, call: str | None) -> Iterator[Piece]:
        if what != "image":
            self._unread[f"content/{what}"] += 1
            return
        encoded = data.partition(",")[2] if data.startswith("data:") else ""
        size = media.base64_size(encoded) if encoded else None
        yield self._build.add(Kind.MEDIA, "", block=block, size=size, call=call)

    # ── what a prompt shows otherwise ──────────────────────────────────────────────────────────────────────────

    def _compare(self, body: list[Message], line: int) -> None:
        """Bring the slots to what ``body`` shows of them."""
        if len(body) == len(self._slots) and all(map(_fits, self._slots, body)):
            for slot, message in zip(self._slots, body, strict=True):
                self._show(slot, message.get("content"), line)
            return
        # messages were left out or put in: what is equal at both ends stays
        first = _common(self._slots, body)
        last = _common(self._slots[first:][::-1], body[first:][::-1])
        gone = self._slots[first : len(self._slots) - last]
        come = body[first : len(body) - last]
        if not gone and not come:
            return
        new = [Slot(message.get("role"), message.get("content")) for message in come]
        self._replace(gone, new, line)
        self._slots[first : len(self._slots) - last] = new

    def _show(self, slot: Slot, content: Any, line: int) -> None:
        if content == slot.content:
            return
        before, after = plain(slot.content), plain(content)
        slot.content = content
        if before == after or not slot.pieces:
            return  # only the marks of the prompt cache moved
        kept = slot.pieces[-1 if slot.role == "assistant" else 0]
        form = Form.CLEARED if len(after) < len(before) else None
        with self._build.compaction(line, trigger="elision", form=form, removed=slot.pieces):
            slot.pieces = [self._build.stand_in(kept, after)]

    def _replace(self, gone: list[Slot], come: list[Slot], line: int) -> None:
        removed = [piece for slot in gone for piece in slot.pieces]
        with self._build.compaction(line, trigger="elision", form=None, removed=removed):
            for slot in come:
                self._build.message("system" if slot.role == "system" else "user", line)
                slot.pieces += self._parts(slot.content, Kind.INJECTED)


def place(call: Piece, state: Any) -> None:
    """Give an edit of "the open file" that file, which the state behind the step names (older versions as JSON)."""
    given = parsed(state) if isinstance(state, str) else state
    if call.tool not in ON_OPEN_FILE or call.resource is None or call.resource.cls != EDIT:
        return
    match given:
        case {"open_file": str(file)} if file not in {"", "n/a"}:
            folder = given.get("working_dir")
            target = below(normal(file), normal(folder)) if isinstance(folder, str) else normal(file)
            call.resource = Resource(EDIT, target)


def split(text: str, action: str, thought: str) -> tuple[str, tuple[str, str] | None]:
    """A reply's text without its action, and the action as tool and rest; None where there is none to be found."""
    action = action.strip()
    at = text.rfind(action) if action else -1
    if at >= 0:
        tool, _, rest = _words(action)
        return text[:at] + text[at + len(action) :], (tool, rest)
    # written otherwise than it was run, as with XML tags: from the first tag on, or behind the thought
    tag = _CALL.search(text)
    at = tag.start() if tag else len(thought) if thought and text.startswith(thought) else -1
    if not action or at < 0 or not text[at:].strip():
        return text, None
    return text[:at], (_words(action)[0], text[at:])


def _words(action: str) -> tuple[str, str, str]:
    tool = action.split(maxsplit=1)[0]
    return tool, " ", action[len(tool) + 1 :]


def is_shown(message: Message) -> bool:
    """Whether the message is part of a demonstration."""
    return message.get("is_demo") is True or message.get("message_type") == "demonstration"


def plain(content: Any) -> str:
    """The text of a content: a string, or its text blocks."""
    if isinstance(content, str):
        return content
    texts = (block.get("text") if isinstance(block, dict) else block for block in _list(content))
    return "".join(text for text in texts if isinstance(text, str))


def _others(content: Any) -> Iterator[tuple[int, str, str]]:
    """The blocks without text: place, ``image`` or type, URL."""
    for block, part in enumerate(_list(content)):
        match part:
            case str() | {"text": str()}:
                continue
            case {"image_url": {"url": str(url)}} | {"image_url": str(url)}:
                yield block, "image", url
            case {"type": str(kind)}:
                yield block, kind, ""
            case _:
                yield block, type(part).__name__, ""


def _common(slots: Sequence[Slot], messages: Sequence[Message]) -> int:
    """How many of both are equal from the start."""
    count = 0
    for slot, message in zip(slots, messages, strict=False):
        if not _fits(slot, message) or plain(slot.content) != plain(message.get("content")):
            break
        count += 1
    return count


def _fits(slot: Slot, message: Message) -> bool:
    return bool(slot.role == message.get("role"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
