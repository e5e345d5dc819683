"""A recording → the turns of a trace."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.gemini_cli.parts import Speaker
from ctxbudget.loaders.gemini_cli.recording import Rebuilt, Recording, Said
from ctxbudget.loaders.gemini_cli.usage import read_usage
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from ctxbudget.builder import Piece, TraceBuilder

Fields = dict[str, Any]


class Retelling:
    """Says a recording to a builder."""

    def __init__(self, build: TraceBuilder, recording: Recording) -> None:
        """``recording`` is complete: later versions of its messages have taken the place of earlier ones."""
        self._build = build
        self._recording = recording
        self._speaker = Speaker(build)
        self._pieces: dict[int, list[Piece]] = {}
        self._homes: dict[int, list[Piece]] = {}
        """The parts of the message that a part is of."""
        self._spent: Counter[str] = Counter()

    def tell(self) -> None:
        """Everything, in order."""
        session = self._recording.meta.get("sessionId")
        self._build.session = session if isinstance(session, str) else None
        for entry in self._recording.entries:
            match entry:
                case Said(gone=True):
                    self._write_off(entry)
                case Said():
                    self._keep(entry, self._say(entry))
                case Rebuilt():
                    self._rebuild(entry)
        self._recording.skipped += self._speaker.skipped
        if self._spent:
            self._build.model = max(self._spent, key=lambda name: (self._spent[name], name))

    def _keep(self, said: Said, pieces: list[Piece]) -> None:
        self._pieces[id(said)] = pieces
        self._homes.update((id(piece), pieces) for piece in pieces)

    def _say(self, said: Said) -> list[Piece]:
        data = said.data
        if data["type"] == "user":
            return self._speaker.user(data.get("content"), said.line)
        model, usage = _model(data), read_usage(data.get("tokens"))
        self._build.turn(model=model, usage=usage, line=said.line, key=self._key(data))
        if model is not None:
            self._spent[model] += usage.prompt + 1 if usage else 1
        return self._speaker.model(data.get("content"), said.line, _calls(data))

    def _write_off(self, said: Said) -> None:
        """What was rewound: paid for, and no part of the context."""
        self._build.abandoned += 1
        if said.data["type"] == "gemini" and (usage := read_usage(said.data.get("tokens"))) is not None:
            self._build.bill(self._key(said.data), _model(said.data), usage, purpose="abandoned")

    def _rebuild(self, entry: Rebuilt) -> None:
        """A compression: a summary for what left. Or a masking: old results give way to shorter ones."""
        if entry.left:
            removed = [piece for said in entry.left for piece in self._pieces.get(id(said), ())]
            with self._build.compaction(entry.line, removed=removed):
                for said in entry.came:
                    self._keep(said, self._bring(said.data, entry.line))
        old = {call: self._speaker.results[call] for call in entry.shortened if call in self._speaker.results}
        if old:
            self._shorten(old, entry)

    def _shorten(self, old: dict[str, Piece], entry: Rebuilt) -> None:
        removed = old.values()
        with self._build.compaction(entry.line, trigger="elision", form=Form.TRUNCATED, removed=removed):
            for call, piece in old.items():
                stands = self._build.stand_in(piece, entry.shortened[call], line=entry.line)
                home = self._homes.pop(id(piece))
                home[home.index(piece)] = self._speaker.results[call] = stands
                self._homes[id(stands)] = home

    def _bring(self, message: Fields, line: int) -> list[Piece]:
        if message["type"] == "user":
            return self._speaker.user(message.get("content"), line, summary=True)
        return self._speaker.model(message.get("content"), line, _calls(message), kind=Kind.ANSWER)

    def _key(self, data: Fields) -> str:
        return f"gemini:{self._build.session}:{data['id']}"


def _model(data: Fields) -> str | None:
    model = data.get("model")
    return model if isinstance(model, str) and model else None


def _calls(data: Fields) -> list[Fields]:
    calls = data.get("toolCalls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
