"""Steps of a trajectory → messages, calls of the model, compactions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage

Step = dict[str, Any]


class Steps:
    """Says the steps of a run to a builder."""

    def __init__(self, build: TraceBuilder, *, keeps_task: bool) -> None:
        """``keeps_task``: the agent's compactions leave the first user message where it is."""
        self.skipped: Counter[str] = Counter()
        self.counted: list[bool] = []
        """Whether each call has usage."""
        self.references: list[tuple[str, str]] = []
        """Files or embedded trajectories of helpers, and what to call them."""
        self.summarising: list[str] = []
        self._build = build
        self._keeps_task = keeps_task
        self._live: list[tuple[str, list[Piece]]] = []
        self._cut: Step | None = None
        self._line = 0
        self._session = ""

    def say(self, run: dict[str, Any], *, again: bool) -> None:
        """The steps of a file; ``again``: it continues the one before, and begins with what was copied from it."""
        steps = [one for one in items(run.get("steps")) if isinstance(one, dict)]
        self._session = string(run.get("session_id")) or self._session
        copied = 0
        if again:
            while copied < len(steps) and steps[copied].get("is_copied_context") is True:
                copied += 1
            self._carry_over(steps[:copied])
        for step in steps[copied:]:
            self._line += 1
            self._step(step)
        if self._cut is not None:
            self._compact([], self._cut)

    def _step(self, step: Step) -> None:
        source = step.get("source")
        managed = mapping(mapping(step.get("extra")).get("context_management"))
        self._refer(step, summarising=bool(managed))
        if managed.get("type") == "compaction":
            self._boundary(step, managed)
        elif source == "agent":
            self._settle()
            self._reply(step)
        elif self._cut is not None and source == "user":
            cut, self._cut = self._cut, None
            self._compact([step], cut)
        else:
            self._sent(step)

    # ── compactions ────────────────────────────────────────────────────────────────────────────────────────────

    def _boundary(self, step: Step, managed: dict[str, Any]) -> None:
        """The context is replaced here: by the text of this step, or by the next user step."""
        self._settle()
        if managed.get("boundary") == "replace":
            self._cut = managed
        else:
            self._compact([step] if _plain(step.get("message")) else [], managed)

    def _settle(self) -> None:
        """A compaction that nothing took the place of."""
        if self._cut is not None:
            cut, self._cut = self._cut, None
            self._compact([], cut)

    def _compact(self, steps: list[Step], managed: dict[str, Any]) -> None:
        first = next((at for at, (source, _) in enumerate(self._live) if source == "user"), None)
        keep = first if self._keeps_task else None
        stays = [pair for at, pair in enumerate(self._live) if pair[0] == "system" or at == keep]
        gone = [piece for pair in self._live if pair not in stays for piece in pair[1]]
        before, after = (tokens(managed.get(f"tokens_{name}")) or None for name in ("before", "after"))
        trigger = string(managed.get("trigger")) or "auto"
        with self._build.compaction(self._line, trigger=trigger, pre_tokens=before, post_tokens=after, removed=gone):
            put = []
            for step in steps:
                self._build.message("user", self._line)
                put.append(("user", list(self._parts(step.get("message"), Kind.SUMMARY))))
        self._live = [*stays, *put]

    def _carry_over(self, steps: list[Step]) -> None:
        """A file that continues another begins with what its context was then: whatever differs went or came."""
        known = 0
        for (_, pieces), step in zip(self._live, steps, strict=False):
            if [piece.text for piece in pieces if piece.text][:1] != [_plain(step.get("message"))]:
                break
            known += 1
        gone = [piece for source, pieces in self._live[known:] if source != "system" for piece in pieces]
        if not gone:
            return
        with self._build.compaction(self._line, trigger="auto", removed=gone):
            put = []
            for step in steps[known:]:
                source = "assistant" if step.get("source") == "agent" else "user"
                self._build.message(source, self._line)
                kind = Kind.SUMMARY if source == "user" else Kind.ANSWER
                put.append((str(step.get("source")), list(self._parts(step.get("message"), kind))))
        self._live = [*self._live[:known], *put]

    # ── messages ───────────────────────────────────────────────────────────────────────────────────────────────

    def _sent(self, step: Step) -> None:
        begun = any(source != "system" for source, _ in self._live)
        system = step.get("source") == "system" and not begun
        kind = Kind.SYSTEM_PROMPT if system else Kind.INJECTED if step.get("source") == "system" else Kind.USER
        self._build.message("system" if system else "user", self._line)
        pieces = list(self._parts(step.get("message"), kind))
        for result in items(mapping(step.get("observation")).get("results")):
            pieces += self._parts(mapping(result).get("content"), Kind.RESULT)
        self._live.append(("system" if system else "user", pieces))

    def _reply(self, step: Step) -> None:
        calls = step.get("llm_call_count")
        copied = step.get("is_copied_context") is True
        if not copied and calls != 0:
            self._call(step, tokens(calls))
        self._build.message("assistant", self._line)
        pieces: list[Piece] = []
        if reasoning := string(step.get("reasoning_content")):
            pieces.append(self._build.add(Kind.THINKING, reasoning))
        pieces += self._parts(step.get("message"), Kind.ANSWER if copied else None)
        asked = []
        for block, one in enumerate(items(step.get("tool_calls")), 1):
            made = mapping(one)
            name = string(made.get("function_name")) or "?"
            known = string(made.get("tool_call_id"))
            pieces.append(self._build.call(name, made.get("arguments"), id=known, block=block))
            asked.append(str(pieces[-1].call))
        pieces += self._results(step, asked)
        self._live.append(("agent", pieces))

    def _call(self, step: Step, calls: int) -> None:
        """A call of the model; a step of several has the sum of their counts, which is no size of a context."""
        usage = _usage(step.get("metrics"))
        self.counted.append(usage is not None)
        model = string(step.get("model_name")) or self._build.model
        self._build.model = self._build.model or model
        key = f"atif:{self._session}:{step.get('step_id')}:{step.get('timestamp')}" if self._session else None
        if calls <= 1:
            self._build.turn(model=model, usage=usage, line=self._line, key=key)
            return
        self._build.turn(model=model, line=self._line)
        if usage is not None:
            self._build.bill(key or f"{self._build.path}:{self._line}", model, usage, turn=self._build.turns)
        self.skipped["step of several model calls, its counts are their sum"] += 1

    def _results(self, step: Step, asked: list[str]) -> Iterator[Piece]:
        """What the step's calls gave, in the same step."""
        results = [one for one in items(mapping(step.get("observation")).get("results")) if isinstance(one, dict)]
        if not results:
            return
        self._build.message("tool" if asked else "user", self._line)
        answered: set[str] = set()
        for block, one in enumerate(results):
            named = string(one.get("source_call_id"))
            call = named if named is not None else asked[block] if block < len(asked) else None
            if call is None:
                yield from self._parts(one.get("content"), Kind.RESULT)
                continue
            answered.add(call)
            error = mapping(one.get("extra")).get("is_error") is True
            content = one.get("content")
            yield self._build.result(_plain(content), call=call, error=error, block=block)
            yield from self._media(content, call)
        if all(one.get("source_call_id") is None for one in results):
            # one screen answers all the calls of its step
            for call in asked:
                if call not in answered:
                    yield self._build.add(Kind.RESULT, "", call=call)

    def _parts(self, content: Any, kind: Kind | None) -> Iterator[Piece]:
        if said := _plain(content):
            yield self._build.add(kind, said)
        yield from self._media(content, None)

    def _media(self, content: Any, call: str | None) -> Iterator[Piece]:
        for block, part in enumerate(items(content)):
            match part:
                case str() | {"type": "text"}:
                    continue
                case {"type": "image" | "audio"}:
                    yield self._build.add(Kind.MEDIA, "", block=block, call=call)
                case _:
                    self.skipped["part of a message, not read"] += 1

    def _refer(self, step: Step, *, summarising: bool) -> None:
        for reference, label in references(step):
            self.references.append((reference, label))
            self.summarising += [reference] * summarising


