"""What a replay costs: every preset on synthetic sessions of 4,000 and 8,000 turns, at a window of 200,000 tokens.

    python tests/bench/replay_cost.py [--profile PRESET]

The cost must grow with the turns and no faster: 8,000 turns take at most 2.3 times what 4,000 take. A turn of the
synthetic session has five fragments on average (reasoning, thinking, one to three calls with their results, now and
then a plan, a user text, a reminder), about 1,200 tokens; results are skewed like those of real coding sessions.
"""

import cProfile
import pstats
import random
import sys
import time

from ctxbudget.replay import replay
from ctxbudget.strategy.naming import STRATEGIES
from ctxbudget.trace import Fragment, Kind, Origin, Resource, Source, Trace, Turn

WINDOW = 200_000
MOST = 2.3
TOOLS = (("Read", "read"), ("Bash", "shell"), ("Grep", "search"), ("Edit", "edit"), ("Write", "write"))
TEXT = "\n".join(
    f"line {number}: value_{number * 7919 % 104729} = compute(alpha, beta, {number})" for number in range(4_000)
)


def count(text: str) -> int:
    """A cheap counter: what is measured is the engine."""
    return (len(text) + 3) // 4


class Session:
    """Writes a synthetic session, turn by turn."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fragments: list[Fragment] = []
        self.message = 0

    def add(self, kind: Kind, size: int, turn: int, role: str, **more) -> Fragment:
        text = TEXT[: size * 4] if size * 4 < len(TEXT) else TEXT
        number = f"t{turn}.{len(self.fragments)}"
        unit = more.pop("unit", None) or number
        fragment = Fragment(
            number, kind, text, size, size, turn, unit, self.message, role, Origin("s", len(self.fragments)), **more
        )
        self.fragments.append(fragment)
        return fragment

    def reply(self, turn: int) -> None:
        self.message += 1
        if self.random.random() < 0.3:
            self.add(Kind.THINKING, self.random.randint(20, 300), turn, "assistant")
        if self.random.random() < 0.6:
            self.add(Kind.REASONING, self.random.randint(10, 120), turn, "assistant")
        unit, calls = f"u{turn}", []
        for number in range(self.random.choice((1, 1, 1, 2, 3))):
            plan = self.random.random() < 0.05
            tool, cls = ("Todo", "plan") if plan else self.random.choice(TOOLS)
            target = Resource(cls, f"src/file{self.random.randint(1, 400)}.py")
            kind, size = (Kind.PLAN, 200) if plan else (Kind.CALL, self.random.randint(20, 200))
            given = {"unit": unit, "call": f"{turn}.{number}", "tool": tool, "resource": target}
            calls.append(self.add(kind, size, turn, "assistant", **given))
        for call in calls:
            self.message += 1
            size = 5 if self.random.random() < 0.15 else int(self.random.lognormvariate(5.6, 1.3)) + 5
            kind = Kind.RETRIEVAL if self.random.random() < 0.05 else Kind.RESULT
            given = {"unit": unit, "call": call.call, "tool": call.tool, "resource": call.resource}
            self.add(kind, min(size, 30_000), turn, "tool", error=self.random.random() < 0.05, **given)
            if self.random.random() < 0.1:
                self.add(Kind.INJECTED, 60, turn, "tool")

    def user(self, turn: int) -> None:
        self.message += 1
        self.add(Kind.USER, self.random.randint(10, 80), turn, "user")


def session(turns: int) -> Trace:
    """A synthetic session; the shorter is the beginning of the longer."""
    made = Session(7)
    made.add(Kind.SYSTEM_PROMPT, 3_000, 1, "system")
    made.add(Kind.TOOL_DEFINITIONS, 12_000, 1, "system")
    made.user(1)
    rows = [Turn(1, 0, len(made.fragments))]
    for turn in range(2, turns + 1):
        start = len(made.fragments)
        made.reply(turn)
        if turn % 40 == 0:
            made.user(turn)
        rows.append(Turn(turn, start, len(made.fragments)))
    return Trace(Source("synthetic", "synthetic"), tuple(made.fragments), tuple(rows))


def seconds(trace: Trace, preset: str) -> float:
    """Processor time of the best of three replays: other work on the machine must not count."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        replay(trace, preset, window=WINDOW, count=count)
        best = min(best, time.process_time() - start)
    return best


def main() -> int:
    short, long = session(4_000), session(8_000)
    total = sum(fragment.tokens for fragment in long.fragments)
    print(f"{len(long.turns):,} turns, {len(long.fragments):,} fragments, {total:,} tokens, window {WINDOW:,}")
    if len(sys.argv) > 2:
        with cProfile.Profile() as profile:
            replay(long, sys.argv[2], window=WINDOW, count=count)
        pstats.Stats(profile).sort_stats(sys.argv[3] if len(sys.argv) > 3 else "tottime").print_stats(45)
        return 0
    worst = 0.0
    for preset in STRATEGIES.names():
        half, whole = seconds(short, preset), seconds(long, preset)
        worst = max(worst, whole / half)
        print(f"{preset:22} 4,000 turns {half:6.2f} s   8,000 turns {whole:6.2f} s   ratio {whole / half:4.2f}")
    print(f"worst ratio {worst:.2f}, allowed {MOST}")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
