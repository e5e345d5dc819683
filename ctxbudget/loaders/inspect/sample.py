"""One sample → one trace: its model calls in order, what they cost, and how it was scored."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import Conversation, Exchange, Log, compact
from ctxbudget.loaders.inspect.chat import Provider, read_usage
from ctxbudget.loaders.inspect.scores import outcome
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

SCORING = frozenset({"scorer", "scorers"})
"""Types of spans in which answers are graded: what is asked there is not the agent's."""


class Sample:
    """The conversations of one sample."""

    def __init__(self, build: TraceBuilder, start: Start, data: dict[str, Any], settings: dict[str, Any]) -> None:
        """``build`` takes the main conversation, ``start`` begins others; ``settings`` are the evaluation's."""
        self._build = build
        self._start = start
        self._data = data
        old = mapping(data.get("transcript"))  # up to 0.3.44
        self._events = [one for one in items(data.get("events", old.get("events"))) if isinstance(one, dict)]
        pooled = mapping(data.get("events_data")).get("messages")
        self._pool = items(data.get("message_pool") or pooled)
        self._provider = Provider(mapping(data.get("attachments") or old.get("content")))
        self._log = Log(self._begin, self._provider)
        self._spans: dict[str, dict[str, Any]] = {}
        self._latest: dict[str, Conversation] = {}
        self._compacted: dict[str, dict[str, Any]] = {}
        self._results: dict[str, dict[str, Any]] = {}
        self._graded: set[int] = set()
        self._names: dict[int, str] = {}
        self._said = 0
        self._skipped: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._model = string(settings.get("model"))

    def finish(self, reading: Reading) -> Trace:
        """The trace, other conversations as its children."""
        calls = [(line, one) for line, one in enumerate(self._events, 1) if one.get("event") == "model"]
        if any(self._input(one) for _, one in calls):
            for line, event in enumerate(self._events, 1):
                self._take(event, line)
        else:
            self._tell(calls)
        main = self._main()
        for one in self._log.conversations:
            if one is not main:
                one.build.label = self._label(one)
                main.build.child(one.finish(reading, Counter()))
        self._facts(main.build)
        return main.finish(reading, self._skipped)

    def _begin(self, label: str | None = None, path: str | None = None) -> TraceBuilder:
        build = self._start(label=label, path=path)
        build.agent = "inspect"
        return build

    # ── events ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _take(self, event: dict[str, Any], line: int) -> None:
        span = str(event.get("span_id"))
        match event.get("event"):
            case "span_begin":
                self._spans[str(event.get("id"))] = event
            case "compaction":
                self._compacted[span] = event
            case "tool":
                self._results[str(event.get("id"))] = event
            case "model":
                self._call(event, span, line)

    def _call(self, event: dict[str, Any], span: str, line: int) -> None:
        exchange, marks = self._exchange(event, line)
        if not exchange.called:
            self._skipped["model call without an answer, skipped"] += 1
            return
        cut, before = self._compacted.pop(span, None), self._latest.get(span)
        if cut is not None and before is not None:
            pre, post = (tokens(cut.get(f"tokens_{name}")) or None for name in ("before", "after"))
            self._log.follow(before, exchange, line, (pre, post), self._unseen(before.held))
        else:
            before = self._log.take(exchange, line, marks=marks)
        if before is None:
            return
        self._latest[span] = before
        if id(before) not in self._names:
            named, graded = self._place(span)
            self._names[id(before)] = named
            if graded:
                self._graded.add(id(before))

    def _unseen(self, reply: Any) -> Iterator[dict[str, Any]]:
        """The results of a reply's calls, from the events of the tools: a compaction may have come before any prompt
        showed them."""
        for call in items(mapping(reply).get("tool_calls")):
            if (event := self._results.get(str(call.get("id")))) is not None:
                result = event.get("result")
                content = result if isinstance(result, str | list) else compact(result)
                names = {"tool_call_id": event.get("id"), "function": event.get("function")}
                yield self._provider.message({"role": "tool", "content": content, "error": event.get("error"), **names})

    def _exchange(self, event: dict[str, Any], line: int) -> tuple[Exchange, list[bytes]]:
        """The call, and the marks of its messages."""
        output = mapping(event.get("output"))
        usage, key = read_usage(output.get("usage")), self._key(event, line)
        cached = event.get("cache") == "read"
        if not cached:
            self._sums[str(event.get("model"))] += tokens(mapping(output.get("usage")).get("total_tokens"))
        choices = [one for one in items(output.get("choices")) if isinstance(one, dict)]
        reply = choices[0].get("message") if choices else None
        tools = [self._provider.whole(tool) for tool in items(event.get("tools"))]
        messages, marks = self._provider.messages(self._input(event), str(event.get("span_id")))
        exchange = Exchange(
            messages,
            [(Kind.TOOL_DEFINITIONS, compact(tool)) for tool in tools],
            called=isinstance(reply, dict) or usage is not None,
            reply=self._provider.message(reply) if isinstance(reply, dict) else None,
            model=string(event.get("model")),
            usage=None if cached else usage,
            key=key,
        )
        return exchange, marks

    def _key(self, event: dict[str, Any], line: int) -> str:
        response = mapping(mapping(event.get("call")).get("response"))
        own = string(event.get("uuid")) or f"{self._data.get('uuid') or self._data.get('id')}:{line}"
        return string(response.get("id")) or f"inspect:{own}"

    def _input(self, event: dict[str, Any]) -> list[Any]:
        """The messages of a call; in newer logs they are ranges of the sample's pool."""
        if given := items(event.get("input")):
            return given
        found: list[Any] = []
        for one in items(event.get("input_refs")):
            match one:
                case [int(first), int(stop)] if 0 <= first <= stop:
                    found += self._pool[first:stop]
        return found

    # ── without events ─────────────────────────────────────────────────────────────────────────────────────────

    def _tell(self, calls: list[tuple[int, dict[str, Any]]]) -> None:
        """The final messages; the calls' costs belong to the replies, where there is one for each."""
        costs = [(self._exchange(event, line)[0], line) for line, event in calls]
        messages = [self._provider.message(one) for one in items(self._data.get("messages"))]
        replies = [one for one in messages if one["role"] == "assistant"]
        if len(replies) == len(costs):
            for reply, (exchange, _) in zip(replies, costs, strict=True):
                reply["billed"] = exchange.model, exchange.usage, exchange.key
        elif costs:
            self._skipped["model call whose reply is not told, billed apart"] += len(costs)
        conversation = self._log.begin(1)
        for line, one in enumerate(messages, 1):
            conversation.say(one, line)
        for exchange, _ in costs if len(replies) != len(costs) else []:
            if exchange.usage is not None and exchange.key is not None:
                conversation.build.bill(exchange.key, exchange.model, exchange.usage, purpose="abandoned")

    # ── the sample ─────────────────────────────────────────────────────────────────────────────────────────────

    def _main(self) -> Conversation:
        """The agent's conversation: not a grader's; the longest one with tools, the first of equals."""
        if not self._log.conversations:
            self._log.begin(1)
        asked = [one for one in self._log.conversations if id(one) not in self._graded]
        main = max(asked or self._log.conversations, key=lambda one: (one.has_tools, len(one.marks)))
        main.build.label = self._build.label
        return main

    def _label(self, conversation: Conversation) -> str:
        self._said += 1
        return f"{self._names.get(id(conversation)) or 'calls'} {self._said}"

    def _place(self, span: str) -> tuple[str, bool]:
        """The name of the innermost span, and whether it is one in which answers are graded."""
        own = self._spans.get(span, {})
        name, graded = string(own.get("name")) or "calls", False
        for one in self._upwards(span):
            graded = graded or not SCORING.isdisjoint({str(one.get("type")), str(one.get("name"))})
        return name, graded

    def _upwards(self, span: str) -> Iterator[dict[str, Any]]:
        seen: set[str] = set()
        while span in self._spans and span not in seen:
            seen.add(span)
            yield self._spans[span]
            span = str(self._spans[span].get("parent_id"))

    def _facts(self, build: TraceBuilder) -> None:
        """Names, the outcome, and whether the levels of usage agree."""
        build.model = build.model or self._model
        build.session = string(self._data.get("uuid"))
        build.outcome = outcome(self._data)
        if error := mapping(self._data.get("error")):
            build.warn("sample-error", f"the sample failed: {string(error.get('message')) or 'no message'}"[:200])
        if limit := mapping(self._data.get("limit")):
            build.warn("sample-limit", f"the sample was stopped by its {limit.get('type')} limit"[:200])
        told = mapping(self._data.get("model_usage"))
        whole = sum(tokens(mapping(one).get("total_tokens")) for one in told.values())
        if told and self._sums and whole != (found := sum(self._sums.values())):
            text = f"the calls add up to {found:,} tokens, the sample says {whole:,}; the calls are used"
            build.warn("usage-levels", text)
