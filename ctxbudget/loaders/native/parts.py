"""A line with a ``kind`` → a part of a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.native.fields import KINDS, Fields, Notes, nearest, resource_of, role_of
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from ctxbudget.builder import Piece, TraceBuilder


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


def find_ref(section: Section, fields: Fields, name: Any) -> Piece | None:
    """The earlier part that ``name`` means; None, and a note, if there is none."""
    piece = section.refs.get(name) if isinstance(name, str) else None
    if piece is None:
        fields.note("unknown-ref", f"no earlier part has the ref {str(name)[:40]!r}; ignored")
    return piece


def add_part(section: Section, fields: Fields) -> None:
    """Say a part to the builder, in a message of its own or in the one before."""
    data, build = fields.data, section.build
    kind = _kind(fields)
    call, role = fields.word("id"), fields.word("role")
    role = role or role_of(kind, call)
    joined = fields.flag("joined")
    if joined is None:
        joined = role == "assistant" and section.speaking == "assistant"
    if "in_place_of" in data and (old := find_ref(section, fields, data["in_place_of"])):
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
    alone = "id" in fields.data and fields.data["id"] is None
    if (kind is Kind.CALL and not alone) or (kind is Kind.PLAN and tool is not None):
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
