"""Failures: what went wrong in a result, in one line, and the later success of the same call."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ctxbudget.resources import ACT, PLAN, READING, changes
from ctxbudget.summaries.extract.naming import called, cut
from ctxbudget.summaries.sections import Item
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ctxbudget.summaries.blocks import Piece
    from ctxbudget.trace import Fragment

_LENGTH = 220
_PARSED = 60_000
"""Characters of a JSON result that are worth parsing to see whether it is an error."""
_RAISED = re.compile(
    r"^[ \t]{0,12}(?:E\s{1,8})?((?:\w{1,60}\.){0,6}\w{0,60}(?:Error|Exception|SystemExit|Interrupt)\b(?::.{0,300})?)$",
    re.MULTILINE,
)
_TESTS = re.compile(r"^(?:FAILED |FAIL(?:: ?|\s{1,4}(?=\S))|--- FAIL: |not ok ).{1,200}$", re.MULTILINE)
_SAYS = re.compile(
    r"^\W{0,8}(?:(?:[\w./-]{1,60}:\s)?(?:fatal|error|panic|failed|failure|cannot|could not|permission denied)\b"
    r"|.{0,120}(?:command not found|No such file or directory)).{0,300}$",
    re.MULTILINE | re.IGNORECASE,
)
_REFUSED = re.compile(
    r"(?<![\w/.-])(?:not (?:applied|changed|done|found|saved)|refused|rejected|failed|error|invalid|denied)"
    r"(?![\w/]|[.-]\w)",
    re.IGNORECASE,
)
"""In the first line of what a changing call answers."""
_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|return ?code|exit_code\"?)\s?[:= ]\s?(-?\d{1,5})\b", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-z][\w-]{0,40}>")
_TALLY = 90
"""Characters of a last line that counts as a tally: ``1447 cases, 1293 passed, 154 failed``."""
_TOLD = re.compile(r"\w\S*\s.*[^:]\Z")
_SAID = re.compile(r"^.*\w.*$", re.MULTILINE)
OPEN, FIXED = 32.0, 18.0
_WORKED, _INSTEAD = "; worked at turn ", "; with other arguments it worked at turn "


def signature(result: Fragment, text: str) -> str:
    """What a result says went wrong, in one line; empty where it reports no failure.

    The content of a file or a search hit may speak of errors without being one: there only the recording's own flag
    or an error object counts.
    """
    said = _object(text)
    if not said and (result.error or not _copies(result)):
        said = _run(text, flagged=result.error)
    if not said and (result.error or (changes(result.resource) and _REFUSED.search(_first(text)[:_LENGTH]))):
        said = _first(text) or "failed"
    return cut(said, _LENGTH)


def failures(
    results: Sequence[Piece], calls: Mapping[str, Fragment], failed: Mapping[str, str], earlier: Sequence[str]
) -> Iterator[Item]:
    """One item per call that failed, with its last failure and when the same call worked again.

    ``calls`` are the calls of the span by id; ``failed`` says what went wrong in which result; ``earlier`` are items
    of the summary so far, which a success here closes.
    """
    found = {text.partition(", turn ")[0]: text for text in earlier}
    for piece in results:
        call = calls.get(piece.fragment.call or "")
        if call is None:
            continue
        name, turn = called(call), named_turn(piece.fragment)
        said = failed.get(piece.fragment.id)
        if said:
            found[name] = f"{name}, turn {turn}: {said}{_naming(piece.text, said)}"
        else:
            _close(found, call, name, turn)
    for name, text in found.items():
        yield Item("errors", text, weight(text), key=name)


def weight(text: str) -> float:
    """What the item of a failure is worth: less once the call has worked."""
    return FIXED if _WORKED in text else (OPEN + FIXED) / 2 if _INSTEAD in text else OPEN


def _close(found: dict[str, str], call: Fragment, name: str, turn: int) -> None:
    """A call worked: say so where it had failed, or where the same action had failed with other arguments."""
    if name in found and _WORKED not in found[name]:
        found[name] += f"{_WORKED}{turn}"
    if call.resource is not None and call.resource.cls == ACT:
        for other, text in found.items():
            if other != name and other.startswith(f"{call.tool}(") and "worked at turn" not in text:
                found[other] = f"{text}{_INSTEAD}{turn}"


def _copies(result: Fragment) -> bool:
    return result.resource is not None and result.resource.cls in READING | {PLAN}


def _naming(text: str, said: str) -> str:
    """The ids that an error object names beside its message: often the only handle on the attempt."""
    ids = re.findall(r"\"(\w{0,20}_?id)\"\s?:\s?\"([\w.:-]{4,60})\"", text[:_PARSED])
    return "".join(f" [{name} {value}]" for name, value in ids[:3] if value not in said)


def _object(text: str) -> str:
    """The message of a JSON object that is an error."""
    start = text.lstrip()[:1]
    if start != "{" or len(text) > _PARSED:
        return ""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    error = data.get("error") or data.get("errors")
    if error:
        return _told(error)
    failed = data.get("success") is False or data.get("ok") is False or data.get("status") in {"error", "failed"}
    return _told(data) if failed else ""


def _told(error: Any) -> str:
    if isinstance(error, dict):
        parts = [error.get(key) for key in ("code", "type", "message", "detail", "reason")]
        return (
            ": ".join(dict.fromkeys(str(part) for part in parts if isinstance(part, str | int)))
            or json.dumps(error)[:400]
        )
    return error[:400] if isinstance(error, str) else json.dumps(error)[:400]


def _run(text: str, *, flagged: bool) -> str:
    """What a command says: failed tests and the last exception, else the line that complains; then its last line."""
    code = _exit(text)
    said = "; ".join(filter(None, (_tests(text), _raised(text))))
    if not said and (flagged or code):
        found = _SAYS.search(text[-_PARSED:])
        said = found[0].strip() if found else f"exit code {code}" if code else ""
    last = text.rstrip().rpartition("\n")[2].strip()
    tally = f"; {last}" if code and said and len(last) <= _TALLY and _TOLD.search(last) and last not in said else ""
    return said + tally


def _raised(text: str) -> str:
    """The last exception of a traceback, or of a run that ended badly."""
    if "Traceback (most recent call last)" not in text and not _exit(text):
        return ""
    lines = _RAISED.findall(text[-_PARSED:])
    return lines[-1] if lines else ""


def _tests(text: str) -> str:
    """The first failed tests, and how many more there are."""
    lines = [" ".join(match[0].split()) for match in _TESTS.finditer(text[-_PARSED:])]
    more = f" (and {len(lines) - 2} more)" if len(lines) > 2 else ""
    return "; ".join(lines[:2]) + more


def _exit(text: str) -> str:
    """The exit code that a command's output names near its start or end; empty where it is 0 or none is named."""
    found = _EXIT.search(text[:400]) or _EXIT.search(text[-400:])
    return found[1] if found and int(found[1]) else ""


def _first(text: str) -> str:
    """The first line with a word in it, without the tags of a harness round it."""
    line = _SAID.search(_TAG.sub("", text[:_PARSED]))
    return line[0].strip() if line else ""
