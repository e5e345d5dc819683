"""Events of one thread → its turns."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.exchanges import compact
from ctxbudget.providers.anthropic.messages import Messages
from ctxbudget.providers.anthropic.usage import read_usage
from ctxbudget.trace import Kind, Outcome

if TYPE_CHECKING:
    from ctxbudget.builder import TraceBuilder
    from ctxbudget.trace import Usage

Fields = dict[str, Any]

ANSWERS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
    "user.tool_result": "tool_use_id",
}
"""Types of results, and the field that names the call."""

QUIET = ("session.", "span.outcome_evaluation_", "user.interrupt", "user.tool_confirmation")
"""Beginnings of types of which nothing is sent to the model."""


class Request(NamedTuple):
    """A call of the model: what it was billed, and whether it failed."""

    usage: Usage | None
    failed: bool
    key: str | None
    line: int


class Thread:
    """Says the events of one thread to a builder."""

    def __init__(self, build: TraceBuilder, events: list[tuple[Fields, int]]) -> None:
        """``events`` are in the order in which they happened, each with its line."""
        self.skipped: Counter[str] = Counter()
        self.names: dict[str, str] = {}
        """Sub-agents by their thread."""
        self._build = build
        self._events = events
        self._messages = Messages(build)
        self._replying = False
        self._request: Request | None = None
        starts = {event.get("id") for event, _ in events if _kind(event) == "span.model_request_start" and _id(event)}
        ends = [
            (at, event, line) for at, (event, line) in enumerate(events) if _kind(event) == "span.model_request_end"
        ]
        named = {_start_of(event): _ended(event, line) for _, event, line in ends}
        self._ends = {start: end for start, end in named.items() if start in starts}
        self._loose = deque((at, _ended(event, line)) for at, event, line in ends if _start_of(event) not in starts)
        self._answered = {
            event.get(ANSWERS[_kind(event)]) for event, _ in events if _kind(event) in ANSWERS and _call(event)
        }

    def tell(self) -> None:
        """Everything, in order."""
        for at, (event, line) in enumerate(self._events):
            self._event(event, at, line)
        self._close()
        self.skipped += self._messages.skipped

    def _event(self, event: Fields, at: int, line: int) -> None:
        match event:
            case {"type": "span.model_request_start"}:
                self._close()
                end = self._ends.get(_id(event))
                self._request = end if end is not None else Request(None, False, None, line)
            case {"type": "span.model_request_end"}:
                if self._loose and self._loose[0][0] == at:
                    self._settle(self._loose.popleft()[1])
            case {"type": "agent.message", "content": content}:
                self._reply(at, line)
                for block, part in enumerate(content if isinstance(content, list) else []):
                    if isinstance(part, dict) and isinstance(part.get("text"), str):
                        self._build.add(None, part["text"], block=block, line=line)
            case {"type": "agent.thinking"}:
                self._reply(at, line)
            case {"type": "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use", "name": str(name)}:
                self._reply(at, line)
                server = event.get("mcp_server_name")
                tool = f"mcp__{server}__{name}" if isinstance(server, str) else name
                self._build.call(tool, event.get("input"), id=_id(event), line=line)
            case {"type": "agent.thread_message_sent"}:
                self._reply(at, line)
                sent = {"to": event.get("to_agent_name"), "content": _texts(event.get("content"))}
                self._build.add(Kind.CALL, f"send_message {compact(sent)}", line=line)
            case {"type": "agent.thread_context_compacted"}:
                self._compacted(event, line)
            case _:
                self._input(event, line)

    def _input(self, event: Fields, line: int) -> None:
        """What goes to the model, and what only tells of the session."""
        content = event.get("content")
        match event:
            case {"type": "user.message"}:
                self._say("user", content, line)
            case {"type": "system.message"}:
                self._close()
                self._build.message("system", line)
                for text in _texts(content):
                    self._build.add(Kind.INJECTED, text)
            case {"type": "agent.thread_message_received"}:
                self._close()
                self._build.message("user", line)
                for text in _texts(content):
                    self._build.add(Kind.INJECTED, text)
            case {"type": "user.define_outcome", "description": str(text)}:
                self._say("user", [{"type": "text", "text": text}], line)
            case {"type": str(kind)} if kind in ANSWERS:
                self._result(event.get(ANSWERS[kind]), content, line, failed=event.get("is_error") is True)
            case {"type": "user.tool_confirmation", "result": "deny", "tool_use_id": str(call)}:
                if call not in self._answered:
                    self._result(call, str(event.get("deny_message") or ""), line, failed=True)
            case {"type": str(kind)} if kind.startswith(QUIET):
                self._note(event, line)
            case _:
                self.skipped[_kind(event)[:40]] += 1

    def _say(self, role: str, content: Any, line: int) -> None:
        self._close()
        self._messages.message({"role": role, "content": content}, line)

    def _result(self, call: Any, content: Any, line: int, *, failed: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed}
        self._say("user", [block], line)

    # ── calls of the model ─────────────────────────────────────────────────────────────────────────────────────

    def _reply(self, at: int, line: int) -> None:
        """The first part of a reply: the call that it came from was made before it."""
        if self._replying:
            return
        request = self._request
        if request is None and self._loose and self._loose[0][0] > at:
            request = self._loose.popleft()[1]
        self._request, self._replying = None, True
        self._turn(request or Request(None, False, None, line), line)
        self._build.message("assistant", line)

    def _turn(self, request: Request, line: int) -> None:
        self._build.turn(model=self._build.model, usage=request.usage, line=line, key=request.key)

    def _close(self) -> None:
        """The reply has ended. A request of which no part is in the file was made all the same."""
        if self._request is not None:
            self._settle(self._request)
        self._request, self._replying = None, False

    def _settle(self, request: Request) -> None:
        if request.failed and request.usage is not None:
            key = request.key or f"{self._build.path}:{request.line}"
            self._build.bill(key, self._build.model, request.usage, purpose="abandoned")
        elif request.usage is not None:
            self._turn(request, request.line)

    def _compacted(self, event: Fields, line: int) -> None:
        self._close()
        before = event.get("pre_compaction_tokens")
        with self._build.compaction(line, trigger="auto", pre_tokens=before if type(before) is int else None):
            pass
        self._build.warn(
            "compaction-unseen", "the context was compacted here; what replaced it is not in the file", line
        )

    def _note(self, event: Fields, line: int) -> None:
        """What tells of the session, and how it ended: a verdict on the outcome says more than that it went idle."""
        match event:
            case {"type": "session.thread_created", "session_thread_id": str(thread), "agent_name": str(name)}:
                self.names[thread] = name
            case {"type": "span.outcome_evaluation_end", "result": str(verdict)}:
                success = {"satisfied": True, "failed": False, "max_iterations_reached": False}.get(verdict)
                self._build.outcome = Outcome(success, None, f"outcome evaluation: {verdict[:60]}")
                if (usage := read_usage(event.get("usage"))) is not None:
                    self._build.bill(_id(event) or f"{self._build.path}:{line}", self._build.model, usage)
            case {"type": "session.status_idle", "stop_reason": {"type": str(reason)}} if reason != "requires_action":
                if self._build.outcome is None or not self._build.outcome.source.startswith("outcome"):
                    success = None if reason == "end_turn" else False
                    self._build.outcome = Outcome(success, None, f"stop_reason: {reason[:60]}")


def _kind(event: Fields) -> str:
    return str(event.get("type"))


def _id(event: Fields) -> str | None:
    name = event.get("id")
    return name if isinstance(name, str) and name else None


def _start_of(event: Fields) -> str | None:
    name = event.get("model_request_start_id")
    return name if isinstance(name, str) else None


def _call(event: Fields) -> bool:
    return isinstance(event.get(ANSWERS[_kind(event)]), str)


def _ended(event: Fields, line: int) -> Request:
    return Request(
        read_usage(event.get("model_usage", event.get("usage"))), event.get("is_error") is True, _id(event), line
    )


def _texts(content: Any) -> list[str]:
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
