"""The page of findings: ``python docs/findings.py`` writes docs/findings.md."""  # noqa: INP001

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget.findings.catalogue import pages

if TYPE_CHECKING:
    from ctxbudget.findings.catalogue import Page

HEAD = """# Findings

A finding is one broken limit, one thing wrong with a recording, or one piece of waste. An id keeps its meaning.
`ctxbudget analyze` shows them all, but knows no limits; `ctxbudget check` holds a trace against its budget, looks at
budgets and validity unless `--select` says otherwise, and fails on findings of level `error`. `ctxbudget explain CB303`
shows one of these sections in a terminal.

```console
$ ctxbudget explain CB102
$ ctxbudget check traces/ --select CB1,CB203 --ignore CB104
```

The settings of a project may change the level of a rule, which also turns it on, and ignore others:

```yaml
check:
  ignore: [CB205]
  severity: {CB104: error, CB303: warning}
```
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for group, members in groupby(pages(), key=lambda one: one.group):
        parts.append(f"# {group}\n")
        parts += [_section(one) for one in members]
    return "\n".join(parts)


def _section(one: Page) -> str:
    rule = one.rule
    return "\n".join(
        [
            f"## {rule.id}",
            "",
            f"**{rule.name}** ({rule.level}). {one.what}",
            "",
            f"* **Why**: {one.why}",
            f"* **Example**: `{one.example}`",
            f"* **Fix**: {one.fix}",
            "",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_name("findings.md").write_text(page(), encoding="utf-8")
