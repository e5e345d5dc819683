"""Structured state: nine sections of one-line items, written within a cap and read back.

    [Extractive summary, turns 1 to 8]
    ## User intent and goals
    - turn 1: I want the money for the tent before I pay anything.
    ## Key terms
    - invoice #8842 (turn 1)

Each section has a share of the cap; what one leaves over goes to the others, the most important first. Nothing from
a trace can open a section: an item is one line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ctxbudget.constraints import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Order = Callable[["Item"], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Section:
    """One of the nine: its title, its share of the cap, and its place when room is given away (1 is served first)."""

    title: str
    share: float
    place: int


SECTIONS: Mapping[str, Section] = {
    "intent": Section("User intent and goals", 0.18, 1),
    "terms": Section("Key terms", 0.16, 3),
    "files": Section("Files and paths", 0.12, 5),
    "errors": Section("Errors and their fixes", 0.16, 2),
    "approach": Section("Approach", 0.08, 9),
    "user": Section("Key user messages", 0.10, 7),
    "pending": Section("Pending tasks", 0.08, 4),
    "progress": Section("Progress", 0.08, 8),
    "next": Section("Next step", 0.04, 6),
}
"""In the order of the text (the nine of the summary prompts of coding agents)."""

MOST = 200
"""Items of one section that are looked at; the least important are not."""

KEPT = "Kept word by word: "
"""Begins the line of protected texts that the spot check puts back."""
_HEADING = re.compile(
    r"((?:#{1,6} +|\*\*|\d{1,2}[.)] +)*)([A-Za-z][A-Za-z ,/&-]{2,50}?)(:? {0,3}(?:\*\*)?:? {0,3}#{0,6})"
)
_BULLET = re.compile(r"(?:[-*\u2022]|\d{1,2}[.)])\s+")
_TURN = re.compile(r"\bturns? (\d{1,7})\b")
_LONG = 400
"""Characters of a line that stays one item; of a longer one each sentence is an item."""
_BY_TITLE = {section.title.casefold(): name for name, section in SECTIONS.items()}
_BY_WORD = (
    ("user message", "user"), ("intent", "intent"), ("goal", "intent"), ("request", "intent"), ("concept", "terms"),
    ("term", "terms"), ("file", "files"), ("error", "errors"), ("pending", "pending"), ("todo", "pending"),
    ("next", "next"), ("progress", "progress"), ("current work", "progress"), ("approach", "approach"),
    ("problem solving", "approach"), ("decision", "approach"),
)  # fmt: skip
"""What the headings of other summarisers are about."""


class Item(NamedTuple):
    """One line of a section. Of two with the same ``key`` the later one stands. ``weight`` says what goes first."""

    section: str
    text: str
    weight: float = 0.0
    key: str = ""

    @property
    def identity(self) -> tuple[str, str]:
        """Section and key, or text where it has no key."""
        return self.section, self.key or self.text


@lru_cache(maxsize=2048)
def _turn(text: str) -> int:
    """The first turn that an item's text names, 0 where it names none. Asked each time that items are sorted, and of
    most of them again in the next generation.
    """
    named = _TURN.search(text)
    return int(named[1]) if named else 0


def written(items: Iterable[Item], header: str, cap: int, count: Callable[[str], int]) -> str:
    """The items as text of at most ``cap`` tokens, the least important left out; empty where no item fits."""
    chosen = _chosen(list({item.identity: item for item in items}.values()), cap - count(header), count)
    by_worth: list[Item] = []
    while chosen:
        text = _text(chosen, header)
        if count(text) <= cap:
            return text
        by_worth = by_worth or sorted(chosen, key=_worth)
        last = by_worth.pop()  # lines counted one by one may cost less than all of them together
        chosen = [item for item in chosen if item is not last]
    return ""


@lru_cache(maxsize=4)
def read(text: str) -> Mapping[str, tuple[str, ...]]:
    """The items of a summary by section, bullets taken off. What stands under no heading is ``progress``.

    The last texts are remembered: a summary is read where it is made and where the next one folds it in.
    """
    found: dict[str, list[str]] = {name: [] for name in SECTIONS}
    section = "progress"
    for line in map(str.strip, text.splitlines()):
        if line.startswith("- "):  # as we write them
            found[section].extend(_items(" ".join(line[2:].split())))
            continue
        if line.startswith(KEPT):
            found["terms"].extend(f"{one} (must keep)" for one in line.removeprefix(KEPT).split("; "))
            continue
        named = _named(line)
        section = named or ("progress" if line.startswith("#") else section)
        bullet = _BULLET.match(line)
        if named is None and (bullet or not line.startswith(("[", "#"))):
            found[section].extend(_items(" ".join(line[bullet.end() if bullet else 0 :].split())))
    return {name: tuple(items) for name, items in found.items() if items}


def _named(line: str) -> str | None:
    """The section that a line opens: by its title, or where it is marked as a heading by what it is about."""
    heading = _HEADING.fullmatch(line)
    if heading is None:
        return None
    title = " ".join(heading[2].split()).casefold()
    if title in _BY_TITLE:
        return _BY_TITLE[title]
    marked = heading[1].startswith(("#", "**")) or ":" in heading[3]
    return next((name for word, name in _BY_WORD if word in title), None) if marked else None


def _items(line: str) -> Iterable[str]:
    if len(line) <= _LONG:
        return (line,) if line else ()
    return [line[start:end] for start, end in sentences(line)] or [line[:_LONG]]


def titled(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Title and items of each section of a summary, in order."""
    return tuple((SECTIONS[name].title, items) for name, items in read(text).items())


