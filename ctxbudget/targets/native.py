"""ctxbudget's own JSON Lines: the same fragments, turns, edits and bills again (docs/native.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.exports import json_of
from ctxbudget.loaders import native
from ctxbudget.targets import Converted
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Trace


def write(trace: Trace) -> Converted:
    """The trace as it is, sub-agents inside it."""
    return Converted(b"".join(map(json_of, native.dump(trace))), tuple(_notes(trace)))


def _notes(trace: Trace) -> Iterator[str]:
    members = list(trace.family())
    media = sum(one.kind is Kind.MEDIA for member in members for one in member.fragments)
    if media:
        yield f"{media:,} images or files: their size, not their content"
    warnings = sum(len(member.warnings) for member in members)
    if warnings:
        yield f"{warnings:,} warnings of reading the file: left out"
