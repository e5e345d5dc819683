"""Collapse what a completed plan item took into a few ledger lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ctxbudget.passes.keep_state.deeds import Deed, Deeds
from ctxbudget.summaries.extract.naming import cut
from ctxbudget.trace import Edit, Form, Fragment, Kind, named_turn
from ctxbudget.view import cut as allowed
from ctxbudget.view import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.view import View

NAME: Final = "collapse-subgoal"
CHARS: Final = 320
"""Characters of a line."""
_TASK: Final = frozenset({Kind.USER, Kind.MEMORY_FILE, Kind.SUMMARY})
"""Kinds that stay: the task is never summarised, a summary is short already."""


@dataclass(frozen=True, slots=True)
class CollapseSubgoal:
    """When a plan item is completed, leave five lines of all that was done since the one before.

    Keeps: what the stretch was for, what it changed, what failed and why, which files it looked at, what was said last.
    Costs: the cached prefix breaks where the stretch began, once per completed item.
    Fails: a plan that is ticked off late or never; what the next item still needs of the results must be read again.
    Use when: the agent keeps a plan and its items do not build on each other's raw results.
    """

    lines: int = 5
    """Most lines of a finished stretch."""
    least: float = 500
    """Leave stretches smaller than this: tokens, or a fraction of (window - reserve). Five lines cost some 200."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit for the stretch that the newest plan has finished."""
        if not view.task.reached:
            return
        gone = allowed(view, self._stretch(view))
        if sum(fragment.tokens for fragment in gone) < max(1, view.share(self.least)):
            return
        title = "; ".join(sorted(view.task.finished))
        text = "\n".join(_ledger(gone, title)[: max(1, self.lines)])
        new = replace(notice(view, NAME, text, gone), kind=Kind.SUMMARY, form=Form.SUMMARY)
        if new.tokens < sum(fragment.tokens for fragment in gone):
            ids = tuple(fragment.id for fragment in gone)
            yield Edit(NAME, ids, (new,), Form.SUMMARY, "a plan item was completed")

    def _stretch(self, view: View) -> Iterator[Fragment]:
        """What came between the last user text or completed item and the reply that completes this one."""
        plan = view.known[view.task.plan] if view.task.plan is not None else None
        for fragment in view.between(view.task.opened + 1, view.task.chain):
            ours = plan is not None and fragment.message == plan.message
            if fragment.kind not in _TASK and not ours:
                yield fragment


def _ledger(gone: list[Fragment], title: str) -> list[str]:
    """What it was, then what is known of it, the most important first."""
    deeds = Deeds()
    for fragment in gone:
        deeds.note(fragment)
    first, last = named_turn(gone[0]), named_turn(gone[-1])
    calls = sum(fragment.asks for fragment in gone)
    said = [one for one in gone if one.kind in {Kind.REASONING, Kind.ANSWER}]
    told = (
        f"[Finished, turns {first} to {last}, {calls} call{'' if calls == 1 else 's'}: {cut(title, CHARS)}]",
        _line("Done", _merged(deeds.done.values())),
        _line("Failed", (deed.line() for deed in reversed(deeds.failed.values()))),
        _line("Files", (f"{name} ({', '.join(actions)})" for name, actions in reversed(deeds.files.items()))),
        _line("Said last", (said[-1].text,)) if said else "",
    )
    return [line for line in told if line]


def _merged(deeds: Iterable[Deed]) -> Iterator[str]:
    """The same call with other arguments is one deed here; the newest first, for a line may be cut."""
    turns: dict[str, set[int]] = {}
    for deed in deeds:
        turns.setdefault(deed.name, set()).update(deed.turns)
    for name in sorted(turns, key=lambda name: -max(turns[name])):
        yield Deed(name, "", sorted(turns[name])).line()


def _line(title: str, parts: Iterable[str]) -> str:
    text = "; ".join(part for part in parts if part)
    return f"{title}: {cut(text, CHARS)}" if text else ""
