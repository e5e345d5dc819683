"""An ATIF-v1.7 trajectory: a step per message, results in the step of their call, usage per model call.

The format is Harbor's Agent Trajectory Interchange Format (harbor 0.26.0, ``models/trajectories``). Its fields hold
no compaction, so what took the place of removed messages is a step of its own with
``extra.context_management = {"type": "compaction"}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.exports import json_of
from ctxbudget.targets import Converted, unheld
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.trace import Compaction, Fragment, Trace, Usage

VERSION = "ATIF-v1.7"
UNKNOWN = "unknown"
"""The format wants a version of the agent, which traces do not hold."""


def write(trace: Trace) -> Converted:
    """The trajectory, sub-agents embedded."""
    notes = [*unheld(trace, usage=True, children=True), *_lost(trace)]
    return Converted(json_of(_trajectory(trace), indent=True), tuple(notes))


def _trajectory(trace: Trace) -> dict[str, Any]:
    source, tools = trace.source, list(_tools(trace))
    agent = {"name": source.agent or source.format, "version": UNKNOWN, "model_name": trace.model}
    made = {
        "schema_version": VERSION,
        "session_id": source.session or source.label,
        "agent": _known({**agent, "tool_definitions": tools or None}),
        "steps": _Steps(trace).steps() or [{"step_id": 1, "source": "system", "message": ""}],
        "final_metrics": _totals(trace),
        "subagent_trajectories": [
            {**_trajectory(child), "trajectory_id": child.source.label or f"child-{number}"}
            for number, child in enumerate(trace.children, 1)
        ]
        or None,
        "extra": _extra(trace),
    }
    return _known(made)


class _Steps:
    """Writes the steps of one trace, in the order of its log."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._usage = {turn.index: (turn.usage, turn.model) for turn in trace.turns if not turn.pending}
        self._cuts: dict[int, list[Compaction]] = {}
        for cut in (cut for cut in trace.recorded if cut.trigger != "elision"):
            self._cuts.setdefault(cut.turn, []).append(cut)
        self._made: list[dict[str, Any]] = []
        self._message: int | None = None
        self._calls: dict[tuple[str, str], dict[str, Any]] = {}

    def steps(self) -> list[dict[str, Any]]:
        """Every step, numbered."""
        trace = self._trace
        for turn in trace.turns:
            self._enter(trace.entering(turn), turn.index - 1)
            for cut in self._cuts.get(turn.index, ()):
                self._compact(cut)
        self._enter(trace.reply if trace.turns else trace.fragments, len(trace.turns))
        return [{"step_id": number, **_known(step)} for number, step in enumerate(self._made, 1)]

    def _enter(self, fragments: Sequence[Fragment], replied: int) -> None:
        """What entered behind a call; a reply whose content was not recorded is a step with its usage alone."""
        usage, _ = self._usage.get(replied, (None, None))
        if usage is not None and not any(one.role == "assistant" for one in fragments):
            self._made.append({"source": "agent", "message": "", "metrics": _metrics(usage)})
            self._message = None
        for fragment in fragments:
            self._add(fragment)

    def _add(self, one: Fragment) -> None:
        if one.kind is Kind.TOOL_DEFINITIONS or (one.estimated and not one.text and not one.asks):
            return
        if one.answers:
            self._answer(one)
        elif one.asks:
            self._ask(one)
        elif one.kind is Kind.THINKING:
            self._tell(one, "reasoning_content")
        else:
            self._tell(one, "message")

    def _step(self, one: Fragment) -> dict[str, Any]:
        """The step of the fragment's message, begun if it is another one."""
        if self._message != one.message or not self._made:
            self._message = one.message
            self._made.append(self._begun(one))
        return self._made[-1]

    def _begun(self, one: Fragment) -> dict[str, Any]:
        if one.role != "assistant":
            return {"source": "system" if one.role == "system" else "user", "message": ""}
        usage, model = self._usage.pop(one.turn - 1, (None, None))
        made = {"source": "agent", "message": "", "metrics": None if usage is None else _metrics(usage)}
        return {**made, "model_name": model if model != self._trace.model else None}

    def _tell(self, one: Fragment, key: str) -> None:
        step = self._step(one)
        before = step.get(key)
        step[key] = f"{before}\n\n{one.text}" if before else one.text

    def _ask(self, one: Fragment) -> None:
        step = self._step(one)
        call = {"tool_call_id": one.call, "function_name": one.tool or "tool", "arguments": _arguments(one)}
        step["tool_calls"] = [*(step.get("tool_calls") or ()), call]
        self._calls[one.unit, str(one.call)] = step

    def _answer(self, one: Fragment) -> None:
        """A result goes to the step of its call; one without a call stands alone."""
        step = self._calls.get((one.unit, str(one.call)))
        result = {"source_call_id": one.call, "content": one.text, "extra": {"is_error": True} if one.error else None}
        if step is None:
            self._message = None
            step = {"source": "system", "message": ""}
            self._made.append(step)
            result["source_call_id"] = None
        results = step.setdefault("observation", {"results": []})["results"]
        if results and results[-1].get("source_call_id") == one.call:
            results[-1]["content"] += f"\n{one.text}"
        else:
            results.append(_known(result))

    def _compact(self, cut: Compaction) -> None:
        text = "\n\n".join(new.text for new in cut.edit.inserted if new.text)
        facts = {"type": "compaction", "trigger": cut.trigger, "tokens_before": cut.pre_tokens}
        extra = {"context_management": _known({**facts, "tokens_after": cut.post_tokens})}
        self._made.append({"source": "system", "message": text, "extra": extra})
        self._message = None


