"""Which tokenizer a model name stands for, and what is known of tokenizers that are not public.

Names come in any dress: ``openai/gpt-5-mini``, ``azure/gpt4-128k``, ``us.anthropic.claude-sonnet-4-5-20250929-v1:0``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

FALLBACK = "o200k_base"
"""Counts models without a public tokenizer, and unknown ones."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """What counts a model's text; ``exact`` if it is the model's own tokenizer, else it is a stand-in."""

    name: str
    exact: bool


MODELS = (
    (r"gpt-?(?:4(?![\d.o]|-[15](?!\d))|3)", "gpt-4"),
    (r"gpt-?(?:[4-9]|oss)|chatgpt|codex|(?<![a-z0-9])o[1-9](?![a-z0-9])", "gpt"),
    (r"claude|(?<![a-z])(?:opus|sonnet|haiku|fable)(?![a-z])", "claude"),
    (r"gemini|gemma", "gemini"),
    (r"deepseek", "deepseek"),
    (r"qwen|qwq", "qwen"),
    (r"llama", "llama"),
)
"""Patterns in a lower-case model name, the first that matches wins. ``gpt-4`` is what came before gpt-4o."""

OWN = {"gpt-4": "cl100k_base", "gpt": "o200k_base"}
"""Families whose own tokenizer is public (tiktoken's model table)."""

PRIORS = {
    "claude": {
        "mixed": 1.30, "prose": 1.15, "python": 1.25, "typescript": 1.28, "json": 1.19, "log": 1.26, "diff": 1.17,
        "shell": 1.19, "spanish": 1.27, "german": 1.39, "japanese": 1.21,
    },
    "claude-4.7": {
        "mixed": 1.70, "prose": 1.49, "python": 1.63, "json": 1.73, "diff": 1.46, "shell": 1.48, "spanish": 1.67,
        "german": 1.93, "japanese": 1.29,
    },
    "gemini": {"mixed": 1.08},
    "qwen": {"mixed": 1.04, "prose": 1.05, "python": 1.01, "json": 1.02, "diff": 1.03, "shell": 1.09},
    "llama": {"mixed": 1.00},
    "deepseek": {"mixed": 1.00},
}  # fmt: skip
"""Tokens of a family's own tokenizer per o200k token, by content.

Claude (3 to 4.6, and 4.7 on): measured with ctok 1.3, which reconstructs the counts of Anthropic's count_tokens, on
samples of 75 to 400 kB; ``typescript`` and ``log`` from the public Claude 2 vocabulary × 1.10 (coder/ai-tokenizer
1.0.6), which is within 0.02 of ctok for Python, JSON and prose and far too high for other languages. ``mixed`` is a
whole transcript with the framing of messages and calls: six recorded Claude Code sessions fit 1.21 to 1.81, median
1.30, where the text alone has 1.23; for 4.7 that times its ratio to 4.6 on the same texts (1.60 / 1.23).
Gemini, DeepSeek: coder/ai-tokenizer. Qwen, Llama 3: their public vocabularies on the same samples.
"""

FRAMED = 1.15
"""Billed over counted where Claude's own vocabulary (the ``claude`` extra) counts: the framing of messages and calls.
Sessions fit 1.1 to 1.2."""


@cache
def family(model: str | None) -> str:
    """The tokenizer family of a model name: a key of PRIORS or OWN, or ``other``."""
    name = (model or "").lower()
    found = next((known for pattern, known in MODELS if re.search(pattern, name)), "other")
    return "claude-4.7" if found == "claude" and _claude_version(name) >= (4, 7) else found


def _claude_version(name: str) -> tuple[int, int]:
    """``claude-opus-4-7-20260416`` → (4, 7); a date is no version, a name without number is an old one."""
    found = re.search(r"(?:claude|opus|sonnet|haiku|fable)\D*(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?", name)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def encoding_for(model: str | None) -> Encoding:
    """The encoding that counts a model's text: its own, or ``o200k_base`` in its stead."""
    own = OWN.get(family(model))
    return Encoding(own or FALLBACK, exact=own is not None)


def prior(model: str | None, encoding: str = FALLBACK, content: str = "mixed") -> float:
    """A first factor from counted to billed tokens, for a model whose usage is not recorded; 1.0 where none is known.

    ``content`` is a key of a PRIORS table; one that the family has no number for takes ``mixed``.
    """
    if encoding.startswith("claude"):
        return FRAMED
    table = PRIORS.get(family(model), {})
    return table.get(content, table.get("mixed", 1.0))
