"""A table (CSV, TSV, JSON rows, JSON Lines, output of database clients, Markdown): rows, columns, three of the rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.digests import json_value
from ctxbudget.digests._languages import LANGUAGES
from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._rows import SAMPLES, Table, boxed, delimited, json_lines
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import clip, flat, several
from ctxbudget.resources import EDIT, LIST, SEARCH, TEST

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.86
_NEVER = frozenset({SEARCH, LIST, EDIT, TEST})
_FILES = frozenset({".csv", ".tsv", ".psv", ".tab"})
_JSON_ROWS = re.compile(r"\s*\[\s*\{")
_LONGEST = 300


def score(seen: Observed) -> float:
    """Where the text can be read as one."""
    if not seen.answers or seen.cls in _NEVER or len(seen.top) == 0:
        return 0.0
    if _JSON_ROWS.match(seen.head) and seen.tail.rstrip().endswith("]"):
        return 0.86
    if seen.suffix in LANGUAGES and seen.cls == "read":
        return 0.0
    return 0.86 if _table(seen) is not None else 0.0


def sketch(seen: Observed) -> Sketch:
    """Rows and columns, then rows."""
    table = _table(seen)
    if table is None:
        value = json_value.parsed(seen.text)
        table = _from_json(value)
        if table is None:
            return json_value.of(seen, value)
    columns = Names(table.columns, before="columns ") if table.columns else Phrase(several(table.width, "column"))
    parts: list[Part] = [Phrase(several(table.rows, "row")), columns]
    if seen.cut:
        parts.append(Phrase("cut by the tool"))
    return Sketch((*parts, Lines([clip(row, _LONGEST) for row in table.sample])))


def _table(seen: Observed) -> Table | None:
    lines = [line.strip() for line in seen.top]
    return (
        json_lines(seen.text, lines)
        or boxed(seen.text, lines)
        or delimited(seen.text, seen.head, sure=seen.suffix in _FILES)
    )


def _from_json(value: object) -> Table | None:
    """A list of objects that share their keys."""
    if not isinstance(value, list) or len(value) < 2 or not all(isinstance(row, dict) and row for row in value):
        return None
    keys = dict.fromkeys(key for row in value[:50] for key in row)
    if len(keys) > 2 * len(value[0]) or len(keys) > 40:
        return None
    shown = value if len(value) <= SAMPLES else [*value[: SAMPLES - 1], value[-1]]
    sample = tuple(", ".join(json_value.brief(item) for item in row.values()) for row in shown)
    return Table(tuple(map(flat, keys)), len(keys), len(value), sample)
