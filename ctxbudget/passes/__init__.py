"""Passes: one way each to shrink a view. One file per pass, found by folder scan.

A pass is a frozen dataclass named after its file (``clear_tool_results.py`` → ``ClearToolResults``). Its fields are
its options, each with a docstring under it; its own docstring says in one line what it does, then what it keeps, what
it costs, how it fails and when to use it. ``plan`` is pure: it reads a view, the log of all fragments born so far
included, and gives edits that speak of this view and do not overlap, the ones to do first in front. It may bring
originals back, and may add notes about what it could not do.
"""

from __future__ import annotations

import ast
import re
from dataclasses import MISSING, dataclass, fields
from inspect import cleandoc, getdoc, getmodule, getsource
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from ctxbudget.errors import ConfigError
from ctxbudget.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from ctxbudget.trace import Edit
    from ctxbudget.view import Note, View


class Pass(Protocol):
    """One way to shrink a view."""

    def plan(self, view: View) -> Iterable[Edit | Note]:
        """What to change in this view."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a pass: its name, type as written, default, and what it means."""

    name: str
    type: str
    default: Any
    text: str


@dataclass(frozen=True, slots=True)
class Described:
    """What a listing shows of a pass."""

    name: str
    description: str
    keeps: str
    costs: str
    fails: str
    use_when: str
    options: tuple[Option, ...]


def class_of(name: str, module: ModuleType) -> type[Pass]:
    """The pass in a module: the class named after the file. Raises ConfigError where there is none."""
    title = "".join(part.capitalize() for part in name.split("-"))
    found = getattr(module, title, None)
    if not isinstance(found, type) or not hasattr(found, "plan"):
        raise ConfigError(f"pass {name!r}: its module has no class {title} with a plan()")
    return found


PASSES: Registry[type[Pass]] = Registry("pass", "ctxbudget.passes", pick=class_of)


def name_of(one: Pass | type[Pass]) -> str:
    """The name a pass goes by: its class name, in small letters with dashes."""
    title = one.__name__ if isinstance(one, type) else type(one).__name__
    return re.sub(r"(?<!^)(?=[A-Z])", "-", title).lower()


def describe(name: str) -> Described:
    """A pass, from its docstrings.

    Raises UnknownName where there is none.
    """
    kind = PASSES.get(name)
    parts = sections(getdoc(kind) or "")
    return Described(
        name,
        parts.get("", ""),
        parts.get("keeps", ""),
        parts.get("costs", ""),
        parts.get("fails", ""),
        parts.get("use when", ""),
        options(kind),
    )


def sections(doc: str) -> dict[str, str]:
    """A docstring by its labelled lines (``Keeps: …``); the text before them has no label."""
    found: dict[str, str] = {}
    label = ""
    for line in doc.splitlines():
        match = re.match(r"(Keeps|Costs|Fails|Use when): *(.*)", line)
        label, text = (match[1].lower(), match[2]) if match else (label, line.strip())
        found[label] = f"{found.get(label, '')} {text}".strip()
    return found


def options(kind: type[Pass]) -> tuple[Option, ...]:
    """The options of a pass, with the docstrings under its fields."""
    texts = _field_docs(kind)
    return tuple(
        Option(one.name, str(one.type), _default(one), texts.get(one.name, ""))
        for one in fields(kind)  # type: ignore[arg-type]  # every pass is a dataclass
    )


def _default(one: Any) -> Any:
    if one.default is not MISSING:
        return one.default
    return one.default_factory() if one.default_factory is not MISSING else None


def _field_docs(kind: type[Pass]) -> dict[str, str]:
    module = getmodule(kind)
    if module is None:
        return {}
    tree = ast.parse(getsource(module))
    body = next((one.body for one in tree.body if isinstance(one, ast.ClassDef) and one.name == kind.__name__), [])
    found = {}
    for field, doc in pairwise(body):
        named = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if named and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            found[field.target.id] = " ".join(cleandoc(str(doc.value.value)).split())  # type: ignore[attr-defined]
    return found
