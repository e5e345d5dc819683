"""Native lines → traces."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import EmptyTrace, MalformedTrace
from ctxbudget.loaders.native.fields import (
    COMPACTION,
    KINDS,
    LINES,
    VERSION,
    Fields,
    Notes,
    nearest,
    outcome_of,
    resource_of,
    role_of,
    usage_of,
)
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.loaders import Start
    from ctxbudget.trace import Parse, Trace

PURPOSES = ("turn", "abandoned", "compaction")


@dataclass(slots=True)
class Section:
    """A trace or a child in the making: from its header to the next one, or to its ``end``."""

    build: TraceBuilder
    line: int
    name: str | None = None
    notes: Notes = field(default_factory=Notes)
    refs: dict[str, Piece] = field(default_factory=dict)
    speaking: str | None = None
    """Whose message the last part was in; None where the next part begins a message in any case."""
    begun: bool = False


class Reader:
    """Takes lines one by one. A header begins a trace, ``child`` a section inside it, up to ``end``."""

    def __init__(self, path: str, start: Start) -> None:
        """``start`` begins a trace; ``path`` is for errors."""
        self._path = path
        self._start = start
        self._traces: list[Section] = []
        self._stack: list[Section] = []
        self._skipped: Counter[str] = Counter()

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
                _part(section, fields)
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
        parse = replace(parse, skipped=tuple(sorted(self._skipped.items())))
        for section in self._traces:
            section.build.label = str(section.line) if len(self._traces) > 1 else None
            section.notes.tell(section.build)
            yield section.build.finish(parse)

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
        name = fields.word("child") or f"child-{fields.line}"
        section = Section(self._start(name), fields.line, name)
        _facts(section, fields)
        self._stack.append(section)

    def _end(self, fields: Fields) -> None:
        if len(self._stack) == 1:
            fields.note("no-child", "an end without a child; ignored")
        else:
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
    removed = None if names is None else [piece for name in names if (piece := _ref(section, inner, name))]
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
                _part(section, Fields(part, ("kind", *LINES["kind"]), fields.line, fields.notes))
            else:
                inner.note("bad-value", "'inserted' should hold parts, objects with a kind; others are skipped")
    section.speaking, section.begun = None, True


def _ref(section: Section, fields: Fields, name: Any) -> Piece | None:
    piece = section.refs.get(name) if isinstance(name, str) else None
    if piece is None:
        fields.note("unknown-ref", f"no earlier part has the ref {str(name)[:40]!r}; ignored")
    return piece


def _part(section: Section, fields: Fields) -> None:
    data, build = fields.data, section.build
    kind = _kind(fields)
    call, role = fields.word("id"), fields.word("role")
    role = role or role_of(kind, call)
    joined = fields.flag("joined")
    if joined is None:
        joined = role == "assistant" and section.speaking == "assistant"
    if "in_place_of" in data and (old := _ref(section, fields, data["in_place_of"])):
        piece = build.stand_in(old, fields.text("text") or "", line=fields.line)
        piece.kind = kind
    else:
        if not (joined and section.begun):
            build.message(role, fields.line)
            section.speaking = role
        section.begun = True
        piece = _said(build, fields, kind, call)
    _set(piece, fields)
    if (ref := fields.word("ref")) is not None:
        if ref in section.refs:
            fields.note("repeated-ref", f"the ref {ref[:40]!r} was there before; it now means this part")
        section.refs[ref] = piece


def _kind(fields: Fields) -> Kind | None:
    name = fields.word("kind")
    if name == "assistant":
        return None  # reasoning if the reply also calls, else answer
    if name not in KINDS:
        fields.note("unknown-kind", f"unknown kind {str(name)[:40]!r}, taken as other{nearest(str(name), KINDS)}")
        return Kind.OTHER
    return KINDS[name]


def _said(build: TraceBuilder, fields: Fields, kind: Kind | None, call: str | None) -> Piece:
    tool, text = fields.word("tool"), fields.text("text")
    if kind is Kind.CALL or (kind is Kind.PLAN and tool is not None):
        if tool is None:
            fields.note("no-tool", "a call without a tool")
        piece = build.call(tool or "?", fields.data.get("args"), id=call, line=fields.line)
        piece.text = piece.text if text is None else text
        piece.kind = Kind.PLAN if kind is Kind.PLAN else piece.kind
        return piece
    if text is None and not fields.data.keys() & {"tokens", "width", "height"} and kind is not Kind.MEDIA:
        fields.note("no-text", "a part with neither text nor tokens: it counts nothing")
    # an explicit null is a result that answers nothing; without the key it answers the oldest open call
    if kind in {Kind.RESULT, Kind.RETRIEVAL} and (call is not None or "id" not in fields.data):
        piece = build.result(text or "", call=call, tool=tool, line=fields.line)
        piece.kind = Kind.RETRIEVAL if kind is Kind.RETRIEVAL else piece.kind
        return piece
    width, height = fields.count("width"), fields.count("height")
    size = (width, height) if width is not None and height is not None else None
    piece = build.add(kind, text or "", call=call, size=size, line=fields.line)
    piece.tool = piece.tool or tool
    return piece


def _set(piece: Piece, fields: Fields) -> None:
    """What any part may have."""
    piece.pinned = fields.flag("_pin") is True
    if (error := fields.flag("error")) is not None:
        piece.error = error
    if (resource := resource_of(fields)) is not None:
        piece.resource = resource
    if (tokens := fields.count("tokens")) is not None:
        if piece.text:
            fields.note("bad-value", "'tokens' is for parts without text; text is counted")
        else:
            piece.cost = tokens
