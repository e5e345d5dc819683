"""What the screen of a task showed → its conversation, where the history is not there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import parsed
from ctxbudget.loaders.cline.calls import is_exclusive, model_of, read_usage
from ctxbudget.loaders.cline.parts import Parts
from ctxbudget.records.values import mapping, string
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from ctxbudget.builder import TraceBuilder

CALLS = {
    "tool": "tool",
    "command": "execute_command",
    "completion_result": "attempt_completion",
    "browser_action": "browser_action",
    "browser_action_launch": "browser_action",
    "use_mcp_server": "use_mcp_tool",
    "followup": "ask_followup_question",
    "plan_mode_respond": "plan_mode_respond",
    "new_task": "new_task",
}
"""Messages that show a call; what a ``tool`` message is called stands in it."""
ARGUMENTS = {"command": "command", "completion_result": "result", "followup": "question"}
"""What the text of such a message is, where it is not JSON."""


class Screen:
    """Says what was shown to a builder: the text of each request, then the reply to it."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build
        self._parts = Parts(build, self.skipped)
        self._spent: Counter[str] = Counter()
        self._task: tuple[str, int] | None = None

    def say(self, shown: list[Any]) -> None:
        """All messages in their order; one that was still being written is not the last word."""
        exclusive = is_exclusive(shown)
        whole: list[tuple[int, dict[str, Any]]] = []
        for line, message in enumerate(shown, 1):
            if not isinstance(message, dict):
                self.skipped["message that is no object, skipped"] += 1
            elif message.get("partial") is not True:
                if whole and _is_retried(whole[-1][1], message):
                    self._write_off(*whole.pop(), exclusive)
                whole.append((line, message))
        for line, message in whole:
            self._message(message, line, exclusive)
        self._build.model = max(self._spent, key=lambda name: (self._spent[name], name), default=None)

    def _message(self, message: dict[str, Any], line: int, exclusive: bool) -> None:
        kind, text = string(message.get("say")) or string(message.get("ask")) or "", string(message.get("text")) or ""
        if kind == "api_req_started":
            self._request(mapping(parsed(text)), message, line, exclusive)
        elif kind == "task" or (line == 1 and kind == "text"):
            self._task = text, line
        elif kind == "completion_result" and text:
            self._call(kind, text, line)
        elif kind == "text" and self._build.turns and text:
            self._build.message("assistant", line)
            self._build.add(None, text)
        elif kind == "reasoning" and text:
            self._build.message("assistant", line)
            self._build.add(Kind.THINKING, text)
        elif kind in CALLS and self._build.turns:
            self._call(kind, text, line)

    def _request(self, facts: dict[str, Any], message: dict[str, Any], line: int, exclusive: bool) -> None:
        request = string(facts.get("request"))
        if request is not None:
            self._parts.user(request, line)
        elif self._task is not None:
            self._build.message("user", self._task[1])
            self._build.add(Kind.USER, self._task[0])
        self._task = None
        usage, model = read_usage(facts, exclusive=exclusive), model_of(message)
        if model is not None:
            self._spent[model] += usage.prompt + 1 if usage else 1
        name = message.get("ts") if type(message.get("ts")) is int else line
        self._build.turn(model=model, usage=usage, line=line, key=f"cline:{name}:{line}")

    def _write_off(self, line: int, message: dict[str, Any], exclusive: bool) -> None:
        usage = read_usage(parsed(string(message.get("text")) or ""), exclusive=exclusive)
        if usage is not None:
            self._build.bill(f"cline:{line}", model_of(message), usage, purpose="abandoned")

    def _call(self, kind: str, text: str, line: int) -> None:
        facts = parsed(text)
        self._build.message("assistant", line)
        if isinstance(facts, dict):
            tool = string(facts.get("tool")) or CALLS[kind]
            given = {key: value for key, value in facts.items() if key not in {"tool", "content"} or kind != "tool"}
            self._parts.call(tool, given)
        else:
            self._parts.call(CALLS[kind], {ARGUMENTS.get(kind, "text"): text})


def _is_retried(before: dict[str, Any], message: dict[str, Any]) -> bool:
    """A request that was sent again, since nothing came back."""
    asked = [parsed(string(one.get("text")) or "") for one in (before, message) if one.get("say") == "api_req_started"]
    return len(asked) == 2 and mapping(asked[0]).get("request") == mapping(asked[1]).get("request")
