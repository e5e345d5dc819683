"""Tokens of a text: counted exactly and offline, and what a model's own tokenizer is known to make of it."""

from ctxbudget.tokens.engines import Counter, counter
from ctxbudget.tokens.families import Encoding, encoding_for, family, prior

__all__ = ["Counter", "Encoding", "counter", "encoding_for", "family", "prior"]
