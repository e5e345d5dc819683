"""Native lines → traces."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import EmptyTrace, MalformedTrace
from ctxbudget.loaders.native.fields import (
    COMPACTION,
    LINES,
    VERSION,
    Fields,
    nearest,
    outcome_of,
    usage_of,
)
from ctxbudget.loaders.native.parts import Section, add_part, find_ref
from ctxbudget.trace import Form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.trace import Parse, Trace

MOST_DEPTH = 20
"""How deep children may nest."""
PURPOSES = ("turn", "abandoned", "compaction")


class Reader:
    """Takes lines one by one. A header begins a trace, ``child`` a section inside it, up to ``end``."""

    def __init__(self, path: str, start: Start) -> None:
        """``start`` begins a trace; ``path`` is for errors."""
        self._path = path
        self._start = start
        self._traces: list[Section] = []
        self._stack: list[Section] = []
        self._skipped: Counter[str] = Counter()
        self._ignored = 0

    def take(self, data: Any, line: int) -> None:
        """One line."""
        name = next((name for name in LINES if name in data), None) if isinstance(data, dict) else None
        if name == "ctxbudget" or not self._stack:
            self._begin(line)
        section = self._stack[-1]
        if name is None:
            self._skipped["line of no known kind"] += 1
            hint = nearest(next(iter(data), ""), LINES) if isinstance(data, dict) else ""
            section.notes.add("unknown-record", f"a line with none of the keys {', '.join(LINES)}; skipped{hint}", line)
            return
        fields = Fields(data, (name, *LINES[name]), line, section.notes)
        match name:
            case "ctxbudget":
                self._header(section, fields)
            case "kind":
                add_part(section, fields)
            case "turn":
                _turn(section, fields)
            case "compaction":
                _compaction(section, fields)
            case "billed":
                _billed(section, fields)
            case "child":
                self._child(fields)
            case _:
                self._end(fields)

    def finish(self, parse: Parse) -> Iterator[Trace]:
        """The traces."""
        self._close()
        if not any(section.begun for section in self._traces):
            raise EmptyTrace(f"{self._path}: no part and no turn in it", hint="nothing was measured")
        for section in self._traces:
            section.build.label = str(section.line) if len(self._traces) > 1 else None
            section.notes.tell(section.build)
            yield section.build.finish(parse, self._skipped)

    def _begin(self, line: int) -> None:
        self._close()
        section = Section(self._start(), line)
        self._traces.append(section)
        self._stack = [section]

    def _close(self) -> None:
        while len(self._stack) > 1:
            parent, section = self._stack[-2:]
            parent.notes.add("no-end", f"the child {str(section.name)[:40]!r} begins here and has no end", section.line)
            self._end_child()

    def _header(self, section: Section, fields: Fields) -> None:
        version = fields.data["ctxbudget"]
        if version != VERSION or type(version) is not int:
            raise MalformedTrace(
                f"{self._path}: line {fields.line}: version {str(version)[:20]!r}, this ctxbudget reads {VERSION}",
                hint="a newer ctxbudget may read it",
            )
        _facts(section, fields)

    def _child(self, fields: Fields) -> None:
        if len(self._stack) > MOST_DEPTH:
            fields.note("too-deep", f"children nest at most {MOST_DEPTH} deep; its parts go to the child around it")
            self._ignored += 1
            return
        name = fields.word("child") or f"child-{fields.line}"
        section = Section(self._start(name), fields.line, name)
        _facts(section, fields)
        self._stack.append(section)

    def _end(self, fields: Fields) -> None:
        name = fields.word("end")
        if self._ignored:
            self._ignored -= 1
        elif len(self._stack) == 1:
            fields.note("no-child", "an end without a child; ignored")
        else:
            if name is not None and name != self._stack[-1].name:
                fields.note(
                    "other-end", f"the end of {name[:40]!r} taken for that of {str(self._stack[-1].name)[:40]!r}"
                )
            self._end_child()

    def _end_child(self) -> None:
        section = self._stack.pop()
        section.notes.tell(section.build)
        self._stack[-1].build.child(section.build.finish())
        self._stack[-1].begun = True


def _facts(section: Section, fields: Fields) -> None:
    build = section.build
    build.agent, build.model, build.session = fields.word("agent"), fields.word("model"), fields.word("session")
    build.window, build.outcome = fields.count("window"), outcome_of(fields)
    build.abandoned = fields.count("abandoned") or 0
    build.carries_reasoning = fields.flag("carries_reasoning") is not False


def _turn(section: Section, fields: Fields) -> None:
    if not fields.data["turn"] or not isinstance(fields.data["turn"], bool | int):
        fields.note("bad-value", "'turn' should be true, or the turn's number for the reader; taken as true")
    usage = usage_of(fields, "usage")
    section.build.turn(model=fields.word("model"), usage=usage, line=fields.line, key=fields.word("key"))
    section.speaking, section.begun = None, True


def _billed(section: Section, fields: Fields) -> None:
    usage, purpose = usage_of(fields, "billed"), fields.word("purpose") or "compaction"
    if purpose not in PURPOSES:
        fields.note("bad-value", f"unknown purpose {purpose[:40]!r}{nearest(purpose, PURPOSES)}")
    if usage is not None:
        key, turn = fields.word("key") or f"{section.build.path}:{fields.line}", fields.count("turn")
        if turn is not None and not 1 <= turn <= section.build.turns:
            fields.note("bad-value", "'turn' should be the number of an earlier turn; ignored")
            turn = None
        section.build.bill(key, fields.word("model"), usage, turn=turn, purpose=purpose)


def _compaction(section: Section, fields: Fields) -> None:
    inner = fields.inner("compaction", COMPACTION) or Fields({}, COMPACTION, fields.line, fields.notes)
    names, form = inner.items("removed"), inner.word("form")
    removed = None if names is None else [piece for name in names if (piece := find_ref(section, inner, name))]
    if form is not None and form not in set(Form):
        inner.note("bad-value", f"unknown form {form[:40]!r}, ignored{nearest(form, list(Form))}")
        form = None
    summary, parts = inner.text("summary"), inner.items("inserted") or []
    default = Form.SUMMARY if "form" not in inner.data else None
    with section.build.compaction(
        fields.line,
        trigger=inner.word("trigger") or "unknown",
        pre_tokens=inner.count("pre_tokens"),
        post_tokens=inner.count("post_tokens"),
        by=inner.word("by") or "recorded",
        form=Form(form) if form is not None else default,
        removed=removed,
    ):
        section.speaking = None
        if summary is not None:
            parts = [{"kind": "summary", "text": summary}, *parts]
        for part in parts:
            if isinstance(part, dict) and "kind" in part:
                add_part(section, Fields(part, ("kind", *LINES["kind"]), fields.line, fields.notes))
            else:
                inner.note("bad-value", "'inserted' should hold parts, objects with a kind; others are skipped")
    section.speaking, section.begun = None, True
