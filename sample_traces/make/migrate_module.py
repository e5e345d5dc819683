"""Story 1: an agent moves the billing of a shop from floats to whole cents (Claude Code session)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from claude_code import ClaudeCode, Session
from claude_tools import ClaudeTools
from project import workspace
from script import Outcome, load, play

if TYPE_CHECKING:
    from collections.abc import Callable

HOME = "/work/shop"
AGENT = "a3f81c7"
MAIN = Session(
    name="migrate_module",
    cwd=HOME,
    model="claude-opus-4-5-20251101",
    start="2026-03-02T09:14:07",
    overhead=17_900,
    cached=14_212,
)
EXPLORER = Session(
    name="migrate_module/agent",
    cwd=HOME,
    model="claude-haiku-4-5-20251001",
    start="2026-03-02T09:15:30",
    overhead=9_640,
    cached=0,
    agent=AGENT,
)


@dataclass(slots=True)
class Explorer:
    """The sub-agent: a session of its own, of which only the last words come back to the caller."""

    tools: dict[str, Callable[..., Outcome]]
    book: ClaudeCode = field(default_factory=lambda: ClaudeCode(EXPLORER))

    def task(self, prompt: str, description: str, subagent_type: str) -> Outcome:
        """Let the sub-agent work, and give its report with the bill of its last call."""
        turns = load("migrate_module.agent")
        if turns[0].user != (prompt,):
            raise ValueError(f"the script of {subagent_type} answers another question than {description!r}")
        play(turns, self.tools, self.book)
        report, calls = turns[-1].say, sum(len(turn.calls) for turn in turns)
        total = self.book.meter.prompt
        spent = self.book.waited()
        note = f"agentId: {AGENT}\n<usage>total_tokens: {total}\ntool_uses: {calls}\nduration_ms: {spent}</usage>"
        display = {"status": "completed", "prompt": prompt, "agentId": AGENT}
        display |= {"content": [{"type": "text", "text": report}], "totalDurationMs": spent, "totalTokens": total}
        return Outcome(f"{report}\n\n{note}", display | {"totalToolUseCount": calls, "usage": self.book.usage})


def build() -> dict[str, bytes]:
    """Play the story in a fresh copy of the shop; the files by name."""
    with workspace("shop", HOME) as place:
        place.python("tools/record_golden.py")
        place.before["fixtures/golden.csv"] = place.read("fixtures/golden.csv")
        tools = ClaudeTools(place).table()
        explorer = Explorer(tools)
        book = ClaudeCode(MAIN)
        play(load("migrate_module"), tools | {"Task": explorer.task}, book)
        book.finish()
    return {
        "migrate_module.jsonl": book.bytes(),
        f"migrate_module/subagents/agent-{AGENT}.jsonl": explorer.book.bytes(),
    }
