"""The page of strategies and passes: ``python docs/handbook.py`` writes docs/strategies.md."""  # noqa: INP001

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import handbook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.handbook import Entry

HEAD = """# Strategies

A strategy says how a context is kept small: ordered stages, each with the moment it runs at, the conditions under
which it does, and the passes that it runs. `ctxbudget list strategies` shows this page in a terminal.

```console
$ ctxbudget replay session.jsonl --strategy sliding-window
$ ctxbudget replay session.jsonl --strategy category-budget --set budget-per-layer.digest_cost=80
$ ctxbudget replay session.jsonl --strategy drop-thinking+tool-result-clearing
$ ctxbudget replay session.jsonl --strategy ./mine.toml
```

`a+b` composes: entry stages of all first, then those at a completed plan item, after a reply, before a call, at
overflow. A pass goes as a strategy of its own, before each call. One of yours is a TOML file:

```toml
description = "Clear at 90 %, and see what arrives after that."
pin = ["task"]                     # layers, kinds or fragment ids

[[stages]]
at = "reply"                       # entry, subgoal, reply, call, overflow
when = 0.90                        # also when_layer, when_incoming, every, until, estimator
passes = [{ name = "clear-tool-results", keep = 3 }]
```

Amounts up to 1 are fractions of (window - reserve), above they are tokens.
"""

PASSES = """# Passes

What the stages are made of. An option is set with `--set PASS.OPTION=VALUE`, or in a strategy's file.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, *map(_strategy, handbook.strategies()), PASSES, *map(_pass, handbook.passes())]
    return "\n".join(parts)


def _strategy(entry: Entry) -> str:
    also = f" Also called {', '.join(f'`{name}`' for name in entry.aliases)}." if entry.aliases else ""
    stages = [f"{number}. {stage}" for number, stage in enumerate(entry.stages, 1)] or ["No stages."]
    pinned = ["", f"Pinned: {', '.join(entry.pin)}."] if entry.pin else []
    return "\n".join(
        [f"## {entry.name}", "", f"{entry.description}{also}", "", *_said(entry), "", *stages, *pinned, ""]
    )


def _pass(entry: Entry) -> str:
    rows = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {_code(text)} |" for name, default, text in entry.options
    ]
    table = ["", "| option | default | meaning |", "|---|---|---|", *rows] if rows else []
    return "\n".join([f"## {entry.name}", "", _code(entry.description), "", *_said(entry), *table, ""])


def _said(entry: Entry) -> Iterator[str]:
    for label, field in handbook.WORDS:
        text = getattr(entry, field)
        if text:
            yield f"* **{label}**: {_code(text)}"


def _code(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    Path(__file__).with_name("strategies.md").write_text(page(), encoding="utf-8")
