"""Messages of a Goose session → parts of a conversation."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.goose.parts import BOOKKEEPING, Parts, read_usage, thinking_of
from ctxbudget.records.values import items, mapping, string, tokens

if TYPE_CHECKING:
    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage

COMPACTED = "Your context was compacted"
"""First words of the reply that stands behind a summary."""


class Teller:
    """Says one session to a builder, and keeps which parts are in the context."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts what is not read."""
        self._build = build
        self._skipped = skipped
        self._parts = Parts(build, skipped)
        self._live: dict[Piece, None] = {}
        self._pairs: OrderedDict[str, list[Piece]] = OrderedDict()
        """Calls in the context with their results, oldest first."""
        self._texts: set[str] = set()
        self._spent: Counter[str] = Counter()

    def session(self, data: dict[str, Any]) -> None:
        """Facts, messages and ledger, as ``store`` gives them."""
        session = data["session"]
        settings = mapping(session.get("model_config"))
        self._build.session, self._build.cwd = string(session.get("id")), string(session.get("working_dir"))
        self._build.window = tokens(settings.get("context_limit")) or None
        self._model = string(settings.get("model_name"))
        messages = [(line, message) for line, message in data["messages"] if self._is_sent(message)]
        replies = _replies(messages)
        self._usages = self._read_usages(session, [messages[at][1] for at in replies], data["ledger"])
        at = 0
        while at < len(messages):
            at = self._message(messages, at, replies)
        self._build.model = max(self._spent, key=lambda name: (self._spent[name], name), default=self._model)

    def _message(self, messages: list[tuple[int, dict[str, Any]]], at: int, replies: dict[int, int]) -> int:
        """Says a message, or a compaction with all messages that it brought; the index of the next one."""
        line, message = messages[at]
        if message["role"] == "assistant":
            self._reply(message, line, replies.get(at))
        elif _is_summary(messages, at):
            return self._compact(messages, at)
        elif _is_hidden(message) and not _is_summary(messages, at + 1) and (pair := self._oldest_pair()):
            with self._build.compaction(line, trigger="elision", removed=pair):
                put = self._parts.summary(message, line)
            for piece in pair:
                del self._live[piece]
            self._enter(put)
        else:
            self._enter(self._parts.user(message, line))
            self._texts.add(_words(message))
        return at + 1

    def _reply(self, message: dict[str, Any], line: int, number: int | None) -> None:
        """A reply; without a ``number`` it is one more call of the reply before, whose thinking it repeats."""
        if number is not None:
            model, usage, key = self._usages[number]
            self._build.turn(model=model, usage=usage, line=line, key=key)
            if model is not None:
                self._spent[model] += usage.prompt + 1 if usage else 1
        self._enter(self._parts.reply(message, line, repeated=number is None))

    def _compact(self, messages: list[tuple[int, dict[str, Any]]], at: int) -> int:
        """Summary, the reply that says so, and a copy of the last user message, where there is one."""
        line, summary = messages[at]
        note = messages[at + 1][1]
        manual = "user's request" in _words(note)
        with self._build.compaction(line, trigger="manual" if manual else "auto", removed=self._live):
            put = self._parts.summary(summary, line)
            put += self._parts.note(note, messages[at + 1][0])
            at += 2
            if not manual and at < len(messages) and self._is_copy(messages[at][1]):
                put += self._parts.user(messages[at][1], messages[at][0])
                at += 1
        self._live.clear()
        self._pairs.clear()
        self._enter(put)
        return at

    def _enter(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self._live[piece] = None
            if piece.call is not None:
                self._pairs.setdefault(piece.call, []).append(piece)

    def _is_copy(self, message: dict[str, Any]) -> bool:
        words = _words(message)
        return message["role"] == "user" and words != "" and words in self._texts

    def _oldest_pair(self) -> list[Piece]:
        """The oldest call in the context with its results: what a summary of one call stands for."""
        return self._pairs.popitem(last=False)[1] if self._pairs else []

    def _is_sent(self, message: Any) -> bool:
        match message:
            case {"role": "user" | "assistant", "content": list(blocks)}:
                types = {block.get("type") for block in blocks if isinstance(block, dict) and _typed(block)}
                return not types or not types <= BOOKKEEPING
        self._skipped["message without a known role, skipped"] += 1
        return False

    def _read_usages(
        self, session: dict[str, Any], replies: list[dict[str, Any]], ledger: list[dict[str, Any]]
    ) -> list[tuple[str | None, Usage | None, str | None]]:
        """Model, usage and name of every call: with its message, else by its place in the ledger, else the last one
        from the facts of the session."""
        name = self._build.session or self._build.path
        for row in ledger:
            if row.get("is_compaction") and (spent := read_usage(row)):
                self._build.bill(f"{name}:{row.get('id')}", string(row.get("model")), spent, purpose="compaction")
        rows = [row for row in ledger if not row.get("is_compaction")]
        given = [read_usage(mapping(reply.get("metadata")).get("usage")) for reply in replies]
        models = [self._model_of(reply) for reply in replies]
        if len(rows) == len(replies):
            given = [usage or read_usage(row) for usage, row in zip(given, rows, strict=True)]
            models = [model or string(row.get("model")) for model, row in zip(models, rows, strict=True)]
        if replies and not any(given):
            given[-1] = read_usage(session)
            if total := tokens(session.get("accumulated_total_tokens")):
                self._build.warn("usage-sums", f"{total:,} tokens in all; only the last call is told apart")
        keys = [f"{name}:{reply.get('created')}:{reply.get('id')}:{at}" for at, reply in enumerate(replies)]
        return [(model or self._model, use, key) for model, use, key in zip(models, given, keys, strict=True)]

    def _model_of(self, reply: dict[str, Any]) -> str | None:
        used = mapping(mapping(reply.get("metadata")).get("inference"))
        return string(used.get("resolvedModel")) or string(used.get("requestedModel"))


def _replies(messages: list[tuple[int, dict[str, Any]]]) -> dict[int, int]:
    """The messages that are replies of the model, numbered: by index. What stands behind a summary, and one more
    call of the same reply (same second, same thinking, no usage of its own), are none."""
    found: dict[int, int] = {}
    latest: dict[str, Any] | None = None
    for at, (_, message) in enumerate(messages):
        if message["role"] != "assistant" or (_is_hidden(message) and _says_compacted(message)):
            continue
        if latest is None or not _continues(latest, message):
            found[at] = len(found)
            latest = message
    return found


def _continues(latest: dict[str, Any], message: dict[str, Any]) -> bool:
    same = message.get("created") == latest.get("created") and isinstance(message.get("created"), int)
    own = read_usage(mapping(message.get("metadata")).get("usage"))
    return same and own is None and _calls(message) and _calls(latest) and thinking_of(message) == thinking_of(latest)


def _calls(message: dict[str, Any]) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "toolRequest" for block in message["content"])


def _is_hidden(message: dict[str, Any]) -> bool:
    """The user does not see it: the client wrote it for the model."""
    return mapping(message.get("metadata")).get("userVisible") is False


def _is_summary(messages: list[tuple[int, dict[str, Any]]], at: int) -> bool:
    """A message for the model alone, before the reply that says what it is. (The user message that was copied behind
    them is hidden too.)"""
    return at + 1 < len(messages) and _is_hidden(messages[at][1]) and _says_compacted(messages[at + 1][1])


def _says_compacted(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and _words(message).startswith(COMPACTED)


def _words(message: dict[str, Any]) -> str:
    blocks = [block for block in items(message.get("content")) if isinstance(block, dict)]
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def _typed(block: dict[str, Any]) -> bool:
    return isinstance(block.get("type"), str)
