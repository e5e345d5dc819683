"""Schemes: which layer each kind of fragment belongs to.

``agent`` shows the four layers of an agent's context and its fixed overhead; ``window`` is the view of a budget.
A configuration may map kinds or tool names to layers of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxbudget.errors import UnknownName
from ctxbudget.trace import Fragment, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Scheme:
    """An ordered set of layers, and the layer of every kind; ``tools`` overrides it by tool name."""

    name: str
    layers: tuple[str, ...]
    kinds: Mapping[Kind, str]
    tools: Mapping[str, str] = field(default_factory=dict)

    def layer(self, fragment: Fragment) -> str:
        """The layer a fragment counts in."""
        if self.tools and fragment.tool is not None and fragment.tool in self.tools:
            return self.tools[fragment.tool]
        return self.kinds[fragment.kind]

    def extended(self, kinds: Mapping[Kind, str], tools: Mapping[str, str]) -> Scheme:
        """The same scheme with a configuration's own mapping on top; new layers follow the known ones."""
        named = dict.fromkeys([*self.layers, *kinds.values(), *tools.values()])
        return Scheme(self.name, tuple(named), {**self.kinds, **kinds}, {**self.tools, **tools})


def _scheme(name: str, groups: Mapping[str, tuple[Kind, ...]]) -> Scheme:
    return Scheme(name, tuple(groups), {kind: layer for layer, kinds in groups.items() for kind in kinds})


AGENT = _scheme(
    "agent",
    {
        "system": (Kind.SYSTEM_PROMPT, Kind.TOOL_DEFINITIONS, Kind.UNSEEN, Kind.INJECTED),
        "task": (Kind.USER, Kind.MEMORY_FILE),
        "state": (Kind.PLAN, Kind.SUMMARY, Kind.ANSWER),
        "reasoning": (Kind.REASONING, Kind.THINKING),
        "observation": (Kind.CALL, Kind.RESULT, Kind.RETRIEVAL, Kind.MEDIA, Kind.OTHER),
    },
)
"""What each token is for. ``other`` is material nobody claims: it expires like an observation."""

WINDOW = _scheme(
    "window",
    {
        "system": (Kind.SYSTEM_PROMPT, Kind.MEMORY_FILE, Kind.INJECTED, Kind.UNSEEN),
        "tools": (Kind.TOOL_DEFINITIONS,),
        "retrieval": (Kind.RETRIEVAL,),
        "working_memory": tuple(
            kind
            for kind in Kind
            if kind
            not in {
                Kind.SYSTEM_PROMPT,
                Kind.MEMORY_FILE,
                Kind.INJECTED,
                Kind.UNSEEN,
                Kind.TOOL_DEFINITIONS,
                Kind.RETRIEVAL,
            }
        ),
    },
)
"""The view of a budget file."""

SCHEMES: Mapping[str, Scheme] = {scheme.name: scheme for scheme in (AGENT, WINDOW)}

RULES_OF_LIFE: Mapping[str, str] = {
    "system": "fixed overhead; never edited before the first user message, so that the prompt cache holds",
    "task": "the assignment and its constraints; copied literally, never summarised",
    "state": "what was done, what failed, what is left; rewritten, not summarised",
    "reasoning": "served a decision already taken; an early candidate to go",
    "observation": "what tools were asked and answered; expires, and a stale copy is worse than none",
    "tools": "the definitions of the tools; stable, cached",
    "retrieval": "what searches and knowledge tools brought; kept for the chain that asked",
    "working_memory": "everything else the agent works with",
}


def scheme(name: str) -> Scheme:
    """The scheme of that name.

    Raises UnknownName, with the nearest name, where there is none.
    """
    if name not in SCHEMES:
        raise UnknownName("scheme", name, SCHEMES)
    return SCHEMES[name]
