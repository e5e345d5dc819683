"""Trees that agents store: the entries of a session that can rewind, and sessions with sub-agents below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MOST_NESTED = 50
"""Sub-agents below sub-agents that are followed."""


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


def families(parents: Mapping[str, Any]) -> tuple[list[str], dict[str, list[str]]]:
    """Sessions that have no other above them, and the sessions below each, from the parent that each one names.

    A parent that is not there, that stands below its own child, or that has ``MOST_NESTED`` above it, is none.
    """
    roots: list[str] = []
    below: dict[str, list[str]] = {}
    for name in parents:
        chain = [name]
        while isinstance(above := parents[chain[-1]], str) and above in parents:
            if above in chain or len(chain) > MOST_NESTED:
                chain = [name]
                break
            chain.append(above)
        (below.setdefault(chain[1], []) if len(chain) > 1 else roots).append(name)
    return roots, below


def members(parents: Mapping[str, Any], only: str | None) -> Collection[str] | None:
    """The session ``only`` and all below it; None, which means all, where it is none that has no other above it."""
    roots, below = families(parents)
    if only is None or only not in roots:
        return None
    found = [only]
    for name in found:
        found += below.get(name, ())
    return frozenset(found)
