"""Which sentences are normative: the word lists of ``data/constraints.toml`` as rules.

| rule | fires on | unless |
|---|---|---|
| ``imperative`` | ``do not``, ``make sure`` … at the start of a clause | |
| ``adverb`` | ``never``, ``always``, ``only``, ``keep`` … at the start of a clause | it is a report |
| ``modal`` | ``must``, ``you may not``, ``is forbidden`` … anywhere | |
| ``limit`` | ``at most``, ``no more than``, ``max`` … before a number; ``3 pages max`` | |
| ``ceiling`` | ``under``, ``less than`` … before an amount of money or a number of words, lines … | it is a report |
| ``condition`` | ``without changing``, ``should not``, ``unless I ask`` … anywhere | it is a report |

A report begins with who tells (``I``, ``it``, ``we``) or has a verb of the past (``took``, ``failed``): "I only saw it
once", "It crashed without warning". A question is no constraint ("Must I restart?"), except a request put as one
("Could you make sure that …?", "Can you find one under $50?"). Text in backticks or double quotes is mentioned, not
said.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_MONEY = (
    r"(?:(?:us|a|c|r)?[$€£¥]\s?\d|\d[\d.,']*\s?k?\s?(?:€|£|\$|eur\b|euros?\b|usd\b|gbp\b|chf\b|dollars?\b|dólares\b|dollar\b"
    r"|pounds?\b|pesos?\b|reais\b|bucks\b|mxn\b|brl\b|francs?\b|franken\b))"
)
"""An amount of money in digits, with its sign or code before or after."""
_MENTIONED = re.compile(r"`[^`]*`|</?[a-z][^<>]{0,60}>|\"[^\"]*\"|“[^”]*”|«[^»]*»")
_EMPHASIS = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}")
_HINT = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
"""Characters of a text from which its language is told."""
_TOLD = 3
"""Hints of a language that are enough to leave out the others."""


@dataclass(frozen=True, slots=True)
class Language:
    """The compiled rules of one language, in the order in which they are tried."""

    name: str
    hints: frozenset[str]
    signs: re.Pattern[str]
    """Finds, in lower case, a beginning of a word that some rule needs: without one no other rule is tried."""
    always: tuple[tuple[str, re.Pattern[str]], ...]
    unless_told: tuple[tuple[str, re.Pattern[str]], ...]
    told: re.Pattern[str]
    asks: re.Pattern[str]


@lru_cache(maxsize=1)
def languages() -> tuple[Language, ...]:
    """The languages of the data file, compiled at first use."""
    return tuple(_language(name, lists) for name, lists in _data().items())


def spoken(text: str) -> tuple[Language, ...]:
    """The languages whose rules apply to ``text``, likeliest first; all of them where too little of it tells."""
    words = Counter(_HINT.findall(text[:_SAMPLE].lower()))
    hits = {language.name: sum(words[hint] for hint in language.hints) for language in languages()}
    ranked = sorted(languages(), key=lambda language: -hits[language.name])
    best = hits[ranked[0].name]
    return tuple(language for language in ranked if best < _TOLD or hits[language.name] * 3 >= best)


def rule(sentence: str, among: Sequence[Language]) -> tuple[str, str] | None:
    """The language and the rule by which ``sentence`` is normative, or None.

    ``among`` are the languages of its text. A sentence with no word of theirs is tried in all: texts mix languages.
    """
    low = sentence.lower()
    words = set(_HINT.findall(low))
    if not any(words & language.hints for language in among):
        among = (*among, *(language for language in languages() if language not in among))
    said = _EMPHASIS.sub("", _MENTIONED.sub("§", low)).rstrip()
    for language in among:
        if not language.signs.search(low):
            continue
        asked = said.endswith("?")
        requested = asked and language.asks.match(said) is not None
        if asked and not requested:
            continue
        for name, pattern in language.always:
            if not (requested and name == "modal") and pattern.search(said):
                return language.name, name
        if any(pattern.search(said) for _, pattern in language.unless_told) and not language.told.search(said):
            return language.name, next(name for name, pattern in language.unless_told if pattern.search(said))
    return None


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads(files("ctxbudget").joinpath("data", "constraints.toml").read_text("utf-8"))


def _language(name: str, lists: Mapping[str, list[str]]) -> Language:
    number = rf"(?:(?:us)?[$€£]?\s?\d|(?:{_either(lists['numbers'])})(?!\w))"
    clause = rf"(?:^\W*|[.,;:!?\u2014\u2013]\s*|\s-\s+|(?<!\w)(?:{_either([*lists['openers'], *lists['asks']])})\s+)+"
    counted = rf"\d[\d.,]*\s*(?:{_either(lists['units'])})(?!\w)"
    ceiling = rf"(?<!\w)(?:{_either(lists['ceilings'])})\s+(?:{_MONEY}|{counted})"
    limit = (
        rf"(?<!\w)(?:{_either(lists['limits'])})\s*{number}|\d[\d.,]*\s+(?:\w+\s+)?(?:{_either(lists['after'])})(?!\w)"
    )
    return Language(
        name,
        frozenset(lists["hints"]),
        re.compile(rf"\b(?:{'|'.join(map(re.escape, lists['signs']))})"),
        (
            ("imperative", re.compile(rf"{clause}(?:{_either(lists['imperative'])})(?!\w)")),
            ("modal", re.compile(rf"(?<!\w)(?:{_either(lists['modal'])})(?!\w)")),
            ("limit", re.compile(limit)),
        ),
        (
            ("adverb", re.compile(rf"{clause}(?:{_either(lists['adverbs'])})(?!\w)")),
            ("ceiling", re.compile(ceiling)),
            ("condition", re.compile(rf"(?<!\w)(?:{_either(lists['conditions'])})(?!\w)")),
        ),
        re.compile(rf"^\W*(?:{_either(lists['tellers'])})(?!\w)|(?<!\w)(?:{_either(lists['past'])})(?!\w)"),
        re.compile(rf"\W*(?:{_either(lists['openers'])})?\W*(?:{_either(lists['asks'])})(?!\w)"),
    )


def _either(entries: Iterable[str]) -> str:
    return "|".join(entries).replace(" ", r"\s+").replace("'", "['\u2019]")
