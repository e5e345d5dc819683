"""A shell command as steps: words, redirections, pipes.

This reads, it does not run: quotes, here-documents, substitutions and redirections are respected, variables are left
as they are written. Anything is accepted. ``shlex`` reads one character at a time in Python and raises on an open
quote; one compiled expression is twenty times faster.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_READ = 4_000
"""Characters of a command that are looked at. What a command does is said at its start; the rest is data."""

_TOKEN = re.compile(
    r"""
    (?P<blank>(?:[ \t\r\f\v]|\\\r?\n)++)
  | (?P<redirect>\d{0,2}(?:>>|>\||>&|<<<|<<-?|<&|<>|>|<)|&>>?)
  | (?P<operator>&&|\|\||\|&|;;|[;|()&\n])
  | (?P<word>(?:
        [^\s'"\\`$;&|<>()]++
      | '[^']*+(?:'|\Z)
      | "(?:[^"\\]++|\\.)*+(?:"|\\?\Z)
      | \\(?!\r?\n)(?:.|\Z)
      | \$\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)
      | `[^`]*+(?:`|\Z)
      | \$
    )++)
  | (?P<stray>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(\W|\Z)""", re.DOTALL)
_ESCAPED = re.compile(r"""\\([\\"$`\n])""")
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time"})
_NOWHERE = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "$null", "nul", "&1", "&2", "-"})


@dataclass(slots=True)
class Step:
    """One simple command: its words, the files its output goes to, whether a pipe feeds it."""

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    piped: bool = False


def pipelines(command: str) -> list[list[Step]]:
    """The pipelines of a command in order, each with at least one step that has words or writes a file."""
    steps = _steps(command[:_READ])
    grouped: list[list[Step]] = []
    for step in steps:
        if step.piped and grouped:
            grouped[-1].append(step)
        else:
            grouped.append([step])
    return grouped


def _steps(text: str) -> list[Step]:
    """All steps; keywords such as ``do`` are dropped, bodies of here-documents are skipped."""
    steps, step = [], Step()
    pending: str | None = None
    bodies: list[str] = []
    position = 0
    while (token := _TOKEN.match(text, position)) is not None:
        position, kind, raw = token.end(), token.lastgroup, token[0]
        if kind == "word":
            if pending is None and raw.startswith("#"):
                position = _line_end(text, position)
            elif pending is None:
                step.words.append(plain(raw))
            else:
                _redirect(step, pending, plain(raw), bodies)
                pending = None
        elif kind == "redirect":
            pending = raw
        elif kind == "operator":
            pending = None
            steps.append(step)
            step = Step(piped=raw in {"|", "|&"})
            if raw == "\n" and bodies:
                position = _after(text, position, bodies)
    steps.append(step)
    return [trimmed for trimmed in map(_trimmed, steps) if trimmed.words or trimmed.writes]


def _redirect(step: Step, operator: str, target: str, bodies: list[str]) -> None:
    """Where output goes, or which word ends a here-document. Errors sent to a file are not the step's output."""
    if operator.lstrip("0123456789") in {"<<", "<<-"}:
        bodies.append(target)
        return
    copied = operator.endswith(">&") and target.isdigit()
    if ">" in operator and not operator.startswith("2") and not copied and target.lower() not in _NOWHERE:
        step.writes.append(target)


def _after(text: str, position: int, bodies: list[str]) -> int:
    """The position behind the bodies of the here-documents that begin here; the end where one is not closed."""
    for word in bodies:
        end = re.compile(rf"^[ \t]*{re.escape(word)}[ \t\r)]*$", re.MULTILINE).search(text, position)
        position = end.end() if end else len(text)
    bodies.clear()
    return position


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _trimmed(step: Step) -> Step:
    while step.words and step.words[0] in _KEYWORDS:
        del step.words[0]
    return step


def plain(raw: str) -> str:
    """A word without its quotes. A backslash before a letter stays, so that Windows paths survive."""
    if "'" not in raw and '"' not in raw and "\\" not in raw:
        return raw
    return _QUOTED.sub(_unquoted, raw)


def _unquoted(piece: re.Match[str]) -> str:
    single, double, escaped = piece.groups()
    if single is not None:
        return single
    return _ESCAPED.sub(r"\1", double) if double is not None else escaped or ""
