"""A story as it was written down: who says what and calls what, turn by turn, without any result.

Scripts are TOML files under ``scripts/``. A turn is one model call: the texts under ``user`` enter before it,
the rest is the reply. Results are not in the script; the story's tools give them while it is played.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from project import HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply."""

    tool: str
    arguments: dict[str, Any]

    @property
    def json(self) -> str:
        """The arguments as a model writes them."""
        return compact(self.arguments)


@dataclass(frozen=True, slots=True)
class Turn:
    """One model call: what enters before it from the user, and the reply."""

    n: int
    user: tuple[str, ...]
    think: str
    hidden: int
    """Tokens the model thought beyond the text that was kept of it."""
    say: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool gave: the text for the model, and what the harness keeps beside it for its own display."""

    text: str
    display: Any = None
    error: bool = False
    images: tuple[bytes, ...] = ()


class Book(Protocol):
    """A writer of one trace format."""

    def user(self, text: str) -> None:
        """Write down what the user said."""

    def reply(self, turn: Turn) -> None:
        """Write down what the model answered, with its calls."""

    def result(self, call: Call, outcome: Outcome) -> None:
        """Write down what one call of the last reply gave; calls are answered in their order."""


def compact(value: object) -> str:
    """Return JSON without blanks, any letter as itself."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load(name: str) -> list[Turn]:
    """Read a script and check that its turns are numbered without a gap."""
    table = tomllib.loads((HERE / "scripts" / f"{name}.toml").read_text(encoding="utf-8"))
    turns = [_turn(entry) for entry in table["turn"]]
    if [turn.n for turn in turns] != list(range(1, len(turns) + 1)):
        raise ValueError(f"{name}: turns are {[turn.n for turn in turns]}")
    return turns


def _turn(entry: Mapping[str, Any]) -> Turn:
    user = entry.get("user", ())
    calls = tuple(Call(call["tool"], {k: v for k, v in call.items() if k != "tool"}) for call in entry.get("call", ()))
    return Turn(
        n=entry["n"],
        user=(user,) if isinstance(user, str) else tuple(user),
        think=entry.get("think", "").strip(),
        hidden=entry.get("hidden", 0),
        say=entry.get("say", "").strip(),
        calls=calls,
    )


def play(turns: list[Turn], tools: Mapping[str, Callable[..., Outcome]], book: Book) -> None:
    """Tell a story: every call of the script is really made, and the book gets what really came back."""
    for turn in turns:
        for text in turn.user:
            book.user(text)
        book.reply(turn)
        for call in turn.calls:
            book.result(call, tools[call.tool](**call.arguments))
