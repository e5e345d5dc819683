"""A call: what it does to its target, in numbers: ``Edit src/pay.py, turn 12: 3 lines replaced, ok``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget.digests._observed import line_count
from ctxbudget.digests._parts import Names, Phrase, Prose
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import clip, flat, number, several
from ctxbudget.resources import CREATE, EDIT, PLAN, WRITE, arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 1.0
_TAGGED = re.compile(r"<parameter[= ](?:name=)?\"?([\w-]+)\"?>\n?((?:(?!<parameter[= ]).)*?)\n?</parameter>", re.DOTALL)
_LINES_OF = re.compile(r"edit (\d{1,7}):(\d{1,7})\n(.*?)\n?(?:end_of_edit)?\s*\Z", re.DOTALL)
"""SWE-agent's editor: the lines to replace, and the new ones."""
_PATCHED = re.compile(r"^([+-])(?![+-]{2} )", re.MULTILINE)
_PATCH = re.compile(r"^(?:\*\*\* Begin Patch|--- |@@)", re.MULTILINE)
_DONE = frozenset({"completed", "done", "complete", "finished"})
_NOW = frozenset({"in_progress", "active", "doing"})
_STEPS = ("content", "step", "title", "text", "description")
_SPOKEN = frozenset(
    {"description", "prompt", "thought", "question", "message", "reason", "explanation", "query", arguments.RAW}
)
"""Arguments that need no name beside them."""
_UNSAID = frozenset({"timeout", "timeoutms", "securityrisk", *arguments.COMMANDS})
"""Arguments that say nothing which lasts, or which the target says in other words."""
_LONGEST = 200


def score(seen: Observed) -> float:
    """Every call."""
    return 1.0 if seen.fragment.asks else 0.0


def sketch(seen: Observed) -> Sketch:
    """What is changed; then whether it went well, where that is known."""
    given = _given(seen)
    done = _done(seen, given)
    said = {True: "ok", False: "failed", None: ""}[seen.ok]
    told = ", ".join(part for part in (done, said) if part)
    parts: list[Part] = [Phrase(told)] if told else []
    if seen.cls == PLAN:
        parts += _plan(given)
    elif not done:
        parts += _arguments(seen, given)
    return Sketch(tuple(parts))


def _given(seen: Observed) -> Mapping[str, Any]:
    """The arguments under folded keys, from ``Tool {json}``, from tags, or as raw text."""
    if tagged := _TAGGED.findall(seen.text):
        return arguments.unpack(dict(tagged))
    return arguments.unpack(seen.text.removeprefix(seen.fragment.tool or "").lstrip(" "))


def _text(given: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first argument of those names that is text, even where it is empty."""
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def _done(seen: Observed, given: Mapping[str, Any]) -> str:
    """What a change changes, in lines."""
    if seen.cls not in {EDIT, WRITE, CREATE}:
        return ""
    if span := _LINES_OF.match(seen.text):
        return _replaced(int(span[2]) - int(span[1]) + 1, line_count(span[3]))
    if isinstance(edits := given.get("edits"), list) and edits:
        return f"{several(len(edits), 'place')} replaced"
    old, new = _text(given, arguments.OLD), _text(given, arguments.NEW)
    if new is not None:
        return (
            f"{several(line_count(new), 'line')} inserted"
            if old is None
            else _replaced(line_count(old), line_count(new))
        )
    raw = _text(given, (*arguments.PATCHES, *arguments.COMMANDS, arguments.RAW)) or ""
    if _PATCH.search(raw):
        marks = _PATCHED.findall(raw)
        return f"+{number(marks.count('+'))} -{number(marks.count('-'))} lines"
    content = _text(given, arguments.CONTENTS)
    return f"{several(line_count(content), 'line')} written" if content is not None else ""


def _replaced(old: int, new: int) -> str:
    if old < 1:
        return f"{several(new, 'line')} written"
    if not new:
        return f"{several(old, 'line')} removed"
    return f"{several(old, 'line')} replaced" + (f" by {number(new)}" if new != old else "")


def _plan(given: Mapping[str, Any]) -> list[Part]:
    """Steps of a plan: how many are done, which one is under way."""
    listed = next((value for value in given.values() if isinstance(value, list) and value), [])
    steps = [(str(step.get("status", "")).lower(), step) for step in listed if isinstance(step, dict)]
    if not steps:
        return []
    done = sum(status in _DONE for status, _ in steps)
    parts: list[Part] = [Phrase(f"{several(len(steps), 'step')}, {number(done)} done")]
    now = [clip(flat(_text(step, _STEPS) or ""), 100) or "a step" for status, step in steps if status in _NOW]
    return [*parts, *([Names(now, before="now: ")] if now else [])]


def _arguments(seen: Observed, given: Mapping[str, Any]) -> list[Part]:
    """Arguments that the target does not say already."""
    target, told = flat(seen.target), list[tuple[bool, str]]()
    for key, value in given.items():
        said = flat(value) if isinstance(value, str) else number(value, "") if type(value) is int else ""
        if key in _UNSAID and (target or key not in arguments.COMMANDS):
            continue
        if said and said not in target and not (target and said.endswith(target)):
            told.append((key not in _SPOKEN, clip(said if key in _SPOKEN else f"{key}: {said}", _LONGEST)))
    spoken_first = [said for _, said in sorted(told, key=lambda each: each[0])]
    if len(told) == 1:
        return [Prose(spoken_first[0])]
    return [Names(spoken_first)] if told else []
