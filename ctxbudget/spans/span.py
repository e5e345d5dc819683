"""A step of a recording, and the tree that steps form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.exchanges import Exchange

MODEL, AGENT, TOOL, OTHER = "model", "agent", "tool", "other"


@dataclass(frozen=True, slots=True)
class Span:
    """One step: a call of a model, an agent's run, a tool's work, or anything else."""

    id: str
    parent: str | None
    run: str
    """The session, or else the trace, that it belongs to: names the conversation."""
    begun: tuple[str, int]
    """When it began, in the unit of the file, and its place in the file: only the order counts."""
    kind: str
    line: int
    data: Any
    """What the file says of it, for the reader to look into."""
    title: str | None = None
    """What an agent is called."""


class Reader(Protocol):
    """What a loader knows of its recordings."""

    def exchange(self, span: Span, skipped: Counter[str]) -> Exchange | None:
        """The model call that a span is: messages empty where the recording holds none."""

    def opening(self, span: Span) -> list[dict[str, Any]]:
        """The messages that a run or an agent was given, as chat messages; asked only where spans have parents."""

    def answer(self, span: Span) -> dict[str, Any] | None:
        """What a tool answered: ``content``, ``is_error``, and ``id``, ``name``, ``arguments`` to find its call by."""


class Tree:
    """The spans of a file by id, with the agents they work for."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """A span exported twice counts once, as it was last."""
        self._spans = {(span.run, span.id): span for span in spans}
        self._by_id = {span.id: span for span in self._spans.values()}
        self._parents = _acyclic(self._by_id)
        self._callers: dict[str, str | None] = {}
        self._above: dict[str, tuple[str | None, str | None]] = {}
        self._hosts = self._tools_with_models()
        self.ordered = sorted(self._spans.values(), key=lambda span: span.begun)
        models = [span for span in self.ordered if span.kind == MODEL]
        self._working = {self.agent(span) for span in models}
        self._within = Counter(self._look(span)[1] for span in models)

    def agent(self, span: Span) -> str | None:
        """The nearest agent above a span (itself not); a tool that calls a model for its work is one."""
        return self._look(span)[0]

    def _tools_with_models(self) -> set[str]:
        found: set[str] = set()
        seen: set[str] = set()
        for span in self._by_id.values():
            for above in self.ancestors(span) if span.kind == MODEL else ():
                if above.id in seen:
                    break
                seen.add(above.id)
                found.update([above.id] if above.kind == TOOL else [])
        return found

    def is_repeated(self, span: Span) -> bool:
        """Whether a model call was recorded twice: it is the only one inside another one, as where two instruments
        look at the same call, or it is the sum of several inside it."""
        around = self._look(span)[1]
        return self._within[span.id] > 1 or (around is not None and self._within[around] == 1)

    def ancestors(self, span: Span) -> Iterator[Span]:
        """The spans above, nearest first."""
        above = self._parents.get(span.id)
        while above is not None:
            yield above
            above = self._parents.get(above.id)

    def caller(self, agent: str) -> str | None:
        """The agent that an agent works for: the nearest one above that calls a model itself; None for a main one."""
        path: list[str] = []
        at = agent
        while at not in self._callers:
            path.append(at)
            above = self.agent(self._by_id[at])
            if above is None or above in self._working:
                self._callers[at] = above
            else:
                at = above
        self._callers.update(dict.fromkeys(path, self._callers[at]))
        return self._callers[agent]

    def find(self, name: str) -> Span:
        """The span with that id."""
        return self._by_id[name]

    def _look(self, span: Span) -> tuple[str | None, str | None]:
        """Nearest agent, and nearest model call below it; what is known of a span above is not looked for again, so
        that a long chain costs its length once."""
        path: list[Span] = []
        found: tuple[str | None, str | None] = (None, None)
        for above in self.ancestors(span):
            if above.kind == AGENT or above.id in self._hosts:
                found = above.id, None
                break
            path.append(above)
            if above.id in self._above:
                found = self._above[above.id]
                break
        for above in reversed(path):
            self._above[above.id] = found
            found = found[0], above.id if above.kind == MODEL else found[1]
        return found


def _acyclic(spans: dict[str, Span]) -> dict[str, Span]:
    """The parent of every span that has one; a circle in a damaged file is cut where it closes."""
    parents: dict[str, Span] = {}
    roots: set[str] = set()
    for span in spans.values():
        at, seen = span, {span.id}
        while at.id not in parents and at.id not in roots:
            above = spans.get(at.parent or "")
            if above is None or above.id in seen:
                roots.add(at.id)
                break
            parents[at.id] = above
            seen.add(above.id)
            at = above
    return parents
