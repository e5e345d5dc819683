"""A trace → native lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import resources
from ctxbudget.exchanges import compact, parsed
from ctxbudget.loaders.native.fields import VERSION, role_of
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Billed, Compaction, Fragment, Resource, Trace, Turn, Usage


def dump(trace: Trace) -> Iterator[dict[str, Any]]:
    """The lines of a trace, as objects; read again they give the same fragments, turns and edits.

    What calibration put in is left out, it is made again from the usage; so are warnings and how the parsing went.
    """
    yield {"ctxbudget": VERSION, **_facts(trace)}
    yield from _Writer(trace).lines()


def _facts(trace: Trace) -> dict[str, Any]:
    source, outcome = trace.source, trace.outcome
    facts: dict[str, Any] = {
        "agent": source.agent,
        "model": trace.model,
        "window": trace.window,
        "session": source.session,
    }
    if outcome is not None:
        facts["outcome"] = {"success": outcome.success, "score": outcome.score, "source": outcome.source}
    facts["abandoned"] = trace.abandoned or None
    facts["carries_reasoning"] = None if trace.carries_reasoning else False
    return {name: value for name, value in facts.items() if value is not None}


class _Writer:
    """Writes one trace; parts that edits name get their id as ``ref``."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        inserted = [fragment for compaction in trace.recorded for fragment in compaction.edit.inserted]
        self._known = {fragment.id: fragment for fragment in (*trace.fragments, *inserted)}
        self._named = {name for compaction in trace.recorded for name in compaction.edit.removed}
        self._asked: dict[str, Resource | None] = {}
        self._message: int | None = None
        self._speaking: str | None = None

    def lines(self) -> Iterator[dict[str, Any]]:
        """Everything after the header."""
        trace = self._trace
        cuts: dict[int, list[Compaction]] = {}
        for compaction in trace.recorded:
            cuts.setdefault(compaction.turn, []).append(compaction)
        own = self._own_calls()
        for turn in trace.turns:
            yield from self._parts(trace.entering(turn))
            for compaction in cuts.get(turn.index, ()):
                yield self._compaction(compaction)
            if not turn.pending:
                yield self._turn(turn, own.get(turn.index))
        yield from self._parts(trace.reply if trace.turns else trace.fragments)
        for call in trace.billed:
            if own.get(call.turn or 0) is not call:
                yield _without_none(
                    billed=_usage(call.usage), key=call.key, model=call.model, purpose=call.purpose, turn=call.turn
                )
        for number, child in enumerate(trace.children, 1):
            name = child.source.label or f"child-{number}"
            yield {"child": name, **_facts(child)}
            yield from _Writer(child).lines()
            yield {"end": name}

    def _own_calls(self) -> dict[int, Billed]:
        """For each turn the billed call that its own line tells; other calls get lines of their own."""
        turns = {turn.index: turn for turn in self._trace.turns}
        own: dict[int, Billed] = {}
        for call in self._trace.billed:
            turn = turns.get(call.turn or 0)
            if turn is not None and (call.usage, call.model, call.purpose) == (turn.usage, turn.model, "turn"):
                own.setdefault(turn.index, call)
        return own

    def _turn(self, turn: Turn, call: Billed | None) -> dict[str, Any]:
        self._speaking = None
        made_up = f"{self._trace.source.path}:{turn.line}:{turn.index}"
        key = call.key if call is not None and call.key != made_up else None
        usage = None if turn.usage is None else _usage(turn.usage)
        return _without_none(turn=turn.index, model=turn.model, usage=usage, key=key)

    def _parts(self, fragments: tuple[Fragment, ...]) -> Iterator[dict[str, Any]]:
        for fragment in fragments:
            if _recorded(fragment.id):
                yield self._part(fragment)

    def _part(self, fragment: Fragment, stands_for: Fragment | None = None) -> dict[str, Any]:
        call = fragment.kind in {Kind.CALL, Kind.PLAN} and fragment.call is not None
        part: dict[str, Any] = {"kind": fragment.kind.value}
        if stands_for is not None:
            part |= {"in_place_of": stands_for.id, "text": fragment.text}
        else:
            part |= self._place(fragment)
            part |= self._call(fragment) if call else self._text(fragment)
        if fragment.error:
            part["error"] = True
        if fragment.estimated and not fragment.text:
            part["tokens"] = fragment.tokens
        if fragment.pinned:
            part["_pin"] = True
        if fragment.id in self._named:
            part["ref"] = fragment.id
        return part

    def _place(self, fragment: Fragment) -> dict[str, Any]:
        """Role and message, where they are not what a reader takes them for."""
        place: dict[str, Any] = {}
        if fragment.role != role_of(fragment.kind, fragment.call):
            place["role"] = fragment.role
        joined = fragment.message == self._message
        if joined != (fragment.role == "assistant" and self._speaking == "assistant"):
            place["joined"] = joined
        self._message, self._speaking = fragment.message, fragment.role
        return place

    def _call(self, fragment: Fragment) -> dict[str, Any]:
        tool, shown = fragment.tool or "?", fragment.text.removeprefix(f"{fragment.tool} ")
        args = parsed(shown)
        if not isinstance(args, dict) or f"{tool} {compact(args)}" != fragment.text:
            args = None
        part = {"id": fragment.call, "tool": tool, **({"text": fragment.text} if args is None else {"args": args})}
        if fragment.resource is not None and fragment.resource != resources.resource(tool, args or {}):
            part["resource"] = _resource(fragment.resource)
        self._asked[fragment.call or ""] = fragment.resource
        return part

    def _text(self, fragment: Fragment) -> dict[str, Any]:
        part: dict[str, Any] = {}
        if fragment.call is not None or fragment.kind in {Kind.RESULT, Kind.RETRIEVAL, Kind.CALL}:
            part["id"] = fragment.call
        if fragment.call not in self._asked and fragment.tool is not None:
            part["tool"] = fragment.tool
        if fragment.text or not fragment.estimated:
            part["text"] = fragment.text
        if fragment.resource is not None and fragment.resource != self._asked.get(fragment.call or ""):
            part["resource"] = _resource(fragment.resource)
        return part

    def _compaction(self, compaction: Compaction) -> dict[str, Any]:
        edit = compaction.edit
        removed = [self._known[name] for name in edit.removed if _recorded(name) and name in self._known]
        places = {(fragment.message, fragment.origin.block): fragment for fragment in reversed(removed)}
        self._speaking, inserted = None, []
        for fragment in edit.inserted:
            if _recorded(fragment.id):
                old = places.get((fragment.message, fragment.origin.block))
                inserted.append(self._part(fragment, old))
        self._speaking = None
        inner = _without_none(
            trigger=compaction.trigger,
            pre_tokens=compaction.pre_tokens,
            post_tokens=compaction.post_tokens,
            by=None if edit.by == "recorded" else edit.by,
        )
        if edit.form is not Form.SUMMARY:
            inner["form"] = None if edit.form is None else edit.form.value
        return {"compaction": {**inner, "removed": [fragment.id for fragment in removed], "inserted": inserted}}


def _recorded(name: str) -> bool:
    """Whether the file held it: ids of what calibration puts in do not end with a number."""
    return name.rpartition(".")[2].isdigit()


def _resource(resource: Resource) -> dict[str, Any]:
    span = None if resource.span is None else list(resource.span)
    return _without_none(**{"class": resource.cls, "target": resource.target, "span": span})


def _usage(usage: Usage) -> dict[str, Any]:
    counts = {name: getattr(usage, name) for name in ("input", "cache_read", "cache_write", "output")}
    shown: dict[str, Any] = {name: count for name, count in counts.items() if count}
    if usage.reasoning is not None:
        shown["reasoning"] = usage.reasoning
    if usage.total != sum(counts.values()):
        shown["total"] = usage.total
    return shown | {name: False for name in ("final", "split") if not getattr(usage, name)}


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
