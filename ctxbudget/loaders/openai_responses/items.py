"""Items of the Responses API → parts of a conversation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import compact, plain
from ctxbudget.loaders.openai_responses.groups import ANSWERS, call_of, grouped
from ctxbudget.providers.openai.items import parts, tool_name
from ctxbudget.providers.openai.usage import read_items_usage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage

Fields = dict[str, Any]

ARGUMENTS = ("arguments", "input", "action", "operation", "code", "queries")
"""Where a call of one type or another has what it was called with."""

SEARCHES = frozenset({"web_search_call", "file_search_call", "tool_search_call"})
"""Calls within a reply whose results are not shown."""

FAILED = "An error occurred while running the tool."
"""How the Agents SDK tells the model that a function raised (its default)."""


class Items:
    """Says messages, which are groups of items, to a builder."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build
        self._pieces: list[Piece] = []
        self._line = 0
        self._role = ""
        self._begun = self._ran = False

    def message(self, message: Any, line: int) -> list[Piece]:
        """One group, and its parts; one without any keeps its place with an empty part."""
        self._pieces, self._line, self._role, self._ran = [], line, "", False
        if "items" not in message:
            (message,) = grouped([message])
        role = message["role"]
        self._speak(role)
        lines = message.get("lines") or [line] * len(message["items"])
        for block, (item, self._line) in enumerate(zip(message["items"], lines, strict=True)):
            if isinstance(item, dict):
                self._item(role, item, block)
            else:
                self.skipped[f"item of type {type(item).__name__}, skipped"] += 1
        self._begun = self._begun or role != "system"
        if not self._pieces:
            self._add(None if role == "assistant" else Kind.OTHER, "")
        return self._pieces

    def billed(self, message: Fields) -> tuple[str | None, Usage | None, str | None]:
        """A reply that came in a response has its model, usage and id."""
        model, key = message.get("model"), message.get("id")
        return (
            model if isinstance(model, str) else None,
            read_items_usage(message.get("usage")),
            key if isinstance(key, str) else None,
        )

    # ── items ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _item(self, role: str, item: Fields, block: int) -> None:
        kind = item.get("type", "message")
        if self._ran and (kind == "reasoning" or (kind == "message" and role == "assistant")):
            self._build.go_on(self._line)
            self._ran, self._role = False, ""
        match kind:
            case "message":
                self._said(role, item.get("content"), block)
            case "reasoning":
                pass  # sealed; the server drops it from later prompts, and it is in the usage
            case "mcp_list_tools":
                self._offered(item, block)
            case "compaction":
                self._compaction(item, block)
            case "image_generation_call":
                self._made_image(item, block)
            case "item_reference":
                self.skipped["reference to an item that is not in the file"] += 1
            case "mcp_approval_request" | "mcp_approval_response":
                told = {name: item[name] for name in ("name", "arguments", "approve") if name in item}
                self._add(Kind.OTHER, compact(told), block)
            case str() if kind.endswith(ANSWERS):
                self._answered(call_of(item) or "?", item.get("output"), block)
            case str() if kind.endswith("_call"):
                self._called(kind, item, block)
            case _:
                self.skipped[f"item of type {str(kind)[:40]!r}, kept as other text"] += 1
                self._add(Kind.OTHER, plain(item), block)

    def _said(self, role: str, content: Any, block: int) -> None:
        self._speak(role)
        for _, what, text in parts(content):
            if what != "text":
                self._other(what, text, block)
            elif role == "user":
                for kind, piece in injected.split(text):
                    self._add(kind, piece, block)
            elif role == "assistant":
                self._add(None, text, block)
            else:
                self._add(Kind.INJECTED if self._begun else Kind.SYSTEM_PROMPT, text, block)

    def _called(self, kind: str, item: Fields, block: int) -> None:
        """A call; one that ran at OpenAI's has its result in the same item, or none that is shown."""
        self._speak("assistant")
        given = next((item[name] for name in ARGUMENTS if item.get(name) is not None), None)
        given = given if isinstance(given, dict | str) or given is None else compact(given)
        server = item.get("server_label")
        named = {**item, "namespace": server or item.get("namespace")}
        name = tool_name(named) if "name" in item else kind.removesuffix("_call")
        shown = next((item[key] for key in ("output", "outputs", "results", "error") if item.get(key)), None)
        if kind in SEARCHES and shown is None and "call_id" not in item:
            self._add(Kind.CALL, f"{name} {plain(given)}", block)
            return
        piece = self._build.call(name, given, id=call_of(item), block=block, line=self._line)
        self._pieces.append(piece)
        if shown is not None:
            self._speak("tool")
            self._answered(piece.call or "?", shown, block, error=bool(item.get("error")))
            self._ran = "call_id" not in item
            if kind == "file_search_call":
                self._pieces[-1].kind = Kind.RETRIEVAL

    def _offered(self, item: Fields, block: int) -> None:
        """The tools of an MCP server, by the names that calls have."""
        self._speak("system")
        tools = item.get("tools")
        for tool in tools if isinstance(tools, list) else [tools]:
            self._add(Kind.TOOL_DEFINITIONS, plain(tool), block)
            if isinstance(tool, dict):
                self._pieces[-1].tool = tool_name({**tool, "namespace": item.get("server_label")})
        if all(piece.kind is Kind.TOOL_DEFINITIONS for piece in self._pieces):
            self._build.was_sent()  # OpenAI asks the server before it asks the model

    def _answered(self, call: str, output: Any, block: int, *, error: bool = False) -> None:
        """A result: its texts as one part, its images each on its own."""
        self._speak("tool")
        found = list(parts(_content(output)))
        texts = [text for _, what, text in found if what == "text"]
        if not texts and not any(what == "image" for _, what, _ in found):
            texts = _logs(output)
        if texts or not any(what == "image" for _, what, _ in found):
            text = "\n".join(texts)
            failed = error or _failed(output) or text.startswith(FAILED)
            piece = self._build.result(text, call=call, error=failed, block=block, line=self._line)
            self._pieces.append(piece)
        for _, what, data in found:
            if what == "image":
                self._other(what, data, block, call=call)

    def _compaction(self, item: Fields, block: int) -> None:
        """Everything before it is left out of later prompts; only the server can read the summary."""
        sealed = item.get("encrypted_content")
        with self._build.compaction(self._line, trigger="auto"):
            self._add(Kind.SUMMARY, "", block, opaque=len(sealed) if isinstance(sealed, str) else 0)

    def _made_image(self, item: Fields, block: int) -> None:
        self._add(Kind.CALL, f"image_generation {plain(item.get('revised_prompt') or '')}", block)
        if isinstance(data := item.get("result"), str) and data:
            self._add(Kind.MEDIA, "", block, size=media.base64_size(data))

    # ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _other(self, what: str, data: str, block: int, call: str | None = None) -> None:
        """A part without text: an image or a file by its size, what is sealed by its length."""
        match what:
            case "image":
                size = media.base64_size(data) if data.startswith("data:") else None
                self._add(Kind.MEDIA, "", block, size=size, call=call)
            case "input_file" | "input_audio":
                self._add(Kind.MEDIA, "", block, call=call)
            case "sealed":
                self._add(Kind.INJECTED, "", block, opaque=len(data), call=call)
            case _:
                self.skipped[f"part of type {what[:40]!r}, skipped"] += 1

    def _speak(self, role: str) -> None:
        if role != self._role:
            self._build.message(role, self._line)
        self._role = role

    def _add(self, kind: Kind | None, text: str, block: int = 0, **more: Any) -> None:
        self._pieces.append(self._build.add(kind, text, block=block, line=self._line, **more))


def _content(output: Any) -> Any:
    """An output as a content; a screenshot is an image."""
    match output:
        case {"type": "computer_screenshot", "image_url": url}:
            return [{"type": "input_image", "image_url": url}]
        case dict():
            return [output]
    return output


def _logs(output: Any) -> list[str]:
    """The texts of an output that is no content: streams of a shell, logs of code, results of a search."""
    found = output if isinstance(output, list) else [output]
    texts: list[str] = []
    for entry in found:
        match entry:
            case None:
                continue
            case {"stdout": str(out), **rest}:
                texts += [text for text in (out, rest.get("stderr")) if isinstance(text, str) and text]
            case {"logs": str(text)}:
                texts.append(text)
            case _:
                texts.append(plain(entry))
    return texts


def _failed(output: Any) -> bool:
    """Whether a command did not end with 0."""
    for entry in output if isinstance(output, list) else [output]:
        match entry:
            case {"outcome": {"type": "timeout"}}:
                return True
            case {"outcome": {"exit_code": int(code)}} if code:
                return True
    return False
