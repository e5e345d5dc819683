"""How a simulated user ends a conversation."""

from __future__ import annotations

from typing import Any

from ctxbudget.records.values import mapping

STOPS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
"""Words of the user that end the conversation (tau-bench has the first, tau2-bench all of them)."""


def ends(message: Any) -> bool:
    """Whether a message of the user ends the conversation: nobody is sent it."""
    said = mapping(message)
    content = said.get("content")
    return said.get("role") == "user" and isinstance(content, str) and any(word in content for word in STOPS)
