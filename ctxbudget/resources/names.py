"""Tool names: one spelling for all of a name's variants, and the vocabularies of ``data/tools.toml``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SEPARATORS = re.compile(r"[\W_]+")
_PREFIX = re.compile(r"__|[./:]")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST = 200
"""Characters of a tool name that are looked at; providers allow 64 to 128."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """``data/tools.toml`` as it is used: folded name → class, word → classes with and without a path, shell words."""

    tools: Mapping[str, str]
    verbs: Mapping[str, tuple[str, str]]
    shell: Mapping[str, frozenset[str]]


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The vocabularies, read at first use."""
    data = tomllib.loads(files("ctxbudget").joinpath("data", "tools.toml").read_text("utf-8"))
    return Vocabulary(
        {fold(name): cls for cls, listed in data["tools"].items() for name in listed},
        {word: (pair[0], pair[1]) for word, pair in data["verbs"].items()},
        {name: frozenset(words) for name, words in data["shell"].items()},
    )


def fold(name: str) -> str:
    """The name without case and separators: ``WebFetch``, ``web_fetch`` and ``web-fetch`` are one."""
    return _SEPARATORS.sub("", name).lower()


@lru_cache(maxsize=4096)
def tail(tool: str) -> str:
    """The name without ``mcp__server__``, ``server__``, ``server.`` or ``functions.`` in front."""
    parts = [part for part in _PREFIX.split(tool[:_LONGEST]) if part]
    return parts[-1] if parts else tool[:_LONGEST]


@lru_cache(maxsize=4096)
def known(tool: str) -> str | None:
    """What the vocabularies call ``tool``: a class, or one of their finer words (``editor``, ``patch``, ``code``,
    ``window``, ``computer``). None where nobody lists it.
    """
    tools = vocabulary().tools
    return tools.get(fold(tool[:_LONGEST])) or tools.get(fold(tail(tool)))


@lru_cache(maxsize=4096)
def words(tool: str) -> tuple[str, ...]:
    """The words of a name in order, lower case: ``get_userDetails`` is ``get user details``."""
    return tuple(word.lower() for word in _WORDS.findall(tail(tool)))
