"""Anthropic's words: messages made of blocks."""
