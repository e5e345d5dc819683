"""What `analyze` costs against the bare cost of the same work: parsing the lines, counting the texts.

usage: python tests/bench/analyze_cost.py SESSION.jsonl      (a Claude Code session; make one of 43 MB with 8,000 turns)

Prints two ratios, measured in one run: time of `ctxbudget analyze --format json` over orjson + tokenizer on the same
lines and texts (at most 3), and its peak memory over the size of the file (at most 5). Then the cost of `--help`
over importing typer and rich.console (at most 1.3).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

BARE = """
import sys, orjson
from ctxbudget.tokens import counter
count = counter("o200k_base").count
def texts(block):
    match block:
        case {"type": "text", "text": t} | {"type": "thinking", "thinking": t}: yield t
        case {"type": "tool_use", "name": n, "input": i}: yield n + " " + orjson.dumps(i).decode()
        case {"type": "tool_result", "content": str(t)}: yield t
for line in open(sys.argv[1], "rb"):
    content = (orjson.loads(line).get("message") or {}).get("content")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
        for text in texts(block): count(text)
"""

REPEATS = 5


def run(*command):
    """Seconds and peak memory (bytes) of a command, as the system accounts for it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"failed: {command}")
    return time.perf_counter() - start, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def paired(left, right):
    """Median ratio of the times of two commands run in turn, and the first one's peak memory."""
    ratios, memory = [], 0
    run(*left), run(*right)
    for _ in range(REPEATS):
        (one, used), (two, _) = run(*left), run(*right)
        ratios.append(one / two)
        memory = max(memory, used)
    return sorted(ratios)[REPEATS // 2], memory


def main(path):
    python = sys.executable
    size = Path(path).stat().st_size
    time_ratio, memory = paired(
        (python, "-m", "ctxbudget", "analyze", path, "--format", "json"), (python, "-c", BARE, path)
    )
    print(f"analyze --format json: {time_ratio:.2f} × parsing and counting (at most 3)")
    print(f"peak memory: {memory / size:.2f} × the file of {size / 1e6:.1f} MB (at most 5)")
    help_ratio, _ = paired((python, "-m", "ctxbudget", "--help"), (python, "-c", "import typer, rich.console"))
    print(f"--help: {help_ratio:.2f} × importing typer and rich.console (at most 1.3)")


if __name__ == "__main__":
    main(sys.argv[1])
