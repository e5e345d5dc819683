"""Events of the version 1 SDK, each of a ``kind`` of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import plain
from ctxbudget.loaders.openhands.log import Log, Meter, pictures, text, tool_texts, usage_of
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage

SILENT = frozenset({
    "CondensationRequest", "ConversationErrorEvent", "ConversationStateUpdateEvent", "HookExecutionEvent",
    "InterruptEvent", "LLMCompletionLogEvent", "PauseEvent", "StreamingDeltaEvent", "TokenEvent", "conversation state",
})  # fmt: skip
"""Events of which nothing is sent to the model (SDK 1.0 to 1.2x)."""

TRIGGERS = {"manual": "manual", "context_limit": "auto", "unrecoverable": "auto"}


def is_event(value: Any) -> bool:
    """Whether a record is an event of version 1."""
    match value:
        case {"kind": str(kind), "id": str(), "source": str()}:
            return kind.endswith("Event") or kind in ("Condensation", "CondensationRequest", "UserRejectObservation")
    return False


class Talk:
    """Says the events of one conversation to a builder."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str], state: dict[str, Any]) -> None:
        """``state`` is the conversation's ``base_state.json``, empty where there is none."""
        self.skipped = skipped
        self.billed: set[str] = set()
        self._build = build
        self._log = Log(build)
        self._meters: dict[str, Meter] = {}
        self._known = dict(_usages(state))
        self._due: tuple[Usage, str | None] | None = None
        self._asked: dict[str, str] = {}
        self._response: str | None = None
        self._batches = 0
        self._trigger = "unknown"
        self._build.session = string(state.get("id"))
        self._build.model = string(mapping(mapping(state.get("agent")).get("llm")).get("model"))

    def hear(self, event: Any, line: int) -> None:
        """The next event."""
        if not isinstance(event, dict):
            self.skipped["not an object"] += 1
            return
        own = str(event.get("id"))
        match event:
            case {"kind": "SystemPromptEvent"}:
                self._log.keep(own, self._system(event, line))
            case {"kind": "MessageEvent", "llm_message": dict(message)}:
                self._message(event, message, own, line)
            case {"kind": "ActionEvent"}:
                self._act(event, own, line)
            case {"kind": "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation"}:
                asked = self._asked.get(str(event.get("tool_call_id")), str(event.get("action_id")))
                self._log.keep(own, self._result(event, line), self._log.batch_of(asked))
            case {"kind": "Condensation"}:
                gone = [str(one) for one in items(event.get("forgotten_event_ids"))]
                self._log.condense(gone, event.get("summary"), line, self._trigger)
                self._trigger = "unknown"
            case {"kind": "ConversationStateUpdateEvent", "key": "stats", "value": {"usage_to_metrics": dict(stats)}}:
                self._count(stats, line)
            case {"kind": str(kind)}:
                self._trigger = TRIGGERS.get(str(event.get("reason")), self._trigger)
                self.skipped[kind[:60]] += 1
            case _:
                self.skipped["conversation state" if "agent" in event else "no event"] += 1

    def end(self) -> None:
        """A call that was counted and whose reply is not in the file."""
        self._write_off(0)

    # ── what the model is sent ─────────────────────────────────────────────────────────────────────────────────

    def _system(self, event: dict[str, Any], line: int) -> Iterator[Piece]:
        self._build.message("system", line)
        for block, name in enumerate(("system_prompt", "dynamic_context")):
            for said in _texts(event.get(name)):
                yield self._build.add(Kind.SYSTEM_PROMPT, said, block=block)
        for block, tool in enumerate(tool_texts(event.get("tools")), 2):
            yield self._build.add(Kind.TOOL_DEFINITIONS, tool, block=block)

    def _message(self, event: dict[str, Any], message: dict[str, Any], own: str, line: int) -> None:
        if message.get("role") == "assistant" or event.get("source") == "agent":
            pieces = self._begin(event, message, line)
            content = message.get("content")
            pieces += [self._build.add(None, said, block=block) for block, said in enumerate(_texts(content))]
        else:
            self._build.message("user", line)
            pieces = list(self._sent(message.get("content"), Kind.USER))
        pieces += [self._build.add(Kind.INJECTED, said) for said in _texts(event.get("extended_content"))]
        self._log.keep(own, pieces)

    def _sent(self, content: Any, kind: Kind, call: str | None = None) -> Iterator[Piece]:
        for block, part in enumerate(content if isinstance(content, list) else [content]):
            match part:
                case str(said) | {"type": "text", "text": str(said)}:
                    yield self._build.add(kind, said, block=block, call=call)
                case {"type": "image"}:
                    yield from pictures(self._build, part.get("image_urls"), call)
                case None:
                    continue
                case _:
                    self.skipped["content part"] += 1

    def _result(self, event: dict[str, Any], line: int) -> list[Piece]:
        self._build.message("tool", line)
        call, observation = string(event.get("tool_call_id")), mapping(event.get("observation"))
        failed = event["kind"] != "ObservationEvent" or observation.get("is_error") is True
        content = observation.get("content", observation.get("output"))
        texts = [text(event.get("error")), text(event.get("rejection_reason")), *_texts(content)]
        texts += _texts(event.get("extended_content"))
        if content is None and observation:
            texts.append(plain({key: value for key, value in observation.items() if key != "kind"}))
        said = "\n".join(one for one in texts if one)
        tool = string(event.get("tool_name"))
        pieces = [self._build.result(said, call=call or "?", tool=tool, error=failed)]
        for part in items(content):
            if isinstance(part, dict) and part.get("type") == "image":
                pieces += pictures(self._build, part.get("image_urls"), call)
        return pieces

    # ── what the model wrote ───────────────────────────────────────────────────────────────────────────────────

    def _act(self, event: dict[str, Any], own: str, line: int) -> None:
        pieces = self._begin(event, event, line)
        pieces += [self._build.add(None, said, block=block) for block, said in enumerate(_texts(event.get("thought")))]
        made = mapping(event.get("tool_call"))
        given = made.get("arguments", event.get("action"))
        if isinstance(function := made.get("function"), dict):  # as the first versions kept it
            made, given = function, function.get("arguments")
        tool = string(event.get("tool_name")) or string(made.get("name")) or "?"
        pieces.append(self._build.call(tool, given, id=string(event.get("tool_call_id")), block=len(pieces)))
        self._asked[str(event.get("tool_call_id"))] = own
        self._log.keep(own, pieces, f"batch {self._batches}")

    def _begin(self, event: dict[str, Any], said: dict[str, Any], line: int) -> list[Piece]:
        """Where an event begins a reply: the call that gave it, and its reasoning. ``said`` holds the texts."""
        response = string(event.get("llm_response_id"))
        if response is not None and response == self._response:
            return []
        self._response = response
        self._batches += 1
        usage, model = self._known.get(response or "", (None, None))
        if self._due is not None:
            usage, model, self._due = usage or self._due[0], model or self._due[1], None
        self._build.model = self._build.model or model
        if response is not None:
            self.billed.add(response)
        self._build.turn(model=model or self._build.model, usage=usage, line=line, key=response)
        self._build.message("assistant", line)
        return list(self._thinking(said))

    def _thinking(self, said: dict[str, Any]) -> Iterator[Piece]:
        blocks = said.get("thinking_blocks")
        for block, part in enumerate(items(blocks)):
            match part:
                case {"thinking": str(thought)}:
                    sealed = len(text(part.get("signature")))
                    yield self._build.add(Kind.THINKING, thought, block=block, opaque=sealed)
                case {"data": str(data)}:
                    yield self._build.add(Kind.THINKING, "", block=block, opaque=len(data))
        reasoning = text(said.get("reasoning_content"))
        told = "".join(_texts(said.get("thought") or said.get("content")))
        # some providers say it twice, the second time in the text
        if reasoning and not blocks and reasoning.strip() not in told:
            yield self._build.add(Kind.THINKING, reasoning)

    # ── counts ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _count(self, stats: dict[str, Any], line: int) -> None:
        """The running totals, which come right before the reply they were counted for."""
        for name, metrics in stats.items():
            raw = mapping(mapping(metrics).get("accumulated_token_usage"))
            usage = self._meters.setdefault(name, Meter()).count(raw)
            if usage is None:
                continue
            model, limit = string(raw.get("model")), raw.get("context_window")
            if name != "condenser":
                self._write_off(line)
                self._due = usage, model
                self._build.window = limit if type(limit) is int and limit > 0 else self._build.window
            elif not self._known:
                self._build.bill(f"{self._build.path}:{name}:{line}", model, usage, purpose="compaction")

    def _write_off(self, line: int) -> None:
        if self._due is None or self._known:
            return
        usage, model = self._due
        self._build.bill(f"{self._build.path}:unseen:{line}", model, usage, purpose="abandoned")
        self._due = None


def _usages(state: dict[str, Any]) -> Iterator[tuple[str, tuple[Usage, str | None]]]:
    """The usage of each call by the name of its response, as a conversation's state keeps it."""
    stats = mapping(state.get("stats"))
    for one in mapping(stats.get("usage_to_metrics", stats.get("service_to_metrics"))).values():
        for raw in items(mapping(one).get("token_usages")):
            usage, key = usage_of(raw), string(mapping(raw).get("response_id"))
            if usage is not None and key is not None:
                yield key, (usage, string(raw.get("model")))


def _texts(content: Any) -> list[str]:
    match content:
        case str():
            return [content] if content else []
        case {"text": str(said)}:
            return [said] if said else []
        case list():
            return [said for part in content for said in _texts(part if not isinstance(part, list) else None)]
    return []
