"""Parts of Gemini's messages → parts of a conversation."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import compact, plain
from ctxbudget.loaders.gemini_cli.waiting import Waiting
from ctxbudget.trace import Kind, Resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Piece, TraceBuilder

Fields = dict[str, Any]

PARTS = frozenset({
    "text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult",
})  # fmt: skip
"""What a part of the API's ``Content`` holds."""

FAILED = frozenset({"error", "cancelled"})
"""States of a call that did not do what was asked."""

SUMMARY = "<state_snapshot>"
"""How a compressed history begins."""
_SET_UP = ("This is the Gemini CLI. We are setting up the context for our chat", "<session_context>", "<hook_context>")
_FOLDER = re.compile(r"Workspace Directories:\*\*\s*\n\s*- (/\S.{0,1000})")
_ATTACHED = "--- Content from referenced files ---"
_END = "--- End of content ---"
_FILE = re.compile(r"\s*Content from @?(\S.{0,1000}):\s*")


def items(content: Any) -> Iterator[tuple[int, Any]]:
    """The parts of a content with their numbers; a string is one text part."""
    match content:
        case str():
            yield 0, {"text": content}
        case list():
            for block, part in enumerate(content):
                yield block, {"text": part} if isinstance(part, str) else part
        case dict():
            yield 0, content


def words(content: Any) -> str:
    """All text of a content, to recognise it by."""
    return "".join(part["text"] for _, part in items(content) if _is_text(part))


def outcome_of(response: Any) -> tuple[str, bool]:
    """The text of a function's response, and whether it tells of a failure."""
    match response:
        case None:
            return "", False
        case str():
            return response, False
        case {"error": str(text)}:
            return text, True
        case {"output": str(text)} if len(response) == 1:
            return text, False
    return plain(response), False


def result_text(parts: Any) -> str:
    """The text of a call's result, as it stands in a recording."""
    found = []
    for _, part in items(parts):
        match part:
            case {"functionResponse": dict(response)}:
                found.append(outcome_of(response.get("response"))[0])
            case {"text": str(text)}:
                found.append(text)
    return "\n".join(found)


