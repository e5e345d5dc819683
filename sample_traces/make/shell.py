"""A shell small enough to give the same output on every machine.

It knows pipes, ``&&`` and the dozen read-only commands that agents type most, and ``python``. Everything is
really carried out on the workspace.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from project import Workspace


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command printed, and its exit code."""

    out: str
    code: int = 0


def run(place: Workspace, command: str) -> Ran:
    """Run a command line: commands joined by ``&&``, each a pipe."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    printed = ""
    for chain in _split(lexer, "&&"):
        ran = Ran("")
        for stage in _split(chain, "|"):
            ran = COMMANDS[stage[0]](place, stage[1:], ran.out)
        printed += ran.out
        if ran.code:
            return Ran(printed, ran.code)
    return Ran(printed)


def _split(words: Iterable[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == mark:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _flags(words: list[str], valued: str = "") -> tuple[dict[str, str], list[str]]:
    flags: dict[str, str] = {}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if not re.fullmatch(r"-[A-Za-z].*|--[a-z].*", word):
            rest.append(word)
        elif word[1:2] in valued and not word.startswith("--"):
            flags[word[1]] = word[2:] or queue.pop(0)
        elif word.startswith("--"):
            name, _, value = word[2:].partition("=")
            flags[name] = value
        else:
            flags |= dict.fromkeys(word[1:], "")
    return flags, rest


def _lines(place: Workspace, files: list[str], given: str) -> list[str]:
    return "".join(place.read(name) for name in files).splitlines() if files else given.splitlines()


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cat(place: Workspace, words: list[str], given: str) -> Ran:
    missing = [name for name in words if not (place.root / place.relative(name)).is_file()]
    if missing:
        return Ran(f"cat: {missing[0]}: No such file or directory\n", 1)
    return Ran(_text(_lines(place, words, given)))


def _head(place: Workspace, words: list[str], given: str) -> Ran:
    flags, files = _flags(words, "n")
    return Ran(_text(_lines(place, files, given)[: int(flags.get("n", "10"))]))


def _sed(place: Workspace, words: list[str], given: str) -> Ran:
    _, (span, *files) = _flags(words)
    first, last = re.fullmatch(r"(\d+),(\d+)p", span).groups()
    return Ran(_text(_lines(place, files, given)[int(first) - 1 : int(last)]))


def _grep(place: Workspace, words: list[str], given: str) -> Ran:
    flags, (pattern, *where) = _flags(words)
    wanted = re.compile(pattern, re.IGNORECASE if "i" in flags else 0)
    names = sorted(name for each in where for name in place.names(each)) if where else [""]
    found: list[str] = []
    for name in names:
        label = f"{name}:" if name and (len(names) > 1 or "r" in flags) else ""
        for number, line in enumerate(_lines(place, [name] if name else [], given), 1):
            if bool(wanted.search(line)) != ("v" in flags):
                found.append(f"{label}{f'{number}:' if 'n' in flags else ''}{line}")
    if "c" in flags:
        return Ran(f"{len(found)}\n", int(not found))
    return Ran(_text(found), int(not found))


def _wc(place: Workspace, words: list[str], given: str) -> Ran:
    _, files = _flags(words)
    if not files:
        return Ran(f"{len(given.splitlines())}\n")
    sizes = {name: len(_lines(place, [name], "")) for name in files}
    shown = [f"{size:>6} {name}" for name, size in sizes.items()]
    return Ran(_text([*shown, f"{sum(sizes.values()):>6} total"] if len(files) > 1 else shown))


def _ls(place: Workspace, words: list[str], _given: str) -> Ran:
    flags, where = _flags(words)
    folder = place.root / place.relative(where[0] if where else ".")
    if not folder.is_dir():
        return Ran(f"ls: cannot access '{where[0]}': No such file or directory\n", 2)
    mark = "F" in flags
    return Ran(_text(sorted(f"{path.name}/" if mark and path.is_dir() else path.name for path in folder.iterdir())))


def _cut(place: Workspace, words: list[str], given: str) -> Ran:
    flags, files = _flags(words, "df")
    columns = [int(part) - 1 for part in flags["f"].split(",")]
    rows = (line.split(flags["d"]) for line in _lines(place, files, given))
    return Ran(_text(flags["d"].join(row[i] for i in columns) for row in rows))


def _sort(place: Workspace, words: list[str], given: str) -> Ran:
    flags, files = _flags(words)
    lines = sorted(_lines(place, files, given))
    if "n" in flags:
        lines.sort(key=lambda line: float(re.match(r"\s*(-?[\d.]*)", line)[1] or 0))
    return Ran(_text(reversed(lines) if "r" in flags else lines))


def _uniq(place: Workspace, words: list[str], given: str) -> Ran:
    flags, files = _flags(words)
    counts: list[tuple[str, int]] = []
    for line in _lines(place, files, given):
        again = bool(counts) and counts[-1][0] == line
        counts[-1:] = [(line, counts[-1][1] + 1)] if again else [*counts[-1:], (line, 1)]
    if "d" in flags:
        counts = [(line, times) for line, times in counts if times > 1]
    return Ran(_text(f"{times:>7} {line}" if "c" in flags else line for line, times in counts))


def _python(place: Workspace, words: list[str], _given: str) -> Ran:
    return Ran(*place.python(*words))


def _git(place: Workspace, words: list[str], _given: str) -> Ran:
    below = words[-1] if "--" in words else ""
    paths = [path for path in place.changed() if path.startswith(below)]
    if words[0] == "status":
        return Ran(_text(f"{' M' if path in place.before else '??'} {path}" for path in paths))
    return Ran(_stat({path: place.diff_of(path) for path in paths if path in place.before}))


def _stat(diffs: dict[str, str]) -> str:
    wide = max(map(len, diffs), default=0)
    bars = {path: re.findall(r"^([+-])(?!\1\1)", diff, re.MULTILINE) for path, diff in diffs.items()}
    plus, minus = (sum(bar.count(sign) for bar in bars.values()) for sign in "+-")
    lines = [f" {path:<{wide}} | {len(bar):>2} {''.join(sorted(bar))}" for path, bar in bars.items()]
    return _text([*lines, f" {len(lines)} files changed, {plus} insertions(+), {minus} deletions(-)"] if lines else [])


COMMANDS: dict[str, Callable[[Workspace, list[str], str], Ran]] = {
    "cat": _cat,
    "cut": _cut,
    "git": _git,
    "grep": _grep,
    "head": _head,
    "ls": _ls,
    "python": _python,
    "rg": _grep,
    "sed": _sed,
    "sort": _sort,
    "uniq": _uniq,
    "wc": _wc,
}
