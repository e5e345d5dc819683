"""What it costs to check many traces: 200 of 1 MB, one of them broken.

usage: python tests/bench/check_cost.py [NUMBER]

Prints the seconds, the peak memory of checking them all over that of checking two (it must not grow with their number:
at most 1.5), and what came of them: every trace but the broken one is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TURNS = 60
WORDS = 2_600


def lines(seed):
    """A Claude Code session of one call a turn, with about 1 MB of results."""
    yield {"type": "user", "uuid": "r0", "parentUuid": None, "sessionId": f"s{seed}", "message": {
        "role": "user", "content": "Go."}}  # fmt: skip
    for number in range(1, TURNS + 1):
        text = " ".join(f"w{(seed * 7919 + number * 104_729 + at * 31) % 99_991}" for at in range(WORDS))
        call = {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {"file_path": f"part_{number}.py"}}
        usage = {"input_tokens": 2_000 * number, "output_tokens": 30}
        reply = {"role": "assistant", "id": f"m{number}", "model": "claude-opus-4-5", "content": [call], "usage": usage}
        yield {"type": "assistant", "uuid": f"a{number}", "parentUuid": f"r{number - 1}", "sessionId": f"s{seed}",
               "message": reply}  # fmt: skip
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
        yield {"type": "user", "uuid": f"r{number}", "parentUuid": f"a{number}", "sessionId": f"s{seed}", "message": {
            "role": "user", "content": [result]}}  # fmt: skip


def checked(*paths):
    """Seconds, peak memory (bytes) and the totals of a check."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "ctxbudget", "check", *map(str, paths), "--format", "json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        report = json.loads(process.stdout.read())
        _, _, used = os.wait4(process.pid, 0)
    return time.perf_counter() - start, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024), report["totals"]


def main(number):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(number):
            text = "".join(f"{json.dumps(line)}\n" for line in lines(seed))
            (folder / f"{seed:03}.jsonl").write_text("}{ what\n" if seed == number // 2 else text, encoding="utf-8")
        size = (folder / "000.jsonl").stat().st_size
        _, few, _ = checked(folder / "000.jsonl", folder / "001.jsonl")
        seconds, many, totals = checked(folder)
    print(f"{number} traces of {size / 1e6:.2f} MB: {seconds:.1f} s, {1000 * seconds / number:.0f} ms each")
    print(f"peak memory {many / 1e6:.0f} MB, of two traces {few / 1e6:.0f} MB: {many / few:.2f} (at most 1.5)")
    print(f"{totals['clean'] + totals['violated']} measured, {totals['unreadable']} unreadable")
    if many > 1.5 * few or totals["unreadable"] != 1 or totals["traces"] != number:
        sys.exit("failed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
