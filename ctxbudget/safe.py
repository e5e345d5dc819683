"""Text from a trace made harmless for where it goes: a terminal, the log of a build, a page, a cell, XML, JSON.

A transcript holds whatever a model or a web page said. Shown raw it could move the cursor, retitle the window, turn
the reading direction round, run a formula or notify a stranger.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_HARMFUL = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # C0 (escape among them), delete, C1
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides, isolates
    r"\u2028\u2029"  # line and paragraph separators
    r"\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # hides text in text
    r"\ud800-\udfff]"  # halves of a pair, which no encoding carries
    r"|(?<=#)#(?=[A-Za-z]*\[)"  # ##[command], ##vso[command]: obeyed anywhere in a line of a build's log
)
"""Joiners (U+200C, U+200D) and variation selectors stay: scripts and emoji need them, and they do no harm."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_PIPE = re.compile(r"(\\*)\|")
_BACKTICKS = re.compile(r"`+")
_NONCHARACTERS = re.compile(r"[\ufffe\uffff]")
"""What XML 1.0 cannot hold and ``_HARMFUL`` does not cover."""
_WORKFLOW = re.compile(r"(\s*):(?=:)")
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the start of a formula; some read the full-width forms like the others."""
_IN_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = _IN_DATA | str.maketrans({":": "%3A", ",": "%2C"})
"""Of a workflow command, as the GitHub runner reads them back (actions/toolkit, packages/core/src/command.ts)."""


def visible(text: str) -> str:
    r"""One line with nothing in it that acts: control, direction and invisible characters become escapes (``\x1b``)."""
    return _HARMFUL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def code_span(text: str) -> str:
    """A Markdown code span, safe in a table cell: inside it there is no HTML, image, link or mention."""
    shown = visible(text)
    if not shown.strip():
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{_PIPE.sub(_piped, shown)}{pad}{fence}"


def _piped(match: re.Match[str]) -> str:
    """A table cell ends at a pipe unless a backslash stands before it; behind other backslashes that one would be
    taken as one of theirs, so there the pipe becomes a broken bar."""
    return f"{match[1]}\N{BROKEN BAR}" if match[1] else r"\|"


def csv_cell(text: str) -> str:
    """A spreadsheet cell that stays text: a start that means a formula, or a command to a log that the table is
    printed to, gets an apostrophe before it."""
    shown = visible(text)
    acts = text[:1] in {"\t", "\r", "\n"} or shown.lstrip().startswith(_FORMULA) or log_line(shown) != shown
    return f"'{shown}" if acts else shown


def unicode_text(text: str) -> str:
    """Text that UTF-8 can carry: halves of a surrogate pair become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def encodable(value: Any) -> Any:
    """A value of JSON with every text in it through ``unicode_text``."""
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, dict):
        return {unicode_text(key): encodable(item) for key, item in value.items()}
    return [encodable(item) for item in value] if isinstance(value, list | tuple) else value


def log_line(line: str) -> str:
    """A line for a log: a workflow command at its start (``::error::``) becomes text."""
    match = _WORKFLOW.match(line)
    return line if match is None else rf"{match[1]}\x3a{line[match.end() :]}"


def command_data(lines: Iterable[str]) -> str:
    """The message of a GitHub workflow command, line by line."""
    return "\n".join(map(visible, lines)).translate(_IN_DATA)


def command_property(text: str) -> str:
    """A property of one, such as its file."""
    return visible(text).translate(_IN_PROPERTY)


def xml_text(text: str) -> str:
    """Text that XML 1.0 can hold, before its own escapes."""
    return _NONCHARACTERS.sub("\ufffd", visible(text))
