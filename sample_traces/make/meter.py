"""What a provider would bill for a story, counted on what the story really sends.

``prompt = overhead + factor * o200k tokens of the input side + output tokens of earlier replies``, each piece
off by a little, as a real tokenizer is. Calibration has to find the overhead and the factor again.
"""

from __future__ import annotations

from dataclasses import dataclass

from stamps import draw

try:
    from quicktok import get_encoding
except ImportError:  # no wheel for this Python yet: the other vocabulary that ctxbudget depends on counts the same
    from bpe_openai import get_encoding

ENCODING = get_encoding("o200k_base")


def count(text: str) -> int:
    """Return the exact number of o200k tokens."""
    return len(ENCODING.encode_ordinary(text))


@dataclass(slots=True)
class Meter:
    """The bill of one conversation. ``prompt`` is what the next call would be charged for its prompt side."""

    seed: str
    factor: float
    prompt: int
    pieces: int = 0

    def price(self, text: str) -> int:
        """Return what one piece of text costs this provider: near factor times its tokens, never exactly."""
        self.pieces += 1
        share = (draw(f"{self.seed}/share/{self.pieces}", 401) - 200) / 100_000
        return max(1, round(count(text) * self.factor * (1 + share)) + draw(f"{self.seed}/few/{self.pieces}", 4))

    def enter(self, text: str) -> None:
        """Add a piece to the input side of the next call."""
        self.prompt += self.price(text)

    def carry(self, tokens: int) -> None:
        """Add tokens whose number is known: a reply at its own price, an image by its size."""
        self.prompt += tokens
