"""Messages of an OpenCode session → parts of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.loaders.opencode.parts import Parts, read_usage
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage

ASKED = "What did we do so far?"
"""The user's side of a summary, as it is sent."""
CLEARED = "[Old tool result content cleared]"
"""What is sent in place of a result that was cleared."""


class Compaction(NamedTuple):
    """A user message that asks for a compaction: who asked, the message kept first behind the summary."""

    line: int
    trigger: str
    tail: str | None


class Teller:
    """Says one session to a builder, and keeps which message gave which parts."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts what is not read."""
        self._build = build
        self._skipped = skipped
        self._parts = Parts(build, skipped)
        self._said: list[tuple[str | None, list[Piece]]] = []
        self._homes: dict[Piece, list[Piece]] = {}
        """The parts of the message that a result in the context is of."""
        self._asked: dict[str, Compaction] = {}
        self._spent: dict[str, int] = {}
        self._failed = 0
        self._last = 0

    def session(self, data: dict[str, Any]) -> None:
        """An export, or the same from the database."""
        info = mapping(data.get("info"))
        self._build.session, self._build.cwd = string(info.get("id")), string(info.get("directory"))
        messages = [message for message in items(data.get("messages")) if isinstance(message, dict)]
        stop, within = _undone(messages, info.get("revert"))
        self._last = min(stop + 1, len(messages))
        for line, message in enumerate(messages, 1):
            parts = [*self._typed(message.get("parts"))]
            if line - 1 > stop or (line - 1 == stop and within is None):
                self._write_off(mapping(message.get("info")))
            else:
                kept = parts if line - 1 < stop else [*_before(parts, within)]
                self._message(mapping(message.get("info")), kept, line)
        if self._spent:
            self._build.model = max(self._spent, key=lambda name: (self._spent[name], name))
        if self._failed:
            self._build.warn("unfinished-reply", f"replies that failed, and were not sent again: {self._failed}")

    def _typed(self, parts: Any) -> Iterator[tuple[int, dict[str, Any]]]:
        for block, part in enumerate(items(parts)):
            if isinstance(part, dict) and isinstance(part.get("type"), str):
                yield block, part
            else:
                self._skipped["part without a type, skipped"] += 1

    def _message(self, info: dict[str, Any], parts: list[tuple[int, dict[str, Any]]], line: int) -> None:
        match info:
            case {"role": "user"}:
                self._user(info, parts, line)
            case {"role": "assistant", "summary": True}:
                self._summary(info, parts, line)
            case {"role": "assistant"} if _unsent(info, parts):
                self._failed += 1
                self._write_off(info)
            case {"role": "assistant"}:
                self._reply(info, parts, line)
            case _:
                self._skipped["message without a known role, skipped"] += 1

    def _user(self, info: dict[str, Any], parts: list[tuple[int, dict[str, Any]]], line: int) -> None:
        asked = next((part for _, part in parts if part.get("type") == "compaction"), None)
        if asked is not None:
            trigger = {True: "auto", False: "manual"}.get(asked.get("auto") is True, "unknown")
            self._asked[str(info.get("id"))] = Compaction(line, trigger, string(asked.get("tail_start_id")))
        self._said.append((string(info.get("id")), self._parts.user(parts, line)))

    def _reply(self, info: dict[str, Any], parts: list[tuple[int, dict[str, Any]]], line: int) -> None:
        """One call of the model for each step; older versions kept all steps up to the answer in one message."""
        model, name = string(info.get("modelID")), string(info.get("id"))
        steps = _steps(parts)
        usages = [read_usage(step[-1][1].get("tokens")) if _ends(step) else None for step in steps]
        if len(steps) == 1:
            usages = [read_usage(info.get("tokens")) or usages[0]]
        if not parts and usages[0] is None:
            return  # it has not been answered yet
        self._clear(mapping(info.get("time")).get("created"))
        for number, (step, usage) in enumerate(zip(steps, usages, strict=True)):
            key = name if name is None or number == 0 else f"{name}/{number}"
            self._build.turn(model=model, usage=usage, line=line, key=key)
            pieces = self._parts.reply(step, line, ended=line < self._last)
            self._said.append((name, pieces))
            self._homes.update((piece, pieces) for piece in pieces if piece.call is not None)
            self._spend(model, usage)

    def _spend(self, model: str | None, usage: Usage | None) -> None:
        if model is not None:
            self._spent[model] = self._spent.get(model, 0) + (usage.prompt + 1 if usage else 1)

    def _summary(self, info: dict[str, Any], parts: list[tuple[int, dict[str, Any]]], line: int) -> None:
        """A compaction that succeeded: question and summary, then the messages it kept."""
        self._bill(info, "compaction")
        text = "\n\n".join(part["text"] for _, part in parts if isinstance(part.get("text"), str) and _is_text(part))
        parent = str(info.get("parentID"))
        unfinished = parent in self._asked and not info.get("finish")
        if info.get("error") is not None or unfinished or not text:
            return
        asked = self._asked.pop(parent, Compaction(line, "unknown", None))
        kept = next((at for at, (name, _) in enumerate(self._said) if name == asked.tail), len(self._said))
        kept = len(self._said) if asked.tail is None else kept
        gone = [piece for _, pieces in self._said[:kept] for piece in pieces]
        for piece in gone:
            self._homes.pop(piece, None)
        with self._build.compaction(line, trigger=asked.trigger, removed=gone):
            self._build.message("user", asked.line)
            question = self._build.add(Kind.INJECTED, ASKED)
            self._build.message("assistant", line)
            summary = self._build.add(Kind.SUMMARY, text)
        self._said[:kept] = [(None, [question, summary])]

    def _clear(self, now: Any) -> None:
        """Results that had been cleared by ``now`` (ms), when the next call was made."""
        due = [piece for piece in self._parts.cleared(now) if piece in self._homes]
        if not due:
            return
        with self._build.compaction(due[0].origin.line, trigger="elision", form=Form.CLEARED, removed=due):
            for piece in due:
                if piece.kind is not Kind.MEDIA:
                    self._homes[piece].append(self._build.stand_in(piece, CLEARED, line=piece.origin.line))

    def _write_off(self, info: dict[str, Any]) -> None:
        """What was undone or failed: paid for, and no part of the context."""
        self._build.abandoned += 1
        self._bill(info, "abandoned")

    def _bill(self, info: dict[str, Any], purpose: str) -> None:
        usage = read_usage(info.get("tokens"))
        if usage is not None and info.get("role") == "assistant":
            self._build.bill(str(info.get("id")), string(info.get("modelID")), usage, purpose=purpose)


