"""An error with its stack (Python, JavaScript, Java, Go, Rust, Ruby, PHP, Elixir): what was raised, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Phrase
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import clip, flat, whole_lines
from ctxbudget.resources import EDIT, LIST, READ, SEARCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.84
_NEVER = frozenset({READ, SEARCH, LIST, EDIT})
_FOREIGN = re.compile(
    r"site-packages|dist-packages|/lib/python|<frozen|importlib|node_modules|node:|internal/|/usr/|/rustc/|\.cargo/registry"
    r"|/go/pkg/|GOROOT|^(?:java|javax|jdk|sun|kotlin|scala|org\.junit|org\.springframework|org\.apache)\.|/gems/|\bdeps/"
)
"""Frames of libraries and run-times."""

_REACH = 60_000
"""Characters of a stack that are looked at."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """One language: where a stack begins, its frames (the place in the first group), and what was raised."""

    begins: re.Pattern[str]
    frame: re.Pattern[str]
    raised: Callable[[str], str]
    deepest_last: bool = False


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _python_raised(text: str) -> str:
    """The line behind the frames, at the left; of a chain of errors the last one."""
    found = re.findall(
        r"^(?=[A-Za-z_])(?!Traceback|During handling|The above)([\w.]+(?:: [^\n]*)?)$", text, re.MULTILINE
    )
    return found[-1] if found else ""


def _java_raised(text: str) -> str:
    causes = re.findall(r"^Caused by: ([^\n]+)$", text, re.MULTILINE)
    return causes[-1] if causes else re.sub(r"^Exception in thread \"[^\"\n]*\" ", "", _first_line(text))


def _rust_raised(text: str) -> str:
    old = re.match(r"thread '[^'\n]*' panicked at '([^\n]*)', ", text)
    return f"panicked: {old[1]}" if old else "panicked: " + text.partition("\n")[2].partition("\n")[0]


_SHAPES = (
    _Shape(
        _p(r"^[ \t|]*Traceback \(most recent call last\):$"),
        _p(r"^[ \t]*File \"([^\"\n]+\", line \d+(?:, in [^\n]+)?)$"),
        _python_raised,
        deepest_last=True,
    ),
    _Shape(
        _p(
            r"^(?:Exception in thread \"[^\"\n]*\" )?[\w.$]+(?:Exception|Error|Throwable)\b[^\n]*\n"
            r"[ \t]+at [\w.$/<>]+\([^)\n]*\)"
        ),
        _p(r"^[ \t]+at ([\w.$/<>]+\([^)\n]*\))"),
        _java_raised,
    ),
    _Shape(
        _p(r"^(?:Uncaught )?[\w$]*(?:Error|Exception)\b[^\n]*\n(?:[^\n]*\n){0,3}?[ \t]+at [^\n]+:\d+:\d+\)?"),
        _p(r"^[ \t]+at ([^\n]+:\d+:\d+\)?)"),
        _first_line,
    ),
    _Shape(_p(r"^(?:panic|fatal error): [^\n]+$"), _p(r"^\t(\S+\.go:\d+)"), _first_line),
    _Shape(
        _p(r"^thread '[^'\n]*'[^\n]* panicked at [^\n]+$"),
        _p(r"^(?:thread '[^'\n]*'[^\n]* panicked at (?:'[^\n]*', )?|[ \t]+at )(\S+?:\d+:\d+)"),
        _rust_raised,
    ),
    _Shape(
        _p(r"^\S+\.rb:\d+:in [`'][^\n]+ \([A-Z]\w+\)$"),
        _p(r"^(?:[ \t]+from )?(\S+\.rb:\d+)"),
        lambda text: re.sub(r"^\S+:in [`'][^'\n]*': ", "", _first_line(text)),
    ),
    _Shape(_p(r"^(?:PHP )?Fatal error: [^\n]+$"), _p(r"in (\S+\.php(?::| on line )\d+)"), _first_line),
    _Shape(
        _p(r"^[ \t]*\*\* \([\w.]+\)[^\n]*$"),
        _p(r"^[ \t]+(?:\([^)\n]*\) )?(\S+\.(?:exs?|erl):\d+)"),
        lambda text: _first_line(text).strip(),
    ),
)
_SIGN = re.compile(
    r"\n(?:[ \t|]*Traceback |[ \t]+at [^\n]|(?:PHP )?Fatal error: |panic: |fatal error: |thread '|[ \t]*\*\* \("
    r"|\S+\.rb:\d)"
)
"""The beginning of a line that each shape has, with the line end before: most texts have none."""


def score(seen: Observed) -> float:
    """Where a stack stands near either end."""
    if not seen.answers or seen.cls in _NEVER:
        return 0.0
    return 0.84 if any(map(_begins, seen.ends)) else 0.0


def _begins(text: str) -> bool:
    """Whether a stack begins in a text."""
    return _SIGN.search(f"\n{text}") is not None and any(shape.begins.search(text) for shape in _SHAPES)


def sketch(seen: Observed) -> Sketch:
    """What was raised, the deepest frame of the project; then what was printed before."""
    shape, start = _last_stack(seen.text)
    stack = whole_lines(seen.text[start : start + 2 * _REACH], _REACH)
    raised = shape.raised(stack)
    if raised.endswith(":"):  # what it is about stands below
        raised += " " + stack.partition(raised)[2].lstrip().partition("\n")[0]
    raised = clip(flat(raised), 600 if seen.roomy else 160)
    parts: list[Part] = [Phrase(raised)] if raised else []
    if frame := _deepest(shape, stack[max(stack.rfind("\nCaused by:"), 0) :]):
        parts.append(Phrase(f"at {frame}"))
    if seen.roomy:
        parts.append(Lines(_frames(shape, stack), before="stack:", share=0.7))
    if before := seen.text[:start].strip():
        parts.append(Passage(before, before="before it: ", block=seen.roomy))
    return Sketch(tuple(parts))


def _last_stack(text: str) -> tuple[_Shape, int]:
    """The stack that begins last, and where; of Python's chained errors the first of the chain counts as well."""
    best = (_SHAPES[0], -1)
    for shape in _SHAPES:
        for part in {max(0, len(text) - 200_000), 0}:
            for found in shape.begins.finditer(text, part, part + 200_000):
                if found.start() > best[1]:
                    best = (shape, found.start())
    return best[0], max(best[1], 0)


def _deepest(shape: _Shape, stack: str) -> str:
    """The frame nearest to the error that is not a library's; the nearest at all where all are."""
    frames = shape.frame.findall(stack)
    if shape.deepest_last:
        frames.reverse()
    nearest = next((frame for frame in frames if not _FOREIGN.search(frame)), frames[0] if frames else "")
    return clip(_placed(nearest), 160)


def _frames(shape: _Shape, stack: str) -> list[str]:
    return [clip(_placed(frame), 200) for frame in shape.frame.findall(stack)[:40]]


def _placed(frame: str) -> str:
    """``src/pay.py:12 in total`` for Python's ``src/pay.py", line 12, in total``."""
    return re.sub(r"\", line (\d+)(?:, in )?", lambda found: f":{found[1]} in ", frame).removesuffix(" in ")
