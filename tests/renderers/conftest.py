"""A small trace with everything a report can show, and its report."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from io import BytesIO

import pytest

from ctxbudget.analysis import analyze
from ctxbudget.builder import TraceBuilder
from ctxbudget.renderers import Look, render
from ctxbudget.trace import Kind, Usage


def conversation(name="session.jsonl", turns=6, label=None):
    builder = TraceBuilder(name, "native", label=label)
    builder.agent, builder.model, builder.session = "native", "gpt-4.1", "s1"
    builder.message("system", 1)
    builder.add(Kind.SYSTEM_PROMPT, "You are careful. Never touch the ledger. " * 10)
    builder.message("user", 2)
    builder.add(Kind.USER, "Please fix the refund test in billing/refund.py.")
    for number in range(1, turns + 1):
        line = 2 * number + 1
        prompt = 120 + 260 * number
        builder.turn(model="gpt-4.1", usage=Usage(input=prompt, output=40, total=prompt + 40), line=line)
        builder.message("assistant", line)
        builder.add(None, "I look at it. " * 5)
        builder.call("read_file", {"path": f"billing/part_{number}.py"}, id=f"c{number}")
        builder.message("tool", line + 1)
        builder.result("value = 240  # limit\n" * 30, call=f"c{number}")
        if number == 4:
            with builder.compaction(line + 1, trigger="auto", pre_tokens=1100, post_tokens=200):
                builder.message("user", line + 1)
                builder.add(Kind.SUMMARY, "What was done so far: parts 1 to 4 were read. " * 4)
    return builder


@pytest.fixture(scope="session")
def trace():
    child = conversation("session/subagents/agent-a1.jsonl", turns=2, label="a1")
    builder = conversation()
    builder.child(child.finish())
    builder.warn("unknown-record", "3 record(s) of type 'ping' not read", 7)
    return builder.finish()


@pytest.fixture(scope="session")
def report(trace):
    """Over its window at the end, so that there is a finding."""
    return analyze(trace, window=1000, fragments=True, estimators=True)


@pytest.fixture(scope="session")
def shown():
    """Render to text."""

    def to_text(report, name="terminal", **look):
        out = BytesIO()
        render(report, name, out, Look(**look))
        return out.getvalue().decode(look.get("encoding", "utf-8"))

    return to_text


@pytest.fixture(scope="session")
def with_text():
    """A report with a text in place of every text in it that a trace, a path or a configuration may bring."""

    ours = {"level", "schema", "tool", "id", "kind", "role", "form", "fragment"}

    def changed(value, text):
        if is_dataclass(value):
            kept = {each.name: getattr(value, each.name) for each in fields(value)}
            return replace(
                value,
                **{
                    name: each if name in ours and isinstance(each, str) else changed(each, text)
                    for name, each in kept.items()
                },
            )
        if isinstance(value, str):
            return text
        if isinstance(value, list):
            return [changed(each, text) for each in value]
        if isinstance(value, dict):
            return {changed(key, text): each for key, each in value.items()}
        return value

    return changed