def references(step: Step) -> Iterator[tuple[str, str]]:
    """The trajectories of helpers that a step names, and what to call them."""
    for result in items(mapping(step.get("observation")).get("results")):
        for one in items(mapping(result).get("subagent_trajectory_ref")):
            reference = string(mapping(one).get("trajectory_id")) or string(mapping(one).get("trajectory_path"))
            label = string(mapping(one).get("session_id")) or reference
            if reference is not None and label is not None:
                yield reference, label


def _plain(content: Any) -> str:
    """The text of a message: a string, or its text parts."""
    if isinstance(content, str):
        return content
    texts = (part if isinstance(part, str) else mapping(part).get("text") for part in items(content))
    return "\n".join(text for text in texts if isinstance(text, str))


def _usage(metrics: Any) -> Usage | None:
    """Prompts include what was read from the cache and, as agents' adapters count, what was written to it."""
    given = mapping(metrics)
    extra = mapping(given.get("extra"))
    reasoning = tokens(extra.get("reasoning_tokens")) or tokens(extra.get("reasoning_output_tokens"))
    details = {
        "cached_tokens": given.get("cached_tokens"),
        "cache_creation_tokens": extra.get("cache_creation_input_tokens"),
    }
    return read_usage(
        {
            "prompt_tokens": given.get("prompt_tokens"),
            "completion_tokens": given.get("completion_tokens"),
            "prompt_tokens_details": details,
            "completion_tokens_details": {"reasoning_tokens": reasoning or None},
        }
    )
