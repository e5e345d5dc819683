"""A chat session as a log of changes (VS Code since late 2025) → the session as it stands in the end.

The first line is the whole session, each further one a change of one place: set, push, delete
(microsoft/vscode ``objectMutationLog.ts``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxbudget.records import Reading

MOST_GAP = 1_000
"""Places that a change may leave empty in a list."""
COUNTED = ("promptTokens", "completionTokens")
"""Counts of a request that are set again after each of its rounds: the latest prompt, and all output so far."""
OVER_TIME = " over time"
"""Behind the name of such a count: all values that it had, a list that only this reading makes."""


def states(reading: Reading) -> list[dict[str, Any]]:
    """The documents of a file; of a log of changes, what comes of it."""
    found: list[dict[str, Any]] = []
    for record in reading.unwrap():
        match record.data:
            case {"kind": 0, "v": dict(whole)}:
                if found and found[-1].get("sessionId") == whole.get("sessionId"):
                    found.pop()  # written whole again
                found.append(whole)
            case {"kind": int(kind), "k": list(path)} if found:
                if _change(found[-1], kind, path, record.data):
                    _note_count(found[-1], kind, path)
                else:
                    reading.note("lost-change", f"a change that fits nothing, left out (line {record.line})")
            case dict(data):
                found.append(data)
    return found


def _change(whole: dict[str, Any], kind: int, path: list[Any], data: dict[str, Any]) -> bool:
    """Make one change; False if its place is not there."""
    place: Any = whole
    for step in path[:-1]:
        if not _has(place, step):
            return False
        place = place[step]
    if not path:
        return False
    last = path[-1]
    match kind:
        case 1:
            return _put(place, last, data.get("v"))
        case 2:
            return _push(place, last, data)
        case 3 if _has(place, last):
            del place[last]
            return True
    return False


def _note_count(whole: dict[str, Any], kind: int, path: list[Any]) -> None:
    match path:
        case ["requests", int(at), str(name)] if kind == 1 and name in COUNTED:
            request = whole["requests"][at]
            if isinstance(request, dict):
                request.setdefault(f"{name}{OVER_TIME}", []).append(request[name])


def _push(place: Any, key: Any, data: dict[str, Any]) -> bool:
    """Append to a list, after cutting it to ``i`` items where that is given."""
    if isinstance(place, dict) and isinstance(key, str):
        place.setdefault(key, [])
    if not _has(place, key) or not isinstance(place[key], list):
        return False
    items, cut, more = place[key], data.get("i"), data.get("v")
    if type(cut) is int and 0 <= cut < len(items):
        del items[cut:]
    items.extend(more if isinstance(more, list) else [])
    return True


def _put(place: Any, key: Any, value: Any) -> bool:
    if isinstance(place, dict) and isinstance(key, str):
        place[key] = value
        return True
    if isinstance(place, list) and type(key) is int and 0 <= key <= len(place) + MOST_GAP:
        place.extend([None] * (key + 1 - len(place)))
        place[key] = value
        return True
    return False


def _has(place: Any, key: Any) -> bool:
    if isinstance(place, list):
        return type(key) is int and 0 <= key < len(place)
    return isinstance(place, dict) and isinstance(key, str) and key in place
