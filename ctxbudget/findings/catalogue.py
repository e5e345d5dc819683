"""What every rule says, why it matters, an example, and how to fix it; the words are in ``data/findings.toml``.

``ctxbudget explain`` shows them, ``docs/findings.md`` is made of them, and renderers may carry them along.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ctxbudget.errors import UnknownName
from ctxbudget.findings import RULES

if TYPE_CHECKING:
    from ctxbudget.findings import Rule

GROUPS = {"CB1": "Budgets", "CB2": "Validity", "CB3": "Waste"}
"""What rules are about, by the beginning of their ids."""


@dataclass(frozen=True, slots=True)
class Page:
    """One rule, explained. Commands and names stand between backticks."""

    rule: Rule
    what: str
    why: str
    example: str
    fix: str

    @property
    def group(self) -> str:
        """What it is about."""
        return GROUPS[self.rule.id[:3]]


@cache
def pages() -> tuple[Page, ...]:
    """Every rule, in order of id."""
    words = tomllib.loads((files("ctxbudget") / "data" / "findings.toml").read_text(encoding="utf-8"))
    return tuple(Page(rule, **words[rule.id]) for rule in RULES)


def explain(name: str) -> Page:
    """The rule of that id or name (``CB303``, ``cb303``, ``loop``). Raises UnknownName with the nearest id."""
    wanted = name.strip().lower()
    for page in pages():
        if wanted in {page.rule.id.lower(), page.rule.name.lower()}:
            return page
    raise UnknownName("finding", name, [page.rule.id for page in pages()])
