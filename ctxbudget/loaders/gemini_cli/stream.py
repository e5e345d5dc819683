"""Events of ``--output-format stream-json`` → the turns of each run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import injected
from ctxbudget.exchanges import plain
from ctxbudget.loaders.gemini_cli.usage import read_sums
from ctxbudget.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Record

Fields = dict[str, Any]


def is_event(data: Fields, *, surely: bool = False) -> bool:
    """Whether a record is an event of this output; ``surely``: of no other agent's."""
    match data:
        case {"type": "init", "session_id": str(), "model": _}:
            return True
        case {"type": "tool_use", "tool_id": str(), "tool_name": _} | {"type": "tool_result", "tool_id": str()}:
            return True
        case {"type": "result", "status": str(), "stats": dict()}:
            return True
        case {"type": "message", "role": "user" | "assistant", "content": str()} | {"type": "error", "message": str()}:
            return not surely
    return False


def runs(found: Iterable[Record], start: Start) -> Iterator[tuple[TraceBuilder, dict[str, int]]]:
    """Each session in the output, in order; one that is taken up again goes on."""
    sessions: dict[str, Run] = {}
    before: list[Record] = []
    run: Run | None = None
    for record in found:
        data = record.data if isinstance(record.data, dict) else {}
        if data.get("type") == "init" and isinstance(name := data.get("session_id"), str):
            run = sessions.setdefault(name, Run())
        if run is None:
            before.append(record)  # a program that runs it may log the prompt first
        else:
            run.records.append(record)
    if not sessions:
        sessions[""] = Run()
    next(iter(sessions.values())).records[:0] = before
    for number, (name, each) in enumerate(sessions.items(), 1):
        build = start(label=str(number) if len(sessions) > 1 else None)
        build.agent, build.session = "gemini-cli", name or None
        each.tell(build)
        yield build, dict(each.skipped)


class Run:
    """One session's events."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.skipped: Counter[str] = Counter()
        self._replying = False
        self._text: list[str] = []
        self._asked: set[str] = set()
        self._sums = 0

    def tell(self, build: TraceBuilder) -> None:
        """Say them to a builder."""
        for record in self.records:
            if isinstance(record.data, dict):
                self._event(build, record.data, record.line)
        self._end_text(build)

    def _event(self, build: TraceBuilder, data: Fields, line: int) -> None:
        match data:
            case {"type": "message", "role": "assistant", "content": str(text)}:
                self._reply(build, line)
                self._text.append(text)
                if data.get("delta") is not True:
                    self._end_text(build)
            case {"type": "message", "role": "user", "content": str(text)}:
                self._close(build)
                if text in self._asked and not build.turns:
                    return  # logged before the run, and told by it again
                self._asked.add(text)
                build.message("user", line)
                for kind, piece in injected.split(text):
                    build.add(kind, piece)
            case {"type": "tool_use", "tool_id": str(call), "tool_name": str(tool)}:
                self._reply(build, line)
                self._end_text(build)
                build.call(tool, data.get("parameters"), id=call, line=line)
            case {"type": "tool_result", "tool_id": str(call)}:
                self._close(build)
                build.message("tool", line)
                build.result(_output(data), call=call, error=data.get("status") == "error")
            case {"type": "init", "model": str(model)}:
                self._close(build)
                build.model = model
            case {"type": "result"}:
                self._close(build)
                self._result(build, data, line)
            case {"type": "init" | "error"}:
                pass
            case _:
                self.skipped[f"event of type {str(data.get('type'))[:40]!r}"] += 1

    def _reply(self, build: TraceBuilder, line: int) -> None:
        if not self._replying:
            build.turn(model=build.model, line=line)
            build.message("assistant", line)
        self._replying = True

    def _end_text(self, build: TraceBuilder) -> None:
        """The pieces of a text, together."""
        if self._text:
            build.add(None, "".join(self._text))
        self._text = []

    def _close(self, build: TraceBuilder) -> None:
        self._end_text(build)
        self._replying = False

    def _result(self, build: TraceBuilder, data: Fields, line: int) -> None:
        status = str(data.get("status"))[:60]
        build.outcome = Outcome(False if status == "error" else None, None, f"result.status: {status}")
        stats = data.get("stats")
        usage = read_sums(stats) if isinstance(stats, dict) else None
        if usage is not None:
            self._sums += 1
            build.bill(f"gemini:{build.session or build.path}:sums:{self._sums}", build.model, usage)
            text = f"the file holds no usage of single calls, only the sum of the run: {usage.total:,} tokens"
            build.warn("usage-sums", text, line)


def _output(data: Fields) -> str:
    match data:
        case {"output": str(text)} | {"error": {"message": str(text)}}:
            return text
    return plain(data.get("output") or data.get("error") or "")
