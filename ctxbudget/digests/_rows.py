"""Rows and columns in text: CSV and its like, boxes of database clients, Markdown, JSON Lines."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from io import StringIO
from itertools import islice

SAMPLES = 3
"""Rows shown."""

_SEPARATORS = (",", ";", "\t", "|")
_NAME = re.compile(r"[A-Za-z_*#][\w .()/%#*:-]{0,60}\Z|[^\W\d_][^\n,;|]{0,60}\Z")
_BLANK = re.compile(r"\n(?=[ \t\r]*(?:\n|\Z))")
_RULE = re.compile(r"(?=.{0,200}?[-─═━]{2})[ \t|+:┼├┤═╪╞╡╟╢─━-]+\Z")
_BAR = re.compile(r"[ \t]*[|│║┃][ \t]*")
_GAPS = re.compile(r"[ \t]{2,}|\t")
_COUNT = re.compile(r"^\((\d+) rows?\)|^(\d+) rows? in set", re.MULTILINE)
_LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class Table:
    """Columns by name (empty where they have none), how many; rows, and some of them as they stand."""

    columns: tuple[str, ...]
    width: int
    rows: int
    sample: tuple[str, ...]


def delimited(text: str, head: str, sure: bool) -> Table | None:
    """CSV, TSV and their like; ``sure`` where the file's name says so. ``head`` is the beginning of ``text``."""
    whole = head if len(head) == len(text) else head[: head.rfind("\n") + 1]
    for separator in _SEPARATORS:
        rows = _read(whole, separator)
        width = len(rows[0]) if rows else 0
        if width < 2 or any(len(row) != width for row in rows) or len(rows) < (2 if sure else 3):
            continue
        if width > 2 or sure or separator == "\t":
            return _table(text, rows, separator, sure)
    return None


def _read(head: str, separator: str) -> list[list[str]]:
    """The first records; none where the first line does not hold the separator."""
    if separator not in head.partition("\n")[0]:
        return []
    try:
        return list(islice((row for row in csv.reader(StringIO(head), delimiter=separator) if row), _LOOKED_AT))
    except csv.Error:
        return []


def _table(text: str, rows: list[list[str]], separator: str, sure: bool) -> Table | None:
    header = [field.strip() for field in rows[0]]
    named = _is_header(header)
    if not named and not sure and len(rows) < 5:
        return None
    total = _records(text, separator) - named
    body = [" ".join(separator.join(row).split("\n")) for row in rows[named:]]
    if total > SAMPLES and '"' not in text:
        body = [*body[: SAMPLES - 1], text.rstrip().rpartition("\n")[2].strip()]
    return Table(tuple(header) if named else (), len(header), total, tuple(body[:SAMPLES]))


def _is_header(fields: list[str]) -> bool:
    return all(_NAME.match(field) for field in fields) and len(set(fields)) == len(fields)


def _records(text: str, separator: str) -> int:
    """Records that are not blank; a quoted field may hold line ends."""
    text = text.strip()
    if '"' in text:
        try:
            return sum(1 for row in csv.reader(StringIO(text), delimiter=separator) if row)
        except csv.Error:
            pass
    return filled(text)


def filled(text: str) -> int:
    """Lines that are not blank."""
    text = text.strip()
    return text.count("\n") + 1 - len(_BLANK.findall(text)) if text else 0


def boxed(text: str, lines: list[str]) -> Table | None:
    """Tables drawn with rules: psql, mysql, sqlite, DuckDB, Markdown."""
    place = next((at for at, line in enumerate(lines[:_LOOKED_AT]) if at and _RULE.match(line)), None)
    if place is None:
        return None
    if _RULE.match(lines[place - 1]) or (place > 1 and not _RULE.match(lines[place - 2]) and "|" not in lines[place]):
        return None
    columns = _cells(lines[place - 1])
    body = [line for line in lines[place + 1 :] if not _RULE.match(line)]
    if len(columns) < 2 or not body:
        return None
    start = text.find(lines[place], text.find(lines[place - 1]))
    rows, sample = _body(text[text.find("\n", start) + 1 :], bars=bool(_BAR.search(lines[place - 1])))
    shown = tuple(" | ".join(_cells(row)) for row in sample[:SAMPLES])
    return Table(tuple(columns), len(columns), rows, shown) if rows else None


def _body(text: str, *, bars: bool) -> tuple[int, list[str]]:
    """Rows up to a blank line, a line without bars or the client's own count; rules between them do not count."""
    rows, sample = 0, list[str]()
    for line in text.split("\n"):
        if _RULE.match(line):
            continue
        if not line.strip() or (bars and not _BAR.search(line)) or _COUNT.match(line):
            break
        rows += 1
        if len(sample) < SAMPLES:
            sample.append(line)
    return rows, sample


def _cells(line: str) -> list[str]:
    line = line.strip()
    if _BAR.search(line):
        return [cell.strip() for cell in _BAR.split(line.strip("|│║┃ \t"))]
    return [cell.strip() for cell in _GAPS.split(line)]


def json_lines(text: str, lines: list[str]) -> Table | None:
    """One JSON object a line."""
    if len(lines) < 2 or not all(line.startswith("{") and line.endswith("}") for line in lines[:SAMPLES]):
        return None
    keys: dict[str, None] = {}
    for line in islice(lines, SAMPLES):
        try:
            keys.update(dict.fromkeys(map(str, json.loads(line, parse_int=str, parse_float=str))))
        except (ValueError, RecursionError):
            return None
    rows = filled(text)
    last = [text.rstrip().rpartition("\n")[2].strip()] if rows > SAMPLES else lines[SAMPLES - 1 : SAMPLES]
    return Table(tuple(keys), len(keys), rows, (*lines[: SAMPLES - 1], *last))
