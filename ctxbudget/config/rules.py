"""Which rules a check looks at, and how serious each is here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.findings import LEVELS, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ctxbudget.config.section import Section
    from ctxbudget.findings import Rule

USUAL = ("CB1", "CB2")
"""What a check looks at unless told otherwise: budgets and validity. Waste is shown by ``analyze``."""
IDS = tuple(rule.id for rule in RULES)
GROUPS = tuple(dict.fromkeys(one[:3] for one in IDS))
"""Beginnings of ids: budgets, validity, waste."""


@dataclass(frozen=True, slots=True)
class Rules:
    """``select`` and ``ignore`` hold ids or beginnings of ids (``CB1``); ``severity`` maps an id to a level, and turns
    its rule on. None: the usual ones."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def asked(cls, select: Iterable[str] | None, ignore: Iterable[str]) -> Rules:
        """Those of flags, each of which may hold several ids between commas. Raises UsageError."""
        chosen = None if select is None else checked(_split(select))
        return cls(chosen, checked(_split(ignore)))

    def looks_at(self, rule: str) -> bool:
        """Whether a rule is on: the longest beginning that names it decides, and ``ignore`` wins a tie."""
        chosen = max((len(one) for one in self.select or USUAL if rule.startswith(one)), default=0)
        if rule in self.severity:
            chosen = len(rule)
        ignored = max((len(one) for one in self.ignore if rule.startswith(one)), default=0)
        return chosen > ignored

    def level(self, rule: Rule) -> str:
        """How serious a finding of the rule is."""
        return self.severity.get(rule.id, rule.level)

    def over(self, base: Rules) -> Rules:
        """These where they say something (a command line), the other's where they do not."""
        severity = base.severity
        if self.select is not None:  # asked for by name: a severity turns on nothing besides
            severity = {id: level for id, level in severity.items() if id.startswith(self.select)}
        select = base.select if self.select is None else self.select
        return Rules(select, (*base.ignore, *self.ignore), {**severity, **self.severity})


def read(section: Section) -> Rules:
    """The rules in a table. Raises ConfigError with the place of an id that no rule has."""
    section.known(("select", "ignore", "severity"))
    select, ignore = section.texts("select"), section.texts("ignore") or ()
    for key, given in (("select", select or ()), ("ignore", ignore)):
        with section.placed(key):
            checked(given)
    severity = section.inner("severity")
    severity.known(IDS, "rule")
    for key, level in section.named("severity").items():
        if level not in LEVELS:
            unknown = UnknownName("level", level, LEVELS)
            severity.wrong(key, unknown.message, unknown.hint)
    return Rules(select, ignore, section.named("severity"))


def _split(given: Iterable[str]) -> list[str]:
    return [one.strip().upper() for text in given for one in text.split(",") if one.strip()]


def checked(given: Iterable[str]) -> tuple[str, ...]:
    """The ids, or beginnings of ids. Raises UsageError for one that no rule begins with."""
    found = tuple(given)
    for one in found:
        if not one or not any(rule.startswith(one) for rule in IDS):
            groups = ", ".join(GROUPS)
            raise UsageError(f"unknown rule {one!r}", hint=f"{groups}, or one of them; see: ctxbudget explain")
    return found
