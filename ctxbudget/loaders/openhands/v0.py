"""Events of version 0: actions of user and agent, observations, and condensations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.openhands.log import Log, Meter, pictures, text, tool_texts
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage

SILENT = frozenset({
    "agent_state_changed", "change_agent_state", "condensation_request", "loop_recovery", "null", "pause", "recall",
    "resume", "stop", "start", "status", "server_ready", "loop_detection",
})  # fmt: skip
"""Actions and observations of which nothing is sent to the model (0.2x to 0.6x)."""

OWN_ARGUMENTS = frozenset({
    "blocking", "confirmation_state", "cwd", "hidden", "is_static", "security_risk", "thought", "impl_source",
    "return_all",
})  # fmt: skip
"""Arguments of an action that the client adds to those of the model."""

EXTRAS = (
    ("repo_instructions", Kind.MEMORY_FILE),
    ("additional_agent_instructions", Kind.INJECTED),
    ("conversation_instructions", Kind.INJECTED),
)


def is_event(value: Any) -> bool:
    """Whether a record is an event of version 0."""
    return (
        isinstance(value, dict)
        and value.get("source") in ("agent", "user", "environment")
        and "id" in value
        and (isinstance(value.get("action"), str) or isinstance(value.get("observation"), str))
    )


class Talk:
    """Says the events of one conversation to a builder."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts events of which nothing was sent, by kind."""
        self.skipped = skipped
        self.billed: set[str] = set()
        self._build = build
        self._log = Log(build)
        self._meter = Meter()
        self._asked: dict[str, str] = {}
        self._response: str | None = None
        self._batch = ""

    def hear(self, event: Any, line: int) -> None:
        """The next event."""
        if not isinstance(event, dict):
            self.skipped["not an object"] += 1
            return
        args = mapping(event.get("args"))
        number = str(event.get("id"))
        match event:
            case {"action": "system"}:
                self._log.keep(number, self._system(args, line))
            case {"action": "message", "source": "user"}:
                self._log.keep(number, self._user(args, line, Kind.USER))
            case {"action": "condensation"}:
                ids = [str(one) for one in items(args.get("forgotten_event_ids"))]
                ids += self._log.between(args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id"))
                self._log.condense(ids, args.get("summary"), line)
            case {"observation": "recall"}:
                self._log.keep(number, self._recalled(event, line))
            case {"action": str(name)} | {"observation": str(name)} if name in SILENT:
                self.skipped[name] += 1
            case {"action": str(name), "source": "agent"}:
                self._act(event, name, args, number, line)
            case {"action": str(name)}:
                self._build.message("user", line)
                shown = text(args.get("command")) or text(args.get("code")) or name
                self._log.keep(number, [self._build.add(Kind.INJECTED, shown)])
            case {"observation": str()}:
                self._observe(event, number, line)
            case _:
                self.skipped["no event"] += 1

    def end(self) -> None:
        """Nothing is left to be said."""

    # ── what the model is sent ─────────────────────────────────────────────────────────────────────────────────

    def _system(self, args: dict[str, Any], line: int) -> Iterator[Piece]:
        self._build.message("system", line)
        yield self._build.add(Kind.SYSTEM_PROMPT, text(args.get("content")))
        for block, tool in enumerate(tool_texts(args.get("tools")), 1):
            yield self._build.add(Kind.TOOL_DEFINITIONS, tool, block=block)

    def _user(self, args: dict[str, Any], line: int, kind: Kind) -> Iterator[Piece]:
        self._build.message("user", line)
        yield self._build.add(kind, text(args.get("content")))
        yield from pictures(self._build, args.get("image_urls"))

    def _recalled(self, event: dict[str, Any], line: int) -> Iterator[Piece]:
        """What a recall brought into the prompt: instructions of the repository, knowledge of microagents."""
        extras = mapping(event.get("extras"))
        brought = [mapping(one) for one in items(extras.get("microagent_knowledge"))]
        named = [(kind, text(extras.get(name))) for name, kind in EXTRAS]
        named += [(Kind.INJECTED, text(one.get("content"))) for one in brought]
        found = [(kind, told) for kind, told in named if told]
        if found:
            self._build.message("user", line)
        else:
            self.skipped["recall"] += 1
        for block, (kind, told) in enumerate(found):
            yield self._build.add(kind, told, block=block)

    def _observe(self, event: dict[str, Any], number: str, line: int) -> None:
        call = self._asked.get(str(event.get("cause")))
        call = call or string(mapping(event.get("tool_call_metadata")).get("tool_call_id"))
        urls = mapping(event.get("extras")).get("image_urls")
        self._build.message("user" if call is None else "tool", line)
        if call is None:  # an error before any action, or what the user's own command gave
            kind = Kind.INJECTED if event["observation"] == "error" else Kind.RESULT
            self._log.keep(number, [self._build.add(kind, text(event.get("content")))])
            return
        failed = event["observation"] == "error" or event.get("success") is False
        pieces = [self._build.result(text(event.get("content")), call=call, error=failed)]
        pieces += pictures(self._build, urls, call)
        self._log.keep(number, pieces, self._log.batch_of(str(event.get("cause"))))

    # ── what the model wrote ───────────────────────────────────────────────────────────────────────────────────

    def _act(self, event: dict[str, Any], name: str, args: dict[str, Any], number: str, line: int) -> None:
        meta = mapping(event.get("tool_call_metadata"))
        response = mapping(meta.get("model_response"))
        pieces: list[Piece] = []
        key = string(response.get("id"))
        if key is None or key != self._response:
            self._begin(event, response, key, line)
            pieces += self._words(response, args, name)
        if name not in ("message", "finish"):
            pieces.append(self._call(meta, response, name, args, number))
        self._log.keep(number, pieces, self._batch)

    def _begin(self, event: dict[str, Any], response: dict[str, Any], key: str | None, line: int) -> None:
        """A reply begins: the call that gave it, and what it cost."""
        total = mapping(mapping(event.get("llm_metrics")).get("accumulated_token_usage"))
        grown = self._meter.count(total)
        usage: Usage | None = read_usage(response.get("usage")) or grown
        model = string(response.get("model"))
        if model is None and total.get("model") != "default":
            model = string(total.get("model"))
        self._build.model = self._build.model or model
        self._response = key
        self._batch = key or f"turn {self._build.turns + 1}"
        self.billed.add(self._batch)
        self._build.turn(model=model or self._build.model, usage=usage, line=line, key=key)
        self._build.message("assistant", line)

    def _words(self, response: dict[str, Any], args: dict[str, Any], name: str) -> Iterator[Piece]:
        """The texts of a reply: as the model wrote them, else as the action quotes them."""
        message: dict[str, Any] = {}
        match response.get("choices"):
            case [{"message": dict(given)}, *_]:
                message = given
        if reasoning := text(message.get("reasoning_content")):
            yield self._build.add(Kind.THINKING, reasoning)
        thought = text(message.get("content")) or text(args.get("thought"))
        told = text(args.get("content" if name == "message" else "final_thought"))
        for block, said in enumerate(dict.fromkeys((thought, told if name in ("message", "finish") else ""))):
            if said:
                yield self._build.add(None, said, block=block)

    def _call(
        self, meta: dict[str, Any], response: dict[str, Any], name: str, args: dict[str, Any], number: str
    ) -> Piece:
        named = string(meta.get("tool_call_id"))
        tool, given = string(meta.get("function_name")) or name, _arguments(response, named)
        if given is None:
            given = {key: value for key, value in args.items() if key not in OWN_ARGUMENTS and value is not None}
        known = named if named and not self._build.knows(named) else f"{named or 'event'}@{number}"
        self._asked[number] = known
        return self._build.call(tool, given, id=known)


def _arguments(response: dict[str, Any], named: str | None) -> Any:
    """The arguments as the model wrote them."""
    match response.get("choices"):
        case [{"message": {"tool_calls": list(calls)}}, *_]:
            for call in calls:
                match call:
                    case {"id": str(own), "function": {"arguments": given}} if own == named:
                        return given
    return None
