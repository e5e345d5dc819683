"""One fragment's life in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.report.run import Chapter, Story

KINDS = {
    "user": "user text",
    "injected": "injected text",
    "other": "other text",
    "reasoning": "reasoning",
    "thinking": "thinking",
    "retrieval": "a retrieved result",
    "media": "an image or a document",
    "answer": "an answer",
    "unseen": "text that is not in the file",
    "tool_definitions": "tool definitions",
}
"""Kinds in words, where they are not just the name with an article."""

DEEDS = {
    "whole": "brought it back whole",
    "lost": "removed it, and left nothing",
    "noticed": "removed it, and left a notice that something is gone",
    "cleared": "cleared it: a marker of {tokens} tokens stands in its place",
    "digest": "left a digest of {tokens} tokens in its place",
    "truncated": "cut it to {tokens} tokens",
    "summary": "put a summary of {tokens} tokens in place of it and others",
    "offloaded": "moved it to a store: an index line of {tokens} tokens stands in its place",
    "duplicate": "left {tokens} tokens that point to the same content, which stands whole elsewhere",
}
"""What a pass did, by the form it left."""


def sentences(story: Story, last: int) -> Iterator[str]:
    """What it is, what it went through, and what is lost with it; ``last`` is the last turn."""
    what = KINDS.get(story.kind, f"a {story.kind.replace('_', ' ')}")
    tool = f" of {story.tool}" if story.tool else ""
    line = "" if story.line is None else f", line {story.line} of the file"
    yield f"{story.id} is {what}{tool}: {story.tokens:,} tokens, layer {story.layer}{line}."
    if story.pinned:
        yield "It is pinned: no pass may edit it."
    if not story.chapters:
        yield "No prompt held it: it is part of the final reply."
    for chapter in story.chapters:
        yield _chapter(chapter, last)
    for text in story.holds:
        yield f"It holds the constraint: {text}"


def _chapter(chapter: Chapter, last: int) -> str:
    end = "to the end" if chapter.until >= last else f"until turn {chapter.until}"
    if not chapter.by:
        stays = f" and stands whole {end}" if chapter.until > chapter.since or chapter.until >= last else ", whole"
        return f"It entered at turn {chapter.since}{stays}."
    deed = DEEDS.get(chapter.form, chapter.form).format(tokens=f"{chapter.tokens:,}")
    reason = f" ({chapter.reason})" if chapter.reason else ""
    return f"At turn {chapter.since} {chapter.by} {deed}{reason}; so it is {end}."
