"""What a summary must not lose: identifiers, amounts, dates, paths and addresses, found by their form alone.

Two spellings of one thing are one entity: ``#8842`` and ``8842``, ``$240``, ``$240.00`` and ``"amount": 240.0``,
``./a.py`` and ``a.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MOST = 5_000
"""Different entities of one span; more is a table, of which a summary keeps no single cell."""

_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    "|Nov(?:ember)?|Dec(?:ember)?)"
)
_MONEY_KEYS = "amount|balance|cost|due|fee|gross|limit|net|paid|price|refund|sum|tax|total|value"
_SUFFIXES = (
    "bash|cfg|conf|cpp|cs|css|csv|env|go|gz|h|hpp|html|ini|ipynb|java|js|json|jsonl|jsx|kt|lock|log|md|mjs|parquet|pdf"
    "|php|png|proto|py|pyi|rb|rs|rst|sh|sql|svg|swift|toml|traj|ts|tsv|tsx|txt|vue|xlsx|xml|yaml|yml|zip"
)
_FORMS = re.compile(
    rf"""
    (?: (?<!\w) | (?=[\#$€£¥]) )  # nothing begins inside a word: quick to see, and true of most places
    (?= [^\s\d@/\\.]{{0,100}}+[\d@/\\.] | [$€£¥JFMASOND] | (?<=")[a-z_] | [a-f]{{8}}- )  # nor in most words:
    # a form begins with one of the signs in its word, a currency, a month, a key in quotes, or is an id of letters
    (?: (?P<url>\b https?://[^\s"'<>()\[\]{{}}\\|^`]{{1,300}})
  | (?P<email>(?<![\w.+-])[\w.+-]{{1,64}}+@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,5}})
  | (?P<date>(?<![\w.-])(?:
        \d{{4}}-\d\d-\d\d (?:[T\ ]\d\d:\d\d(?::\d\d)?)?
      | \d{{1,2}}\.?\ {_MONTH}(?:,?\ \d{{4}})?
      | {_MONTH}\ \d{{1,2}}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?
      | \d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d\d)
    )(?![\w-]))
  | (?P<amount>
        [$€£¥]\s?\d(?:[\d,.']{{0,18}}\d)?
      | (?<![\w.,$€£¥-])\d(?:[\d,.']{{0,18}}\d)?\s?(?:€|£|EUR\b|USD\b|GBP\b|CHF\b|dollars?\b|euros?\b|pounds?\b)
      | (?<=")(?:[a-z_]{{1,20}}_)?(?:{_MONEY_KEYS})"\s?:\s?"?
        (?P<number>(?!0(?:\.0{{1,6}})?\b)\d{{1,15}}+(?:\.\d{{1,6}}+)?)(?![\w.]|[-/:]\d)
    )
  | (?P<path>
        (?<![\w/.~@%-])(?:
            (?:~|\.{{1,2}}|[A-Za-z]:)?(?:[/\\][\w.@+-]{{1,100}}){{2,20}}
          | (?:[\w.@+-]{{1,100}}+[/\\]){{1,20}}[\w@+-][\w.@+-]{{0,100}}\.[A-Za-z]\w{{0,7}}
          | [\w-]{{1,80}}(?:\.[\w-]{{1,40}}){{0,3}}\.(?:{_SUFFIXES})
        )(?![\w@]|[/\\]\w)
      | (?<![\w/.-])[A-Za-z_][\w-]{{1,60}}+/(?=[\s,;:)"'`]|$)
    )
  | (?P<identifier>
        \#[A-Za-z]{{0,5}}-?\d[\dA-Za-z-]{{0,30}}
      | (?<![\w-])(?:
            [0-9a-f]{{8}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{12}}
          | [A-Z][A-Z0-9]{{0,11}}-\d[\dA-Z]{{0,20}}(?:-[\dA-Z]{{1,20}}){{0,4}}
          | [A-Z]{{1,6}}\d{{4,24}}
          | [a-z]{{1,12}}[-_](?=[0-9A-Za-z]{{0,40}}\d)[0-9A-Za-z]{{6,64}}
          | (?=[0-9a-f]{{0,64}}[a-f])(?=[0-9a-f]{{0,64}}\d)[0-9a-f]{{7,64}}
          | v?\d{{1,4}}\.\d{{1,4}}\.\d{{1,6}}
        )(?![\w-])
      | (?<![\w.,:/$€£¥+-])\d{{4,24}}(?![\w/:-]|[.,]\d)
    ))
    """,
    re.VERBOSE,
)
_TELLING = re.compile(r"[\d@/\\.]\S*")
"""The rest of a word from a sign on that every form holds one of."""
_SIGNS = "./0123456789\\@"
"""These signs, the digits of other scripts aside."""
_NEXT = re.compile(r"(?:\s+\S+){0,3}")
_WORDS = 4
"""Words before such a sign, its own included, in which a form that holds it begins: ``"amount" : 240``, ``May 5``."""
_REACH = 400
"""Characters in which these are looked for; no form is longer before its first such sign."""
_GAP = 80
"""Such signs that lie no farther apart are looked at together."""
_ITEM = "\n- "
"""Begins an item of a list; no form reaches over it."""
_SEPARATORS = re.compile(r"[,' ](?=\d{3}(?!\d))")
_LONG_TEXT = 200_000
"""Characters of a text that is looked through only as far as is asked, and never remembered."""
_MOST_HELD = 32_000_000
"""About so many bytes of found entities and their texts are remembered, each of both counted as ``_WEIGHT`` besides."""
_WEIGHT = 250


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing that a text names. ``kind`` is ``url email date amount path identifier``; ``key`` is the same for
    every spelling of it."""

    kind: str
    text: str
    key: str


class _Memory:
    """What was found in which text, until that is too much; then it begins anew."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[tuple[int, Entity], ...]] = {}
        self.held = 0

    def keep(self, text: str, found: tuple[tuple[int, Entity], ...]) -> None:
        size = len(text) + _WEIGHT * (1 + len(found))
        if self.held + size > _MOST_HELD:
            self.clear()
        self.found[text] = found
        self.held += size

    def clear(self) -> None:
        self.found.clear()
        self.held = 0


_MEMORY = _Memory()


def find(text: str) -> Iterator[tuple[int, Entity]]:
    """The entities of a text in order, each time they are named, with where.

    A summary, its spot check and the drift after it ask about the same texts, and so does every strategy: what was
    found in one is remembered.
    """
    known = _MEMORY.found.get(text)
    if known is None:
        if len(text) > _LONG_TEXT:
            return _found(text)
        items = "\n" in text and _ITEM in text  # the one sign is found far quicker
        known = _in_items(text) if items else tuple(_found(text))
        _MEMORY.keep(text, known)
    return iter(known)


def forget() -> None:
    """Remember nothing that was found so far: whoever measures what finding costs begins anew."""
    _MEMORY.clear()


def _in_items(text: str) -> tuple[tuple[int, Entity], ...]:
    """What a list names, item by item: most items of a summary stood in the one before it already."""
    found, start = list[tuple[int, Entity]](), 0
    for item in text.split(_ITEM):
        found += [(start + at, entity) for at, entity in find(item)]
        start += len(item) + len(_ITEM)
    return tuple(found)


def _found(text: str) -> Iterator[tuple[int, Entity]]:
    if not _tells(text):
        return
    for start, stop in _regions(text):
        for match in _FORMS.finditer(text, start, stop):
            kind = match.lastgroup or ""
            if match["number"] is not None:
                yield match.start("number"), _entity("amount", match["number"])
            else:
                shown = match[0].rstrip(".,:;!?") if kind in {"url", "path"} else match[0]
                yield match.start(), _entity(kind, shown)


def _tells(text: str) -> bool:
    """Whether it holds one of the signs; looked for one by one they are found far quicker."""
    return any(map(text.__contains__, _SIGNS)) if text.isascii() else _TELLING.search(text) is not None


def _regions(text: str) -> Iterator[tuple[int, int]]:
    """Where forms may stand: round the signs that each of them holds, with whole words on both sides. Most of most
    texts is left out.
    """
    start = stop = -1
    for first, last in _clusters(text):
        begins = _before(text, first)
        if begins > stop:
            if start >= 0:
                yield start, stop
            start = begins
        following = _NEXT.match(text, last)
        stop = following.end() if following is not None else last
    if start >= 0:
        yield start, stop


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    first = last = -1
    for match in _TELLING.finditer(text):
        at = match.start()
        if at - last > _GAP and first >= 0:
            yield first, last
            first = at
        first, last = at if first < 0 else first, match.end()
    if first >= 0:
        yield first, last


def _before(text: str, at: int) -> int:
    low = max(0, at - _REACH)
    words = text[low:at].rsplit(None, _WORDS)
    return low + len(words[0]) if len(words) > _WORDS else low


def entities_in(texts: Iterable[str]) -> tuple[Entity, ...]:
    """The different entities of some texts, as they were first named; at most ``MOST``."""
    found: dict[str, Entity] = {}
    for text in texts:
        for _, entity in find(text):
            found.setdefault(entity.key, entity)
            if len(found) == MOST:
                return tuple(found.values())
    return tuple(found.values())


def lost(originals: Iterable[Entity], text: str) -> tuple[Entity, ...]:
    """Those that ``text`` does not name, in any spelling."""
    keys = {entity.key for _, entity in find(text)}
    return tuple(one for one in originals if one.key not in keys and not _stands(one.text, text))


def recall(originals: Collection[Entity], text: str) -> float:
    """The share of ``originals`` that ``text`` names; 1 where there are none. After each generation of a summary it
    shows the drift."""
    return 1 - len(lost(originals, text)) / len(originals) if originals else 1.0


def _entity(kind: str, text: str) -> Entity:
    return Entity(kind, text, _key(kind, text))


def _key(kind: str, text: str) -> str:
    match kind:
        case "amount":
            digits = _SEPARATORS.sub("", "".join(re.findall(r"[\d.,' ]+", text))).strip(" '").replace(",", ".")
            return f"={digits.rstrip('0').rstrip('.') if '.' in digits else digits}"
        case "identifier":
            return text.lstrip("#")
        case "path":
            return text.replace("\\", "/").removeprefix("./").rstrip("/")
        case _:
            return text


def _stands(needle: str, text: str) -> bool:
    """Whether ``needle`` stands in ``text`` and is not a part of a longer word or number there."""
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        before, after = text[at - 1 : at], text[end : end + 1]
        cut = (needle[0].isalnum() and before.isalnum()) or (needle[-1].isalnum() and after.isalnum())
        if not cut and not (after in {".", ","} and needle[-1].isdigit() and text[end + 1 : end + 2].isdigit()):
            return True
        at = text.find(needle, at + 1)
    return False