class _Room:
    """Tokens still free, and what stands in them so far."""

    def __init__(self, left: int, count: Callable[[str], int]) -> None:
        self.left, self.count = left, count
        self.chosen: list[Item] = []
        self.opened: set[str] = set()

    def cost(self, item: Item) -> int:
        """What the item would take: with the title, where it would open its section."""
        title = "" if item.section in self.opened else f"## {SECTIONS[item.section].title}\n"
        return self.count(f"{title}- {item.text}\n")

    def take(self, item: Item, cost: int) -> None:
        """Put it in."""
        self.chosen.append(item)
        self.opened.add(item.section)
        self.left -= cost


def _chosen(items: Sequence[Item], tokens: int, count: Callable[[str], int]) -> list[Item]:
    """First each section within its share, then what is left of the room to all, by worth."""
    room, waiting = _Room(tokens, count), dict[Item, int]()
    ranked = sorted(items, key=_worth)
    sections = _by_section(ranked)
    for name, section in sorted(SECTIONS.items(), key=lambda each: each[1].place):
        share = int(tokens * section.share)
        for item in sections[name][:MOST]:
            cost = room.cost(item)
            if cost <= min(share, room.left):
                room.take(item, cost)
                share -= cost
            else:
                waiting[item] = cost if name in room.opened else 0  # it will cost no less
    for item in ranked:
        if waiting.get(item, room.left + 1) <= room.left and (cost := room.cost(item)) <= room.left:
            room.take(item, cost)
    return room.chosen


def _by_section(items: Iterable[Item]) -> Mapping[str, list[Item]]:
    found: dict[str, list[Item]] = {name: [] for name in SECTIONS}
    for item in items:
        found[item.section].append(item)
    return found


def _worth(item: Item) -> tuple[float, ...]:
    """Sort key: the most important first."""
    return -item.weight, SECTIONS[item.section].place, -_turn(item.text)


def _text(items: Sequence[Item], header: str) -> str:
    lines = [header]
    for name, own in _by_section(items).items():
        if own:
            order: Order = _worth if name == "terms" else _by_turn
            lines.append(f"## {SECTIONS[name].title}")
            lines.extend(f"- {item.text}" for item in sorted(own, key=order))
    return "\n".join(lines)


def _by_turn(item: Item) -> tuple[float, ...]:
    return _turn(item.text), -item.weight
