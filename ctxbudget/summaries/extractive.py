"""The default summariser: offline, deterministic, no model.

It writes structured state in nine sections out of what the span literally holds: sentences of the user, constraints,
identifiers and amounts by who named them, files with their last action, failures with the later success of the same
call, the plan. Text and cost stand for those of a model, so both are labelled as simulated.

The summary so far is read back and folded in. Its originals are out of reach: what one generation left out, no later
one can bring back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.constraints import find as binding
from ctxbudget.summaries.blocks import BLOCK, MOST, pieces
from ctxbudget.summaries.extract.failures import failures, signature, weight
from ctxbudget.summaries.extract.files import CHANGED, LOOKED_AT, changed_before, files
from ctxbudget.summaries.extract.plan import ACTIVE, DONE, OPEN_MARKS, PENDING, plan
from ctxbudget.summaries.extract.terms import MOST_WORTH, key_of, terms
from ctxbudget.summaries.extract.user import BINDS, SAID, TASK, kept, said
from ctxbudget.summaries.extract.work import approach, next_step, progress
from ctxbudget.summaries.extract.work import weight as worked
from ctxbudget.summaries.sections import Item, read, titled, written
from ctxbudget.summaries.summary import Summary
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ctxbudget.summaries.blocks import Piece
    from ctxbudget.summaries.summary import Request
    from ctxbudget.trace import Fragment

NAME = "extractive"
_HEADER = re.compile(r"\[Extractive summary, turns (\d{1,7}) to (\d{1,7})(?:, generation (\d{1,6}))?\]")


@dataclass(frozen=True, slots=True)
class Extractive:
    """Structured state out of what the span literally holds."""

    def summarise(self, request: Request) -> Summary:
        """A summary of at most ``request.cap`` tokens; its text is empty where not even one line fits."""
        span = pieces(request.span)
        earlier = read(request.earlier or "")
        items = [
            *_folded(earlier, span),
            *_found(span, earlier, first=request.earlier is None),
            *kept(request.protected()),
        ]
        text = written(items, _header(request), request.cap, request.count)
        blocks = -(-sum(len(piece.text) for piece in span) // BLOCK)
        calls = min(max(blocks, 1), MOST)
        return Summary(
            text,
            tokens_in=request.size,
            tokens_out=request.count(text) if text else 0,
            calls=calls + (calls > 1),
            simulated=True,
            by=NAME,
            sections=titled(text),
        )


def _found(span: Sequence[Piece], earlier: Mapping[str, Sequence[str]], *, first: bool) -> Iterator[Item]:
    """The items of the span itself."""
    calls: dict[str, Fragment] = {}
    for piece in span:
        if piece.fragment.asks and piece.fragment.call is not None:
            calls[piece.fragment.call] = piece.fragment
    results = [piece for piece in span if piece.fragment.answers]
    failed = {piece.fragment.id: text for piece in results if (text := signature(piece.fragment, piece.text))}
    yield from said(span, first=first)
    yield from _terms(span, failed, earlier.get("terms", ()))
    yield from _files(results, calls, failed, earlier.get("files", ()))
    yield from failures(results, calls, failed, earlier.get("errors", ()))
    yield from approach(span)
    yield from plan(span)
    yield from progress(results, calls, failed)
    yield from next_step(span)


def _terms(span: Sequence[Piece], failed: Collection[str], earlier: Sequence[str]) -> Iterator[Item]:
    """Terms of the span; one that the summary so far holds keeps its wording, and is worth both."""
    before = {item.key: item for item in (_again("terms", text, place) for place, text in enumerate(earlier))}
    for item in terms(span, failed):
        known = before.get(item.key)
        yield Item("terms", known.text, known.weight + item.weight, key=item.key) if known else item


def _files(
    results: Sequence[Piece], calls: Mapping[str, Fragment], failed: Collection[str], earlier: Sequence[str]
) -> Iterator[Item]:
    """Files of the span; one that was changed before and only read here keeps both."""
    before = {text.rpartition(": ")[0]: changed_before(text) for text in earlier}
    for item in files(results, calls, failed):
        change = before.get(item.key)
        if change and item.weight == LOOKED_AT:
            yield Item("files", item.text.replace(": ", f": {change}, ", 1), CHANGED, key=item.key)
        else:
            yield item


def _folded(earlier: Mapping[str, Sequence[str]], span: Sequence[Piece]) -> Iterator[Item]:
    """The items of the summary so far, as far as nothing in the span takes their place.

    Terms stand in the order of their worth, so their place says it; they fade a little in every generation, as do the
    agent's own words.
    """
    planned, spoke = bool(plan(span)), bool(list(next_step(span)))
    for section, texts in earlier.items():
        for place, text in enumerate(texts):
            if (section == "pending" and planned and text.startswith(OPEN_MARKS)) or (section == "next" and spoke):
                continue
            yield _again(section, text, place)


def _again(section: str, text: str, place: int) -> Item:
    """An item that was read back, with the weight that its section and text give it."""
    match section:
        case "intent":
            bound = text.startswith("must keep:") or binding(text.partition(": ")[2] or text)
            return Item(section, text, BINDS if bound else max(TASK - place, SAID))
        case "terms":
            return Item(section, text, MOST_WORTH * 0.6 * 0.9**place, key=key_of(text))
        case "errors":
            return Item(section, text, weight(text), key=text.partition(", turn ")[0])
        case "files":
            return Item(section, text, CHANGED if changed_before(text) else LOOKED_AT, key=text.rpartition(": ")[0])
        case "pending":
            return Item(section, text, ACTIVE if text.startswith("[~]") else PENDING, key=_plan_key(text))
        case "progress":
            key = _plan_key(text) if text.startswith("[x]") else text.partition(", turn ")[0]
            return Item(section, text, DONE if text.startswith("[x]") else worked(text), key=key)
        case "user":
            return Item(section, text, SAID)
        case _:
            return Item(section, text, 2.0)


def _plan_key(text: str) -> str:
    return f"plan {text[4:].rpartition(' (')[0] or text[4:]}"


def _header(request: Request) -> str:
    """The line on top: turns and, from the second on, the generation."""
    turns = [named_turn(fragment) for fragment in request.span] or [request.turn]
    first, last, generation = min(turns), max(turns), 1
    before = _HEADER.match(request.earlier or "")
    if before:
        first, last = min(first, int(before[1])), max(last, int(before[2]))
        generation = int(before[3] or 1) + 1
    elif request.earlier:
        generation = 2
    told = f", generation {generation}" if generation > 1 else ""
    return f"[Extractive summary, turns {first} to {last}{told}]"
