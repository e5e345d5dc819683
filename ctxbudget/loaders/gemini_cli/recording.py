"""Records of a chat recording → its messages in order, what was rewound, and where the history was rebuilt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ctxbudget.loaders.gemini_cli.parts import items, result_text, words

Fields = dict[str, Any]

SHOWN = frozenset({"info", "warning", "error"})
"""Types of messages that only the user sees."""


@dataclass(slots=True)
class Said:
    """A message: its latest version, and whether it was rewound."""

    data: Fields
    line: int
    gone: bool = False


@dataclass(slots=True)
class Rebuilt:
    """The history was set anew: what left it, what came, and results that were shortened, by call."""

    line: int
    left: list[Said]
    came: list[Said]
    shortened: dict[str, str]


@dataclass(slots=True)
class Recording:
    """Everything a recording holds."""

    meta: Fields = field(default_factory=dict)
    entries: list[Said | Rebuilt] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    _live: dict[str, Said] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether no message and no fact of a session was found."""
        return not (self.entries or "projectHash" in self.meta)

    def take(self, data: Any, line: int) -> None:
        """One record; a recording of one document holds all its messages."""
        match data:
            case {"$rewindTo": str(name)}:
                self._rewind(name)
            case {"$set": dict(facts)}:
                self._remember(facts)
                if isinstance(messages := facts.get("messages"), list) and messages:
                    self._rebuild([message for message in messages if _is_message(message)], line)
            case {"messages": list(messages)}:
                self._remember(data)
                for number, message in enumerate(messages, 1):
                    self.take(message, number)
            case dict() if _is_message(data):
                self._message(data, line)
            case {"sessionId": str()}:
                self._remember(data)
            case dict():
                self.skipped[f"record with {', '.join(sorted(map(str, data))[:3])!r}"[:80]] += 1
            case _:
                self.skipped[f"a {type(data).__name__} among the messages"] += 1

    def _remember(self, facts: dict[Any, Any]) -> None:
        self.meta.update({name: facts[name] for name in ("sessionId", "projectHash", "kind") if name in facts})

    def _message(self, data: Fields, line: int) -> None:
        if data["type"] in SHOWN:
            return
        known = self._live.get(data["id"])
        if known is not None:
            known.data, known.line = data, line
            return
        self._live[data["id"]] = said = Said(data, line)
        self.entries.append(said)

    def _rewind(self, name: str) -> None:
        """That message and all behind it leave; where it is not known, everything does."""
        while self._live:
            own, said = self._live.popitem()
            said.gone = True
            if own == name:
                return

    def _rebuild(self, messages: list[Fields], line: int) -> None:
        """Set the history anew. Most often nothing changed but the form: contents as parts, results as messages."""
        before, self._live = self._live, {}
        named = {message["id"] for message in messages}
        lost = {own: said for own, said in before.items() if own not in named}
        again = {_identity(said.data): said for said in lost.values()}
        came: list[Said] = []
        shortened: dict[str, str] = {}
        for message in messages:
            said = before.get(message["id"]) or again.pop(_identity(message), None)
            if said is not None:
                self._live[message["id"]] = said
                shortened |= _shortened(said.data, message)
            elif message["type"] not in SHOWN and not _only_answers(message):
                self._live[message["id"]] = new = Said(message, line)
                came.append(new)
        kept = set(map(id, self._live.values()))
        left = [said for said in lost.values() if id(said) not in kept and not _only_answers(said.data)]
        if left or shortened:
            self.entries.append(Rebuilt(line, left, came if left else [], shortened))
        if not left:
            self.entries += came


def _is_message(data: Any) -> bool:
    match data:
        case {"id": str(), "type": "user" | "gemini" | "info" | "warning" | "error"}:
            return True
    return False


def _identity(data: Fields) -> tuple[str, str, tuple[str, ...]]:
    """A message by what it says: versions differ in ids and in how they write it."""
    return data["type"], words(data.get("content")), tuple(result_of for result_of, _ in _results(data))


def _results(data: Fields) -> list[tuple[str, str]]:
    """Calls of a message and the text of their results."""
    calls = data.get("toolCalls")
    return [
        (call["id"], result_text(call["result"]))
        for call in (calls if isinstance(calls, list) else [])
        if isinstance(call, dict) and isinstance(call.get("id"), str) and call.get("result") is not None
    ]


def _shortened(old: Fields, new: Fields) -> dict[str, str]:
    """Results of a message that the new history shows with another text."""
    before = dict(_results(old))
    return {call: text for call, text in _results(new) if call in before and before[call] != text}


def _only_answers(data: Fields) -> bool:
    """A message of function responses alone: a recording has them with their calls."""
    parts = [part for _, part in items(data.get("content"))]
    return bool(parts) and all(isinstance(part, dict) and "functionResponse" in part for part in parts)
