"""Strings in the arguments of a call that cannot be guessed: ids, hashes, numbers, absolute paths, URLs.

What an edit or a write puts into files is not looked at: its old text is D1, its new text is the model's own. Of a
command that writes files, bodies of here-documents are left out for the same reason. Numbers that say which lines, how
many or how long (``offset``, ``timeout``, ``head -100``, ``sed -n 120,160p``) are chosen, and any numbered listing
holds them by chance.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.evidence.actions import BY_TEXT
from ctxbudget.evidence.arguments import leaves
from ctxbudget.evidence.edits import NEW, OLD
from ctxbudget.resources import arguments as known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.evidence.actions import Action

DIGITS = 3
"""Digits from which a number, or a word with digits, counts."""
LONGEST = 500
"""Characters of a string that can be an id, a path or a URL; a longer one is data."""

_TOKEN = re.compile(
    r"""
    (?P<url>[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s"'<>`\\)\]}|,;]+)
  | (?P<path>(?<![\w.~/-])(?:~|[A-Za-z]:)?(?:[/\\][\w.@%+~-]+){2,})
  | (?P<word>\w+(?:[-.]\w+)*)
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"\w+(?:[-.]\w+)*")
_PIECE = re.compile(r"\w+(?:-\w+)*")
_DECIMAL = re.compile(r"[\d.-]+\Z")
_HASH = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,64}\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{5,}")
_COMPOUND = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1.*?(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_AMOUNT = re.compile(r"(?:max|line|start|end)|.*(?:offset|limit|lines?|range|timeout|ms|seconds|tokens|count|depth)\Z")
_WHOLE = re.compile(r"\[?-?\d{1,9}(?:, ?-?\d{1,9})?\]?\Z", re.ASCII)
"""A number, or two of them as text-mode agents write a range."""
_LINES = re.compile(r"(?<!\S)-(?:[nABCm]\s*)?\d+\b|\b\d+(?:,\d+)?p\b")
_EVERYWHERE = frozenset({
    "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/usr/bin/env", "/bin/bash", "/bin/sh"
})  # fmt: skip
_BODIES = frozenset({*OLD, *NEW, *known.CONTENTS, *known.PATCHES, "newsource"})


def strings(action: Action) -> tuple[str, ...]:
    """The longest strings of each argument that count, in order, each once."""
    found: dict[str, None] = {}
    for text in _arguments(action):
        whole = text.strip()
        for hit in _TOKEN.finditer(text):
            token = hit[0].rstrip(".,:;!?-") if hit.lastgroup != "word" else hit[0]
            if hit.lastgroup != "word" or counts(token) or (token == whole and _is_id(token)):
                found[token] = None
    return tuple(token for token in found if token not in _EVERYWHERE and len(token) <= LONGEST)


def inner(token: str) -> tuple[str, ...]:
    """The strings inside a longer one that count by themselves: the order number of a URL, the stem of a file's name.

    Ids with hyphens and decimal numbers are one thing and have nothing inside.
    """
    if _DECIMAL.match(token):
        return ()
    pattern = _PIECE if _WORD.fullmatch(token) else _WORD
    return tuple(dict.fromkeys(piece for piece in pattern.findall(token) if piece != token and counts(piece)))


def counts(word: str) -> bool:
    """Whether a word is an id, a hash or a number that nobody guesses."""
    return sum(char.isdigit() for char in word) >= DIGITS or _HASH.match(word) is not None


def identifiers(action: Action) -> tuple[str, ...]:
    """Compound identifiers (``snake_case``, ``camelCase``, six characters or more) for D3."""
    named = (name for text in _arguments(action) for name in _IDENTIFIER.findall(text))
    return tuple(dict.fromkeys(name for name in named if _COMPOUND.search(name)))


def _is_id(word: str) -> bool:
    """A whole argument that mixes letters and digits: ``V31``, ``e12``."""
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in word)


def _arguments(action: Action) -> Iterator[str]:
    """The arguments that name things."""
    writes = action.cls in BY_TEXT
    for key, text in leaves(action.args):
        if _WHOLE.match(text) and _AMOUNT.match(key):
            continue
        if key in known.COMMANDS or key == known.RAW:
            yield _LINES.sub(" ", _kept(key, text) if writes else text)
        elif not writes or key not in _BODIES:
            yield text


def _kept(key: str, text: str) -> str:
    """Of a command that writes files, what is not written: no here-document, of raw text the first line."""
    return _HEREDOC.sub(" ", text) if key in known.COMMANDS else text.partition("\n")[0]
