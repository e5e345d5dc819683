"""Which files a patch changes."""

from __future__ import annotations

import re

_CODEX = re.compile(
    r"^[ \t]*\*\*\* (?:Update|Add|Delete) File: (.+?)\s*$|^[ \t]*\*\*\* Move to: (.+?)\s*$", re.MULTILINE
)
"""The envelope of Codex' ``apply_patch`` (openai/codex ``codex-rs/apply-patch``)."""
_UNIFIED = re.compile(r"^(?:\+\+\+|---) ([^\t\n]+?)(?:\t[^\n]*)?$", re.MULTILINE)
_SCANNED = 2_000_000
"""Characters of a patch that are looked at: a bound on work, far above any patch a model writes."""


def is_patch(text: str) -> bool:
    """Whether ``text`` is or holds a patch: Codex' envelope, or the header of a unified diff."""
    return "*** Begin Patch" in text or ("\n+++ " in text and "--- " in text)


def files(text: str) -> tuple[str, ...]:
    """The files that the patch adds, changes, moves to or deletes, in its order, as it spells them."""
    text = text[:_SCANNED]
    named = dict.fromkeys(hit[1] or hit[2] for hit in _CODEX.finditer(text))
    if not named:
        named = dict.fromkeys(_plain(hit[1]) for hit in _UNIFIED.finditer(text))
        named.pop("/dev/null", None)
    return tuple(named)


def _plain(name: str) -> str:
    """Git writes ``a/`` and ``b/`` in front of the two sides."""
    return name[2:] if name.startswith(("a/", "b/")) else name
