"""Story 5: an agent makes a failing test pass (SWE-agent trajectory)."""

from __future__ import annotations

from project import HERE, workspace
from script import load, play
from swe_agent import SweAgent
from swe_tools import Window

HOME = "/almanac"
CONFIG = {"agent": {"model": {"name": "gpt-4.1", "temperature": 0.0, "top_p": 1.0}, "name": "default"}}


def build() -> dict[str, bytes]:
    """Play the story over a fresh repository; the file by name."""
    system, demonstration = (HERE / "scripts" / "fix_failing_test.md").read_text(encoding="utf-8").split("\n----\n")
    with workspace("almanac", HOME) as place:
        book = SweAgent("almanac", CONFIG)
        book.say("system", "system_prompt", system.strip())
        book.say("user", "demonstration", demonstration.strip())
        play(load("fix_failing_test"), {"do": Window(place).do}, book)
        return {"fix_failing_test.traj": book.bytes(place.diff())}