def _arguments(call: Fragment) -> dict[str, Any]:
    text = call.text.removeprefix(f"{call.tool} ")
    try:
        found = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        found = None
    return found if isinstance(found, dict) else {"input": text} if text else {}


def _metrics(usage: Usage) -> dict[str, Any]:
    extra = {"cache_creation_input_tokens": usage.cache_write or None, "reasoning_tokens": usage.reasoning}
    made = {
        "prompt_tokens": usage.prompt if usage.split else None,
        "completion_tokens": usage.output if usage.split and usage.final else None,
        "cached_tokens": usage.cache_read if usage.split else None,
        "extra": _known(extra) or None,
    }
    return _known(made)


def _totals(trace: Trace) -> dict[str, Any] | None:
    """Sums over the model calls of the steps; None where none is reported."""
    found = [turn.usage for turn in trace.turns if turn.usage is not None and turn.usage.split]
    if not found:
        return None
    return {
        "total_prompt_tokens": sum(usage.prompt for usage in found),
        "total_completion_tokens": sum(usage.output for usage in found if usage.final),
        "total_cached_tokens": sum(usage.cache_read for usage in found),
    }


def _extra(trace: Trace) -> dict[str, Any] | None:
    outcome = trace.outcome
    told = None if outcome is None else {"success": outcome.success, "score": outcome.score, "source": outcome.source}
    return _known({"context_window": trace.window, "outcome": told}) or None


def _tools(trace: Trace) -> Iterator[dict[str, Any]]:
    for one in trace.fragments:
        if one.kind is Kind.TOOL_DEFINITIONS:
            try:
                found = orjson.loads(one.text)
            except (orjson.JSONDecodeError, UnicodeEncodeError):
                continue
            yield from (tool for tool in (found if isinstance(found, list) else [found]) if isinstance(tool, dict))


def _lost(trace: Trace) -> Iterator[str]:
    """What of the fragments has no place in the format."""
    media = sum(one.kind is Kind.MEDIA for one in trace.fragments)
    if media:
        yield f"{media:,} images or files: the format holds paths, not data"
    unseen = sum(one.tokens for one in trace.fragments if one.estimated and not one.text and one.kind is not Kind.MEDIA)
    if unseen:
        yield f"{unseen:,} tokens that are billed and not in the file: left out"
    if any(turn.usage is not None and not turn.usage.final for turn in trace.turns):
        yield "output counts that are only placeholders of streaming: left out"


def _known(made: dict[str, Any]) -> dict[str, Any]:
    """Without what is None."""
    return {key: value for key, value in made.items() if value is not None}
