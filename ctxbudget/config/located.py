"""YAML → plain data, and the line of every key.

The safe subset that settings need: mappings, lists, texts, numbers, true and false. A tag, an anchor or an alias is
refused: a file found in a checkout must not build objects, nor grow without end.
"""

from __future__ import annotations

from typing import Any, Final

import yaml

from ctxbudget.errors import ConfigError

DEEPEST: Final = 20
"""Levels of nesting; the settings have five."""

_PLAIN: Final = {
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
}
_NUMBERS: Final = {"tag:yaml.org,2002:int": int, "tag:yaml.org,2002:float": float}


def parsed(text: str, path: str) -> tuple[dict[str, Any], dict[tuple[str, ...], int]]:
    """The mapping in a YAML text, and the line of each key path. Raises ConfigError with the line of what is wrong."""
    _flat(text, path)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = path if mark is None else f"{path}:{mark.line + 1}"
        raise ConfigError(f"{where}: {error.problem or error.context}", hint="it is read as YAML") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise ConfigError(f"{path}: {said or 'nested too deep'}", hint="it is read as YAML") from None
    if node is None:
        return {}, {}
    if not isinstance(node, yaml.MappingNode):
        raise _wrong(node, path, "the file is no mapping", "write names and values, as in context_budget:")
    lines: dict[tuple[str, ...], int] = {}
    return _mapping(node, path, (), lines), lines


def _flat(text: str, path: str) -> None:
    """Refuse what the parser would follow without end. The events are read one by one, so nothing grows."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise _wrong(event, path, "an anchor or an alias", "write the value out: references are not read here")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise _wrong(event, path, "nested too deep", "the settings have a few levels")
    except (yaml.YAMLError, ValueError):
        return  # told, with its line, when the text is composed


def _mapping(node: Any, path: str, keys: tuple[str, ...], lines: dict[tuple[str, ...], int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _wrong(key, path, "a name that is no text", "names are plain words")
        name = str(key.value)
        if name in found:
            raise _wrong(key, path, f"{name!r} stands here twice", "keep one of them")
        inner = (*keys, name)
        lines[inner] = key.start_mark.line + 1
        found[name] = _value(value, path, inner, lines)
    return found


def _value(node: Any, path: str, keys: tuple[str, ...], lines: dict[tuple[str, ...], int]) -> Any:
    if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
        return _mapping(node, path, keys, lines)
    if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        found = []
        for number, one in enumerate(node.value):
            inner = (*keys, str(number))
            lines[inner] = one.start_mark.line + 1
            found.append(_value(one, path, inner, lines))
        return found
    if isinstance(node, yaml.ScalarNode) and node.tag in _PLAIN:
        return _scalar(node)
    raise _wrong(node, path, f"a value of the type {node.tag}", "texts, numbers, true, false, lists and mappings")


def _scalar(node: Any) -> Any:
    """Numbers that YAML writes in ways of its own (``1_000``, ``0x10``, ``.inf``) stay texts: the setting judges."""
    match node.tag.rpartition(":")[2]:
        case "bool":
            return node.value.lower() in {"true", "yes", "on"}
        case "null":
            return None
        case "int" | "float":
            try:
                return _NUMBERS[node.tag](node.value)
            except (ValueError, OverflowError):
                return str(node.value)
    return str(node.value)


def _wrong(at: Any, path: str, what: str, hint: str) -> ConfigError:
    return ConfigError(f"{path}:{at.start_mark.line + 1}: {what}", hint=hint)