class Speaker:
    """Says contents to a builder. Calls without an id get one, and are answered by name and order."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self.results: dict[str, Piece] = {}
        """The latest text that answers a call, by the call's id."""
        self._build = build
        self._pieces: list[Piece] = []
        self._waiting = Waiting()
        self._named = 0
        self._role = ""

    def system(self, content: Any, line: int) -> None:
        """The system prompt of a request."""
        self._build.message("system", line)
        text = words(content.get("parts") if isinstance(content, dict) and "parts" in content else content)
        self._build.add(Kind.SYSTEM_PROMPT, text)

    def user(self, content: Any, line: int, *, summary: bool = False) -> list[Piece]:
        """What goes to the model: text, files, and the responses of functions."""
        self._pieces, self._role = [], ""
        attached, name = False, None
        for block, part in items(content):
            self._speak("tool" if _is_answer(part) else "user", line)
            if not _is_text(part):
                self._other(part, block)
                continue
            text = part["text"]
            if attached and (file := _FILE.fullmatch(text)):
                name = file[1]
            marks = text.strip() in {_ATTACHED, _END}
            attached = text.strip() == _ATTACHED if marks else attached
            if attached or marks:
                self._pieces.append(self._build.add(Kind.RESULT, text, block=block))
                self._pieces[-1].resource = Resource("read", name) if name else None
            else:
                self._said(text, block, summary=summary)
        return self._pieces

    def model(self, content: Any, line: int, calls: Iterable[Fields] = (), *, kind: Kind | None = None) -> list[Piece]:
        """A reply, and the results that a recording keeps with its ``calls``; ``kind`` is that of its text."""
        self._pieces, self._waiting = [], Waiting()
        kept = list(calls)
        known = {call.get("id") for call in kept if isinstance(call.get("id"), str)}
        self._role = ""
        self._speak("assistant", line)
        for block, part in items(content):
            # a tool that ran at the provider's: its result is not the model's own words
            if self._role == "tool" and not _is_answer(part):
                self._build.go_on(line)
            self._speak("tool" if _is_answer(part) else "assistant", line)
            match part:
                case {"functionCall": {"id": str(own)}} if own in known:
                    continue
                case {"text": str(text), "thought": True}:
                    self._pieces.append(self._build.add(Kind.THINKING, text, block=block))
                case {"text": str(text)}:
                    if text:
                        self._pieces.append(self._build.add(kind, text, block=block))
                case _:
                    self._other(part, block)
        if kept:
            self._speak("assistant", line)
            self._kept(kept, line)
        return self._pieces

    def _kept(self, calls: list[Fields], line: int) -> None:
        """The calls of a reply, and then their results."""
        for block, call in enumerate(calls):
            self._call(call.get("name"), call.get("args"), call.get("id"), block)
        if any(call.get("result") is not None for call in calls):
            self._speak("tool", line)
        for block, call in enumerate(calls):
            self._kept_result(call, block)

    def _speak(self, role: str, line: int) -> None:
        if role != self._role:
            self._build.message(role, line)
        self._role = role

    # ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _said(self, text: str, block: int, *, summary: bool) -> None:
        if summary or text.lstrip().startswith(SUMMARY):
            split: Iterable[tuple[Kind, str]] = [(Kind.SUMMARY, text)]
        elif text.startswith(_SET_UP):
            split = [(Kind.INJECTED, text)]
            if folder := _FOLDER.search(text, 0, 4_000):
                self._build.cwd = self._build.cwd or folder[1]
        else:
            split = injected.split(text)
        self._pieces += [self._build.add(kind, piece, block=block) for kind, piece in split]

    def _other(self, part: Any, block: int) -> None:
        match part:
            case {"functionCall": dict(call)}:
                self._call(call.get("name"), call.get("args"), call.get("id"), block)
            case {"functionResponse": dict(response)}:
                self._response(response, block)
            case {"inlineData": _} | {"fileData": _}:
                self._media(part, block)
            case {"executableCode": dict(code)}:
                self._call("code_execution", code, None, block)
            case {"codeExecutionResult": dict(done)}:
                self._response({"name": "code_execution", "response": {"output": done.get("output")}}, block)
            case _:
                name = next(iter(part), "nothing") if isinstance(part, dict) else type(part).__name__
                self.skipped[f"part {str(name)[:40]!r}, kept as other text"] += 1
                self._pieces.append(self._build.add(Kind.OTHER, plain(part), block=block))

    def _call(self, name: Any, arguments: Any, own: Any, block: int) -> None:
        tool = name if isinstance(name, str) and name else "?"
        if not isinstance(own, str) or not own:
            self._named += 1
            own = f"call-{self._named}"
            self._waiting.add(tool, own)
        given = arguments if isinstance(arguments, dict | str) or arguments is None else compact(arguments)
        self._pieces.append(self._build.call(tool, given, id=own, block=block))

    def _kept_result(self, call: Fields, block: int) -> None:
        own, parts = call.get("id"), call.get("result")
        for _, part in items(parts):
            match part:
                case {"functionResponse": dict(response)}:
                    named = {"id": own, **response} if isinstance(own, str) else response
                    self._response(named, block, failed=str(call.get("status")) in FAILED)
                case {"text": str(text)}:
                    answered = own if isinstance(own, str) else None
                    self._pieces.append(self._build.add(Kind.RESULT, text, block=block, call=answered))
                case _:
                    self._media(part, block, own if isinstance(own, str) else None)

    def _response(self, response: Fields, block: int, *, failed: bool = False) -> None:
        """The answer of a function; one that a recording has with its call comes again in the history."""
        call = self._answers(response)
        if call is not None and call in self.results:
            return
        text, bad = outcome_of(response.get("response"))
        piece = self._build.result(text, call=call, error=bad or failed, block=block)
        self._pieces.append(piece)
        if call is not None:
            self.results[call] = piece
        inner = response.get("parts")
        for part in inner if isinstance(inner, list) else []:
            self._media(part, block, call)

    def _answers(self, response: Fields) -> str | None:
        own, name = response.get("id"), response.get("name")
        if isinstance(own, str) and self._build.knows(own):
            return own
        return self._waiting.take(str(name)) or (own if isinstance(own, str) else None)

    def _media(self, part: Any, block: int, call: str | None = None) -> None:
        """An image or a file: by its size in pixels, never by the length of its base64."""
        match part:
            case {"inlineData": {"data": str(data)}}:
                size = media.base64_size(data)
            case {"inlineData": _} | {"fileData": _}:
                size = None
            case _:
                self.skipped["part of a result, skipped"] += 1
                return
        self._pieces.append(self._build.add(Kind.MEDIA, "", block=block, size=size, call=call))


def _is_answer(part: Any) -> bool:
    return isinstance(part, dict) and ("functionResponse" in part or "codeExecutionResult" in part)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)
