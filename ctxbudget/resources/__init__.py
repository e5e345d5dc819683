"""Tool calls → what they work on: a class and a target.

    resource("Read", {"file_path": "/w/a.py", "limit": 50})        read  /w/a.py  (1, 50)
    resource("shell", {"command": "cd /w && sed -n '5,9p' a.py"})  read  /w/a.py  (5, 9)
    resource("Grep", {"pattern": "def f", "path": "src"})          search  def f in src
    resource("get_user", {"id": 7})                                retrieval  get_user(id=7)

A target is an identity: two calls with the same class and target work on the same thing. ``read`` promises more: the
result is the file, or the lines of its span; so a command that makes something else of a file is not a ``read``.
Spans are first and last line, 1-based; negative numbers count from the end, so (10, -1) is from line ten on.
"""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ctxbudget.errors import ConfigError
from ctxbudget.resources import arguments, shell
from ctxbudget.resources.arguments import Args
from ctxbudget.resources.calls import FINDERS, call_text
from ctxbudget.resources.classes import (
    ACT,
    ASK,
    BROWSER,
    CHANGING,
    CLASSES,
    CREATE,
    DELEGATE,
    EDIT,
    FETCH,
    IMAGE,
    LIST,
    MEMORY,
    OTHER,
    PLAN,
    READ,
    READING,
    RETRIEVAL,
    SCREENSHOT,
    SEARCH,
    SHELL,
    TEST,
    UNSURE,
    WRITE,
)
from ctxbudget.resources.found import Found
from ctxbudget.resources.guess import guess
from ctxbudget.resources.names import known, tail
from ctxbudget.resources.paths import below, is_url, normal
from ctxbudget.resources.paths import same as same_path
from ctxbudget.trace import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "ACT", "ASK", "BROWSER", "CHANGING", "CLASSES", "CREATE", "DELEGATE", "EDIT", "FETCH", "IMAGE", "LIST", "MEMORY",
    "OTHER", "PLAN", "READ", "READING", "RETRIEVAL", "SCREENSHOT", "SEARCH", "SHELL", "TEST", "UNSURE", "WRITE", "Args",
    "changes",
    "covers", "is_plan", "is_retrieval", "may_change", "reads", "resource", "same_path", "targets", "with_rules",
]  # fmt: skip


def resource(tool: str, args: Args, *, rules: Mapping[str, str] | None = None, cwd: str | None = None) -> Resource:
    """What a call works on. Never raises, whatever the name and the arguments.

    ``rules`` maps patterns of tool names to classes and wins over the built-in vocabulary (see ``with_rules``).
    ``cwd`` is the session's own directory where the recording names it: paths below it become relative, so that
    ``/w/a.py`` and ``a.py`` are one file.
    """
    found = _found(tool, args, rules, cwd)
    return Resource(found.cls, found.target, found.span if found.names or found.cls == SEARCH else None)


def targets(
    tool: str, args: Args, *, rules: Mapping[str, str] | None = None, cwd: str | None = None
) -> tuple[str, ...]:
    """All files, directories or URLs that the call names: every file of a patch, both of ``cat a b``."""
    return _found(tool, args, rules, cwd).names


def with_rules(rules: Mapping[str, str]) -> Callable[..., Resource]:
    """``resource`` with a configuration's own patterns (fnmatch, any case) in front: ``{"mcp__crm__*": "fetch"}``.

    Raises ConfigError, with the nearest class, where a rule names no class.
    """
    for pattern, cls in rules.items():
        if cls not in CLASSES:
            near = get_close_matches(cls, sorted(CLASSES), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"classes: {', '.join(sorted(CLASSES))}"
            raise ConfigError(f"tool rule {pattern!r}: unknown class {cls!r}", hint=hint)
    return partial(resource, rules=dict(rules))


def changes(resource: Resource | None) -> bool:
    """Whether the call changed its target, so that earlier copies of it are stale."""
    return resource is not None and resource.cls in CHANGING


def may_change(resource: Resource | None) -> bool:
    """Whether the call could have changed anything: ``changes``, or a command or an agent that does more than look."""
    if resource is None or resource.cls != SHELL:
        return resource is None or resource.cls in CHANGING or resource.cls in UNSURE
    return resource.target is None or shell.may_change(resource.target)


def reads(resource: Resource | None) -> bool:
    """Whether the result is a copy of the target, or what was found there."""
    return resource is not None and resource.cls in READING


def covers(outer: Resource | None, inner: Resource | None) -> bool:
    """Whether the result of ``outer`` holds all that ``inner`` asked for: the same thing, and no line less."""
    if outer is None or inner is None or outer.target is None or (outer.cls, outer.target) != (inner.cls, inner.target):
        return False
    if outer.span is None or outer.span == inner.span:
        return True
    if inner.span is None or outer.span[0] < 0 or inner.span[0] < 0:
        return False
    low, high = outer.span
    return low <= inner.span[0] and (high < 0 or 0 < inner.span[1] <= high)


def is_retrieval(tool: str, resource: Resource | None) -> bool:
    """Whether the result is of kind ``retrieval``: it came from a search, knowledge or fetch tool.

    A shell that happens to run ``curl`` stays a shell; Grep, Glob and Read are not retrieval unless a rule says so.
    """
    return resource is not None and resource.cls in {RETRIEVAL, FETCH} and known(tool) != SHELL


def is_plan(tool: str, resource: Resource | None) -> bool:  # noqa: ARG001 - the pair that loaders hold
    """Whether the call is of kind ``plan``: it writes or reads the plan or the to-do list."""
    return resource is not None and resource.cls == PLAN


def _found(tool: str, args: Args, rules: Mapping[str, str] | None, cwd: str | None) -> Found:
    given = arguments.unpack(args)
    cls = (_ruled(tool, tuple(rules.items())) if rules else None) or known(tool)
    if cls is None:
        found = guess(tool, given, args)
    elif cls in FINDERS:
        found = FINDERS[cls](given)
    else:
        found = Found(cls, label=call_text(tail(tool), args))
    return _seen_from(found, normal(cwd)) if cwd else found


@lru_cache(maxsize=4096)
def _ruled(tool: str, rules: tuple[tuple[str, str], ...]) -> str | None:
    """The class of the first pattern that matches the name, as given or without its prefix."""
    names = (tool.lower(), tail(tool).lower())
    return next((cls for pattern, cls in rules if any(fnmatchcase(name, pattern.lower()) for name in names)), None)


def _seen_from(found: Found, root: str) -> Found:
    names = tuple(name if is_url(name) else below(name, root) for name in found.names)
    return Found(found.cls, names, found.span, found.label, found.title, found.weak)