def _undone(messages: list[dict[str, Any]], revert: Any) -> tuple[int, str | None]:
    """The index of the message that was undone, and of its first undone part the id; all is live if none was."""
    match revert:
        case {"messageID": str(name)}:
            at = next(
                (at for at, message in enumerate(messages) if mapping(message.get("info")).get("id") == name),
                len(messages),
            )
            return at, string(revert.get("partID"))
    return len(messages), None


def _before(parts: list[tuple[int, dict[str, Any]]], name: str | None) -> Iterator[tuple[int, dict[str, Any]]]:
    for block, part in parts:
        if part.get("id") == name:
            return
        yield block, part


def _unsent(info: dict[str, Any], parts: list[tuple[int, dict[str, Any]]]) -> bool:
    """A reply that failed is not sent again, unless the user stopped it when something had been said."""
    error = info.get("error")
    if error is None:
        return False
    stopped = isinstance(error, dict) and error.get("name") == "MessageAbortedError"
    return not (stopped and any(part.get("type") not in {"step-start", "reasoning"} for _, part in parts))


def _steps(parts: list[tuple[int, dict[str, Any]]]) -> list[list[tuple[int, dict[str, Any]]]]:
    steps: list[list[tuple[int, dict[str, Any]]]] = [[]]
    for pair in parts:
        if _ends(steps[-1]) and pair[1].get("type") not in {"patch", "snapshot"}:
            steps.append([])
        if pair[1].get("type") not in {"patch", "snapshot", "step-start"}:
            steps[-1].append(pair)
    return steps


def _ends(step: list[tuple[int, dict[str, Any]]]) -> bool:
    return bool(step) and step[-1][1].get("type") == "step-finish"


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") == "text"
