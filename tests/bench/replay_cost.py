"""What a replay costs: every preset on synthetic sessions of 4,000 and 8,000 turns, at a window of 200,000 tokens.

    python tests/bench/replay_cost.py                       the cost grows with the turns: at most 2.3 times for twice
    python tests/bench/replay_cost.py --session FILE        no preset takes more time than loading FILE took
    python tests/bench/replay_cost.py --write FILE          write the 8,000 turns as a Claude Code session (51 MB)
    python tests/bench/replay_cost.py --profile PRESET      where the time goes

A turn of the synthetic session has four fragments on average (reasoning, thinking, one to three calls with their
results, now and then a plan, a user text, a reminder), about 1,100 tokens; results are skewed like those of real
coding sessions. Every line of their text holds four identifiers and numbers, far more than real text does: for what
reads those (summaries, priorities, digests of searches) it is the worst case, slower than loading by itself.
"""

import cProfile
import json
import pstats
import random
import sys
import time
from pathlib import Path

from ctxbudget.loaders import load
from ctxbudget.replay import replay
from ctxbudget.strategy.naming import STRATEGIES
from ctxbudget.summaries.entities import forget
from ctxbudget.tokens import counter
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


def seconds(trace: Trace, preset: str, count=count) -> float:
    """Processor time of the best of three replays, none of which profits from the one before: other work on the
    machine must not count.
    """
    best = float("inf")
    for _ in range(3):
        forget()
        start = time.process_time()
        run = replay(trace, preset, window=WINDOW, count=count)
        best = min(best, time.process_time() - start)
        del run  # as little as the trace was thrown away while it was loaded
    return best


def records(trace: Trace):
    """The session as Claude Code writes it: a line per block of a reply, and per result."""
    before = None
    for number, one in enumerate(trace.fragments):
        if one.role == "system":
            continue
        line = {"parentUuid": before, "isSidechain": False, "sessionId": "synthetic", "version": "2.1.120"}
        line |= {"type": "assistant" if one.role == "assistant" else "user", "uuid": f"f{number}", "cwd": "/srv"}
        before = line["uuid"]
        if one.role != "assistant":
            result = {"type": "tool_result", "tool_use_id": one.call, "content": one.text}
            line["message"] = {"role": "user", "content": [result] if one.call else one.text}
        else:
            usage = {"input_tokens": 5, "cache_read_input_tokens": 90_000, "cache_creation_input_tokens": 900}
            block = {"type": "text", "text": one.text}
            if one.asks:
                given = {"file_path": one.resource.target, "content": one.text}
                block = {"type": "tool_use", "id": one.call, "name": one.tool, "input": given}
            elif one.kind is Kind.THINKING:
                block = {"type": "thinking", "thinking": one.text, "signature": "c2ln"}
            made = {"id": f"msg_{one.turn}", "model": "claude-sonnet-4-5", "usage": usage | {"output_tokens": 1}}
            line["message"] = made | {"type": "message", "role": "assistant", "content": [block]}
            line["requestId"] = f"req_{one.turn}"
        yield json.dumps(line)


def growth() -> int:
    """Twice the turns take at most ``MOST`` times the time."""
    short, long = session(4_000), session(8_000)
    total = sum(fragment.tokens for fragment in long.fragments)
    print(f"{len(long.turns):,} turns, {len(long.fragments):,} fragments, {total:,} tokens, window {WINDOW:,}")
    worst = 0.0
    for preset in STRATEGIES.names():
        half, whole = seconds(short, preset), seconds(long, preset)
        worst = max(worst, whole / half)
        print(f"{preset:22} 4,000 turns {half:6.2f} s   8,000 turns {whole:6.2f} s   ratio {whole / half:4.2f}")
    print(f"worst ratio {worst:.2f}, allowed {MOST}")
    return int(worst > MOST)


def against_loading(path: str) -> int:
    """No preset takes more time than loading the file took, the first time in this process, as in every command."""
    loading, trace = loaded(path)
    again, _ = loaded(path)
    print(f"{path}: {len(trace.turns):,} turns, {len(trace.fragments):,} fragments")
    print(f"loaded in {loading:.2f} s (again, the tokenizer being in memory by then: {again:.2f} s)")
    worst = 0.0
    for preset in STRATEGIES.names():
        taken = seconds(trace, preset, counter(trace.encoding).count)
        worst = max(worst, taken)
        print(f"{preset:22} {taken:6.2f} s   {taken / loading:5.2f} of loading")
    return int(worst > loading)


def loaded(path: str) -> tuple[float, Trace]:
    """The trace of a file, and the processor time that it took to load."""
    start = time.process_time()
    trace = load(path)[0]
    return time.process_time() - start, trace


def profiled(preset: str) -> int:
    """Where the time goes."""
    trace = session(8_000)
    with cProfile.Profile() as profile:
        replay(trace, preset, window=WINDOW, count=count)
    pstats.Stats(profile).sort_stats("tottime").print_stats(40)
    return 0


def written(path: str) -> int:
    """The long session as a file."""
    Path(path).write_text("\n".join(records(session(8_000))) + "\n")
    print(f"{path}: {Path(path).stat().st_size / 1e6:.0f} MB")
    return 0


def main() -> int:
    match sys.argv[1:]:
        case []:
            return growth()
        case ["--session", path]:
            return against_loading(path)
        case ["--write", path]:
            return written(path)
        case ["--profile", preset]:
            return profiled(preset)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
