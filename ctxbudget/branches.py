"""Trees of entries, as agents store them that can rewind: the live branch is the path from the last entry back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Link(NamedTuple):
    """An entry's own name and its parent's; ``rooted`` where it says itself that it has none."""

    own: str | None
    parent: str | None
    rooted: bool = False


def live(links: Sequence[Link]) -> list[int]:
    """The places of the entries on the path from the last one to its root, in order.

    An entry whose parent is not there (a damaged line, a trimmed head) follows the entry before it.
    """
    known: dict[str, int] = {}
    parents: list[int] = []
    for at, link in enumerate(links):
        parents.append(-1 if link.rooted else known.get(link.parent or "", at - 1))
        if link.own is not None:
            known[link.own] = at
    path, at = [], len(links) - 1
    while at >= 0:
        path.append(at)
        at = parents[at]
    return path[::-1]
