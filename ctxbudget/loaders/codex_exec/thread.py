"""Events of a thread → its turns."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import plain
from ctxbudget.loaders.codex_exec.items import FAILED, TOOLS, asked, kind_of, pictures, said, uses_tool
from ctxbudget.providers.openai.counters import Counts, read_counts
from ctxbudget.trace import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.records import Record
    from ctxbudget.trace import Usage

Fields = dict[str, Any]

SILENT = frozenset({"turn.started", "item.plan.delta", "request_user_input", "error"})
"""Events of which nothing is sent to the model."""
PLANNED = "Plan updated"
"""What Codex answers to a call of ``update_plan``; the events do not repeat it."""


class Thread:
    """Says the events of one thread to a builder."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build
        self._replying = self._charged = False
        self._open: dict[str, str] = {}
        self._total = Counts()
        self._usage: Usage | None = None
        self._called = self._turns = self._line = 0

    def tell(self, found: Iterable[Record]) -> None:
        """The events in order, those of a turn of the user together: its usage stands at its end."""
        turn: list[Record] = []
        for record in found:
            turn.append(record)
            if record.data.get("type") in ("turn.completed", "turn.failed"):
                self._turn(turn)
                turn = []
        if turn:
            self._turn(turn)

    def _turn(self, events: list[Record]) -> None:
        """The usage is a call's own where no tool was used: then there was only one."""
        spent = self._spent(events[-1].data)
        self._usage = None if any(uses_tool(record.data) for record in events) else spent
        self._replying = self._charged = False
        self._open = {}
        self._turns += 1
        for record in events:
            self._line = record.line
            self._event(record.data)
        if spent is not None and not self._charged:
            self._build.bill(self._key, None, spent)
            text = f"the file holds no usage of single calls, only the sum of a turn: {spent.total:,} tokens"
            self._build.warn("usage-sums", text, self._line)

    @property
    def _key(self) -> str:
        return f"codex-exec:{self._build.session or self._build.path}:{self._turns}"

    def _spent(self, data: Fields) -> Usage | None:
        """What a turn added to the running total, if anything; a total that fell began again."""
        total = read_counts(data.get("usage")) if data.get("type") == "turn.completed" else None
        if total is None or total.empty:
            return None
        grown = total.minus(self._total)
        self._total = total
        spent = total if grown is None else grown
        return None if spent.empty else spent.usage()

    def _event(self, data: Fields) -> None:
        match data:
            case {"type": "item.started" | "item.updated" | "item.completed" as event, "item": dict(item)}:
                self._item(item, ended=event == "item.completed")
            case {"type": "turn.completed" | "turn.failed" as ended}:
                self._build.outcome = Outcome(None if ended == "turn.completed" else False, None, ended)
            case {"type": "thread.started"}:
                pass
            case _ if (kind := str(data.get("type"))[:40]) not in SILENT:
                self.skipped[kind] += 1

    # ── items ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _item(self, item: Fields, *, ended: bool) -> None:
        kind = kind_of(item)
        match kind:
            case "agent_message" | "assistant_message" | "plan":
                if ended and isinstance(text := item.get("text"), str):
                    self._reply()
                    self._build.add(None, text, line=self._line)
            case "reasoning":
                if ended:
                    self._reply()  # its headings are for the display; it only tells that a reply began
            case "web_search":
                if ended:
                    self._reply()
                    self._build.add(Kind.CALL, f"web_search {plain(item.get('query'))}", line=self._line)
            case "todo_list":
                if not ended:  # at the end of the turn it is only shown once more
                    self._answer(PLANNED, self._call("update_plan", {"plan": item.get("items")}))
            case _ if kind in TOOLS:
                self._tool(kind, item, ended=ended)
            case "error":
                pass
            case _:
                self.skipped[f"item/{kind}"] += 1

    def _tool(self, kind: str, item: Fields, *, ended: bool) -> None:
        name = str(item.get("id"))
        if name not in self._open:
            self._open[name] = self._call(*asked(kind, item))
        if ended:
            call = self._open.pop(name)
            bad = item.get("status") in FAILED or item.get("exit_code", 0) not in (0, None)
            self._answer(said(kind, item), call, error=bad)
            for size in pictures(item):
                self._build.add(Kind.MEDIA, "", size=size, call=call)

    def _reply(self) -> None:
        if not self._replying:
            self._build.turn(usage=self._usage, line=self._line, key=self._key)
            self._build.message("assistant", self._line)
            self._charged, self._usage = self._charged or self._usage is not None, None
        self._replying = True

    def _call(self, tool: str, arguments: Any) -> str:
        """Ids begin anew with each run of a thread: a call is named by its number."""
        self._reply()
        self._called += 1
        name = f"call-{self._called}"
        self._build.call(tool, arguments, id=name, line=self._line)
        return name

    def _answer(self, text: str, call: str, *, error: bool = False) -> None:
        self._replying = False
        self._build.message("tool", self._line)
        self._build.result(text, call=call, error=error)
