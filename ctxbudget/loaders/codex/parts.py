"""A timeline → the messages, parts, calls and compactions of a trace."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget import media
from ctxbudget.loaders.codex.kinds import SUMMARIES, failed, is_reply, kind_of
from ctxbudget.loaders.codex.timeline import Call, Cut, Item
from ctxbudget.providers.openai.items import parts, tool_name
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.loaders.codex.timeline import Fields


class Writer:
    """Says to the builder what the entries hold, and keeps what a compaction would remove."""

    def __init__(self, build: TraceBuilder, root: str, skipped: Counter[str], *, child: bool) -> None:
        """``root`` is the thread that the names of calls go back to; a ``child`` has its task from another agent.

        ``skipped`` counts the parts of messages that are not read.
        """
        self._build = build
        self._root = root
        self._skipped = skipped
        self._child = child
        self._live: list[Piece] = []
        self._replying = False
        self._said: set[str] = set()
        self._prompt: int | None = None
        self._spent: Counter[str] = Counter()

    def write(self, entries: Iterable[Item | Call | Cut]) -> None:
        """The live history."""
        for entry in entries:
            match entry:
                case Item(data, line):
                    self._item(data, line)
                case Call():
                    self._call(entry)
                case Cut():
                    self._cut(entry)
        if self._spent:
            self._build.model = max(self._spent, key=lambda name: (self._spent[name], name))

    def write_off(self, entries: Iterable[Item | Call | Cut]) -> None:
        """What was rolled back: paid for, and no part of the context."""
        for entry in entries:
            match entry:
                case Call(charge=charge):
                    self._build.abandoned += entry.items > 0
                    if charge is not None:
                        purpose = "abandoned" if entry.purpose == "turn" else entry.purpose
                        self._build.bill(charge.key(self._root), entry.model, charge.counts.usage(), purpose=purpose)
                case Item(data):
                    self._build.abandoned += not is_reply(data)

    # ── calls and compactions ──────────────────────────────────────────────────────────────────────────────────

    def _call(self, call: Call) -> None:
        charge, build, self._replying = call.charge, self._build, False
        usage = charge.counts.usage() if charge else None
        key = charge.key(self._root) if charge else None
        if call.purpose == "compaction":
            if usage is not None and key is not None:
                build.bill(key, call.model, usage, purpose=call.purpose)
            return
        build.turn(model=call.model, usage=usage, line=call.line, key=key)
        if call.model is not None:
            self._spent[call.model] += usage.prompt + 1 if usage else 1
        if usage is not None and usage.split:
            self._prompt = usage.prompt
        if charge and charge.rest is not None:
            build.bill(f"{key}:rest", call.model, charge.rest.usage())
            text = "the running total grew by more than this call; the rest is billed apart"
            build.warn("usage-gap", text, call.line)
        if charge and charge.since is not None:
            before = charge.since.usage().total
            text = f"the running total held {before:,} tokens before the first call here"
            build.warn("usage-before", text, call.line)

    def _cut(self, cut: Cut) -> None:
        payload = cut.payload or {}
        history = payload.get("replacement_history")
        whole = isinstance(history, list) or cut.payload is None
        # without a replacement Codex puts the summary behind what user and client had said
        stays = [] if whole else [piece for piece in self._live if _stays(piece)]
        gone = self._live if whole else [piece for piece in self._live if not _stays(piece)]
        self._live, self._replying = [], False
        with self._build.compaction(cut.line, pre_tokens=self._prompt, post_tokens=cut.post_tokens, removed=gone):
            self._replace(history if isinstance(history, list) else [], payload.get("message"), cut.line)
        self._live, self._prompt = stays + self._live, None
        if cut.payload is None:
            text = "the context was rebuilt here; what replaced it is not in the file"
            self._build.warn("compaction-unseen", text, cut.line)

    def _replace(self, history: list[Any], message: Any, line: int) -> None:
        items = [item for item in history if isinstance(item, dict)]
        for item in items:
            self._item(item, line, summary=item is items[-1])
        if not items and isinstance(message, str) and message:
            self._build.message("user", line)
            self._live.append(self._build.add(Kind.SUMMARY, message))

    # ── items ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _item(self, item: Fields, line: int, *, summary: bool = False) -> None:
        if is_reply(item):
            if not self._replying:
                self._build.message("assistant", line)
            self._replying = True
            self._live += self._reply(item, line)
            return
        self._replying = False
        match item.get("type"):
            case "message":
                self._live += self._input(item, line, summary=summary)
            case "agent_message":
                self._build.message("user", line)
                self._live += self._content(item.get("content"), Kind.USER if self._child else Kind.INJECTED, line)
            case str(kind) if kind.endswith("_output"):
                self._build.message("tool", line)
                self._live += self._output(item)

    def _input(self, item: Fields, line: int, *, summary: bool) -> Iterator[Piece]:
        role, content = str(item.get("role")), item.get("content")
        self._build.message("system" if role in {"system", "developer"} else "user", line)
        for block, what, text in parts(content):
            if what != "text":
                yield from self._other(block, what, text)
                continue
            kind = kind_of(text, role)
            if kind is Kind.USER:
                # the last word of a rebuilt history is the summary, unless the user has said it
                kind = Kind.SUMMARY if summary and text not in self._said else kind
                self._said.add(text)
            yield self._build.add(kind, text, block=block)

    def _content(self, content: Any, kind: Kind | None, line: int) -> Iterator[Piece]:
        for block, what, text in parts(content):
            if what == "text":
                yield self._build.add(kind, text, block=block, line=line)
            else:
                yield from self._other(block, what, text, line=line)

    def _other(
        self, block: int, what: str, data: str, *, call: str | None = None, line: int | None = None
    ) -> Iterator[Piece]:
        """A part without text: an image, or text that only the server can read."""
        match what:
            case "image":
                encoded = data.partition(",")[2] if data.startswith("data:") else ""
                size = media.base64_size(encoded) if encoded else None
                yield self._build.add(Kind.MEDIA, "", block=block, size=size, call=call, line=line)
            case "sealed":
                yield self._build.add(Kind.INJECTED, "", block=block, opaque=len(data), call=call, line=line)
            case _:
                self._skipped[f"content/{what}"] += 1

    def _output(self, item: Fields) -> Iterator[Piece]:
        """The result of a call: its texts as one fragment, its images each on its own."""
        output, call = item.get("output"), item.get("call_id")
        call = call if isinstance(call, str) else None
        bad = False
        if isinstance(output, dict) and "content" in output:
            bad, output = output.get("success") is False, output["content"]
        if output is None:
            output = plain(item.get("tools", ""))
        found = list(parts([output] if isinstance(output, dict) else output))
        texts = [text for _, what, text in found if what == "text"]
        if texts or not any(what in {"image", "sealed"} for _, what, _ in found):
            text = "\n".join(texts)
            yield self._build.result(text, call=call, error=bad or failed(text))
        for block, what, data in found:
            if what != "text":
                yield from self._other(block, what, data, call=call)

    def _reply(self, item: Fields, line: int) -> Iterator[Piece]:
        build, call = self._build, item.get("call_id") or item.get("id")
        name = call if isinstance(call, str) else None
        match item.get("type"):
            case "message":
                yield from self._content(item.get("content"), None, line)
            case "function_call":
                yield build.call(tool_name(item), arguments(item.get("arguments")), id=name, line=line)
            case "custom_tool_call":
                yield build.call(tool_name(item), arguments(item.get("input")), id=name, line=line)
            case "local_shell_call":
                yield build.call("local_shell", arguments(item.get("action")), id=name, line=line)
            case "tool_search_call":
                yield build.call("tool_search", arguments(item.get("arguments")), id=name, line=line)
            case "web_search_call":
                # the server searches within the reply: no result is sent back to it
                yield build.add(Kind.CALL, f"web_search {plain(item.get('action'))}", line=line)
            case "image_generation_call":
                yield from self._made_image(item, line)
            case str(kind) if kind in SUMMARIES:
                sealed = item.get("encrypted_content")
                yield build.add(Kind.SUMMARY, "", opaque=len(sealed) if isinstance(sealed, str) else 0, line=line)

    def _made_image(self, item: Fields, line: int) -> Iterator[Piece]:
        yield self._build.add(Kind.CALL, f"image_generation {item.get('revised_prompt') or ''}", line=line)
        data = item.get("result")
        if isinstance(data, str) and data:
            yield self._build.add(Kind.MEDIA, "", size=media.base64_size(data), line=line)


def _stays(piece: Piece) -> bool:
    return piece.role not in {"assistant", "tool"} and piece.kind is not Kind.SUMMARY


def arguments(given: Any) -> Any:
    """Arguments as the builder takes them: an object or text."""
    return given if isinstance(given, dict | str) or given is None else plain(given)


def plain(value: Any) -> str:
    """Data as compact JSON."""
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
