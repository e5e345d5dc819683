"""Attributes: typed values, JSON in strings, and names that are paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import parsed
from ctxbudget.message_lists import opening

if TYPE_CHECKING:
    from collections import Counter

INSTANT_DIGITS = 20
"""Digits of nanoseconds since 1970, so that their texts sort like the numbers."""

MOST_STEPS = 24
"""Steps of a path; what is longer is damaged."""


def loaded(value: Any, skipped: Counter[str] | None) -> Any:
    """The value, or what the JSON in it says; of JSON that a length limit cut, what is whole: ``skipped`` counts it."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    inner = parsed(value)
    if inner is not None:
        return inner
    found = opening(value.encode(errors="replace"))
    if found and skipped is not None:
        skipped["attribute cut off by a length limit: its beginning is used"] += 1
    return found[0] if found else value


def attributes(given: Any) -> dict[str, Any]:
    """Attributes by name: OTLP's list of keys and typed values, or an object (flat or nested) as it is."""
    if isinstance(given, list):
        pairs = [item for item in given if isinstance(item, dict) and isinstance(item.get("key"), str)]
        return {item["key"]: _value(item.get("value")) for item in pairs}
    return given if isinstance(given, dict) else {}


def _value(value: Any) -> Any:
    match value:
        case {"stringValue": inner} | {"boolValue": inner} | {"doubleValue": inner} | {"bytesValue": inner}:
            return inner
        case {"string_value": inner} | {"bool_value": inner} | {"double_value": inner}:
            return inner
        case {"intValue": inner} | {"int_value": inner}:
            return int(inner) if isinstance(inner, str) and inner.isdecimal() and len(inner) < INSTANT_DIGITS else inner
        case {"arrayValue": {"values": list(items)}} | {"array_value": {"values": list(items)}}:
            return [_value(item) for item in items]
        case {"kvlistValue": {"values": list(items)}} | {"kvlist_value": {"values": list(items)}}:
            return attributes(items)
    return None if isinstance(value, dict) else value


def nested(attributes: dict[str, Any], prefix: str) -> Any:
    """What stands under ``prefix``, as it is or put together from longer names; None if nothing does.

    Numbers in names are places of a list, in the order of their values (10 comes after 9), gaps closed.
    """
    whole = _within(attributes, prefix)
    if whole is not None:
        return whole
    root: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(prefix) and name[len(prefix) : len(prefix) + 1] == ".":
            steps = name[len(prefix) + 1 :].split(".", MOST_STEPS)
            _put(root, steps, value)
    return _listed(root) if root else None


def _within(attributes: dict[str, Any], prefix: str) -> Any:
    """The value under that very name, or under its steps one by one."""
    if prefix in attributes:
        return attributes[prefix]
    at: Any = attributes
    for step in prefix.split("."):
        if not isinstance(at, dict) or step not in at:
            return None
        at = at[step]
    return at


def _put(root: dict[str, Any], steps: list[str], value: Any) -> None:
    *before, last = steps
    for step in before:
        inner = root.get(step)
        if not isinstance(inner, dict):
            inner = root[step] = {}
        root = inner
    root[last] = value


def _listed(value: Any) -> Any:
    """Objects whose keys are all numbers become lists."""
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(item) for key, item in value.items()}
    if inner and all(key.isascii() and key.isdecimal() and len(key) < MOST_STEPS for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner
