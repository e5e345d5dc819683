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
_QUOTED = re.compile(r'"(?:[^"\n]|"")*"')
_NAME = re.compile(r"[A-Za-z_*#][\w .()/%#*:-]{0,60}\Z|[^\W\d_][^\n,;|]{0,60}\Z")
_BLANK = re.compile(r"\n(?=[ \t\r]*(?:\n|\Z))")
_RULE = re.compile(r"[ \t]*[|+:┼├┤═╪╞╡╟╢─━-]*[-─═━]{2,}[|+:┼├┤═╪╞╡╟╢─━ \t-]*\Z")
_BAR = re.compile(r"[ \t]*[|│║┃][ \t]*")
_GAPS = re.compile(r"[ \t]{2,}|\t")
_COUNT = re.compile(r"^\((\d+) rows?\)|^(\d+) rows? in set", re.MULTILINE)
_LOOKED_AT = 10
_LONGEST_FIELD = 2_000


@dataclass(frozen=True, slots=True)
class Table:
    """Columns by name (empty where they have none), how many; rows, and some of them as they stand."""

    columns: tuple[str, ...]
    width: int
    rows: int
    sample: tuple[str, ...]


def delimited(text: str, lines: list[str], sure: bool) -> Table | None:
    """CSV, TSV and their like; ``sure`` where the file's name says so. ``lines`` are the first of ``text``."""
    separator = _separator(lines[:_LOOKED_AT], sure)
    if separator is None:
        return None
    header = _fields(lines[0], separator)
    named = _is_header(header)
    if not named and not sure and len(lines) < 5:
        return None
    rows = _records(text, separator) - named
    body = lines[1:] if named else lines
    return Table(tuple(header) if named else (), len(header), rows, _samples(body, text, rows))


def _separator(lines: list[str], sure: bool) -> str | None:
    """What stands equally often in every line; at least twice where nothing else says that this is a table."""
    plain = [_QUOTED.sub('""', line) for line in lines]
    for separator in _SEPARATORS:
        counts = {line.count(separator) for line in plain}
        least = min(counts, default=0)
        if len(counts) == 1 and (least > 1 or (least and (sure or separator == "\t"))) and (len(lines) > 2 or sure):
            return separator
    return None


def _fields(line: str, separator: str) -> list[str]:
    return [field.strip() for field in next(csv.reader([line[:_LONGEST_FIELD]], delimiter=separator), [])]


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


def _samples(body: list[str], text: str, rows: int) -> tuple[str, ...]:
    """The first two rows and the last."""
    if rows <= SAMPLES:
        return tuple(body[:SAMPLES])
    return (*body[: SAMPLES - 1], text.rstrip().rpartition("\n")[2].strip())


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
    rows, sample = _body(text, lines[place], bars=bool(_BAR.search(lines[place - 1])))
    shown = tuple(" | ".join(_cells(row)) for row in sample[:SAMPLES])
    return Table(tuple(columns), len(columns), rows, shown) if rows else None


def _body(text: str, rule: str, *, bars: bool) -> tuple[int, list[str]]:
    """Rows below the rule up to a blank line or a line without bars, by the client's own count where it gives one."""
    start = text.find("\n", text.find(rule) + len(rule) - 1) + 1
    rows, sample = 0, list[str]()
    for line in text[start:].split("\n"):
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
    return Table(tuple(keys), len(keys), rows, _samples(lines, text, rows))
