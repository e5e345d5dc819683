"""What calls work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.trace import Resource


class Works:
    """Knows the calls of a conversation; the same call asked again is not looked at again."""

    def __init__(self, rules: Mapping[str, str] | None) -> None:
        """``rules`` maps tool-name patterns to tool classes, ahead of the built-in vocabulary."""
        self._rules = rules
        self._known: dict[str, tuple[Resource, bool]] = {}

    def of(self, tool: str, given: Any, text: str, cwd: str | None) -> tuple[Resource, bool]:
        """What a call works on, and whether it is a plan; ``text`` is the whole call."""
        found = self._known.get(text)
        if found is None:
            resource = resources.resource(tool, given, rules=self._rules, cwd=cwd)
            found = self._known[text] = resource, resources.is_plan(tool, resource)
        return found
