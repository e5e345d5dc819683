"""Loops: the same call again and again, with the same answer, while nothing changed.

``evidence`` says of two calls whether anything could have changed between them; here its verdicts are put together to
chains, and only calls with one and the same answer are looked at: a call that waits for something gets another one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ctxbudget.digests import label
from ctxbudget.evidence.actions import actions
from ctxbudget.evidence.changes import Changes
from ctxbudget.evidence.needs import Need
from ctxbudget.evidence.repeats import Loops
from ctxbudget.trace import Kind, named_turn
from ctxbudget.waste.piece import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.evidence.actions import Action
    from ctxbudget.trace import Trace
    from ctxbudget.waste.recorded import Until

LEAST = 3
"""Calls that make a loop: a second look may be wanted."""


def loops(trace: Trace, until: Until) -> Iterator[Piece]:
    """One piece for each chain: every call after its first, with its answer."""
    again = _asked_often(trace)
    if not again:
        return
    spoken = [place for place, fragment in enumerate(trace.fragments) if fragment.kind is Kind.USER]
    known, changes = Loops(spoken), Changes()
    chains: dict[str, list[Action]] = {}
    for action in actions(trace):
        text = action.call.text
        if text in again:
            if known.again(action, changes) is not None and _answers(action) == _answers(chains[text][-1]):
                chains[text].append(action)
            else:
                yield from _piece(chains.get(text, []), until)
                chains[text] = [action]
        changes.note(Need(action, (), (), (), ()))
    for chain in chains.values():
        yield from _piece(chain, until)


def _asked_often(trace: Trace) -> set[str]:
    """The texts of calls that got one and the same answer often enough."""
    asked: dict[str, str] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for fragment in trace.fragments:
        if fragment.call is None:
            continue
        if fragment.asks:
            asked[fragment.call] = fragment.text
        elif fragment.call in asked:
            seen[asked[fragment.call], fragment.text] += 1
    return {text for (text, _), times in seen.items() if times >= LEAST}


def _answers(action: Action) -> list[str]:
    return [result.text for result in action.results]


def _piece(chain: list[Action], until: Until) -> Iterator[Piece]:
    if len(chain) < LEAST:
        return
    repeated = [fragment for action in chain[1:] for fragment in (action.call, *action.results)]
    rent = sum(one.tokens * max(0, until[one.id] - one.turn + 1) for one in repeated)
    last = named_turn(chain[-1].call)
    text = f"{label(chain[0].call)}: {len(chain)} times up to turn {last}, with the same answer, and nothing changed"
    yield Piece(chain[1].call, sum(one.tokens for one in repeated), rent, text)
