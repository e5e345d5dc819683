"""The page of formats: ``python docs/formats.py`` writes docs/formats.md from the loaders' docstrings."""  # noqa: INP001

from __future__ import annotations

import re
from inspect import getdoc
from pathlib import Path

from ctxbudget.loaders import LOADERS

LABELS = {
    "Where": "Where it lies",
    "Seen": "What is seen",
    "Unseen": "What is not",
    "Counts": "How far counts go",
}
"""The labelled lines of a loader's docstring, and what they are called here."""

_LABELLED = re.compile(rf"^({'|'.join(LABELS)}): ", re.MULTILINE)

HEAD = """# Formats

What ctxbudget reads, told by the bytes and not by the name; `--from FORMAT` forces one. `ctxbudget sessions` finds the
sessions of the agents on this machine, and `ctxbudget analyze @latest` takes the newest. Plain, gzip and zstandard
files are read alike, a damaged record costs that record and is reported, and what the file does not hold but the
provider billed is shown as `unseen` wherever usage tells its size.

A format that is missing here can be written as [native JSON Lines](native.md); a loader of your own is one module with
`sniff` and `load`, found through the entry point group `ctxbudget.loaders`.
"""


def page() -> str:
    """The whole page."""
    names = LOADERS.names()
    index = [f"* [{name}](#{name}): {_plain(title(name))}" for name in names]
    return "\n".join([HEAD, *index, "", *(_section(name) for name in names)])


def title(name: str) -> str:
    """The first line of a loader's docstring."""
    return _text(name).partition("\n")[0]


def facts(name: str) -> dict[str, str]:
    """Its labelled lines, by label."""
    parts = _LABELLED.split(_labelled(name))
    return {label: " ".join(text.split()) for label, text in zip(parts[1::2], parts[2::2], strict=True)}


def _text(name: str) -> str:
    return getdoc(LOADERS.get(name)) or ""


def _paragraphs(name: str) -> list[str]:
    return [part.strip("\n") for part in _text(name).split("\n\n")][1:]


def _labelled(name: str) -> str:
    return next((part for part in _paragraphs(name) if _LABELLED.match(part)), "")


def _section(name: str) -> str:
    rows = [f"* **{LABELS[label]}**: {_plain(text)}" for label, text in facts(name).items()]
    prose = [_plain(part) for part in _paragraphs(name) if part != _labelled(name)]
    return "\n".join(
        [f"## {name}", "", _plain(title(name)), "", *rows, *(line for part in prose for line in ("", part)), ""]
    )


def _plain(text: str) -> str:
    return text.replace("``", "`")


if __name__ == "__main__":
    Path(__file__).with_name("formats.md").write_text(page(), encoding="utf-8")
