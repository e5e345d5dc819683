"""A snapshot of a page as a tree of elements: address, title, headings, and what can be acted on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.digests._blobs import without_blobs
from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._sketch import Sketch, fitted
from ctxbudget.digests._wording import clip, flat, several, whole_lines
from ctxbudget.resources import READ, SEARCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.95
ACTIONABLE = (
    "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "slider", "spinbutton", "listbox",
    "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem", "option", "input", "select", "textarea",
    "link",
)  # fmt: skip
"""Roles that something can be done with (WAI-ARIA 1.2, widget roles), links last: pages have most of them."""
_FIELDS = frozenset({
    "textbox", "searchbox", "combobox", "spinbutton", "slider", "listbox", "input", "select", "textarea",
})  # fmt: skip
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_SAID = frozenset({"paragraph", "text", "StaticText", "alert", "status"})
_OTHERS = ("heading", "row", "table", "dialog", "form", "navigation", "main", "banner", "img")
_ROLES = "|".join(sorted({*ACTIONABLE, *_CELLS, *_SAID, *_OTHERS}, key=len, reverse=True))

_LINE = re.compile(
    rf"^[ \t]*(?:- |\*+ )?(?P<before>(?:uid=\S+ |\[[\w-]+\][ :]? ?|ref=\S+ )?)'?(?P<role>{_ROLES})\b"
    r"(?:[ :]+(?:\"(?P<name>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>[^'\n]*)'))?(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
"""A line of Playwright's (``- button "Save" [ref=e12]``), of a numbered tree (``[12] button 'Save'``) or of Chrome's
(``uid=1_2 button "Save"``)."""
_URL = re.compile(r"^[ \t#*-]*(?:Page )?(?:URL|url|Url)(?:\*\*)?: *(\S+)", re.MULTILINE)
_TITLE = re.compile(
    r"^[ \t#*-]*(?:Page )?[Tt]itle(?:\*\*)?: *(\S[^\n]*)$|RootWebArea[ :]+['\"]([^'\"\n]+)", re.MULTILINE
)
_REF = re.compile(r"\[ref=\w+\]")
_TOP = 4_000
_NAME = 80
_LEAST = 4
"""Elements that make a snapshot."""


@dataclass(frozen=True, slots=True)
class _Element:
    role: str
    name: str
    ref: str


def score(seen: Observed) -> float:
    """Where several lines of the beginning are elements."""
    if not seen.answers or seen.cls in {READ, SEARCH}:
        return 0.0
    found = sum(1 for line in seen.top if (match := _LINE.match(line)) and _is_element(match))
    return 0.95 if found >= _LEAST or (found and _URL.search(seen.head)) else 0.0


def _is_element(line: re.Match[str]) -> bool:
    return bool(line["name"] or line["single"] or line["before"] or _REF.search(line["rest"]))


def sketch(seen: Observed) -> Sketch:
    """Title and address; what can be acted on, by name; then what the page says and its rows."""
    elements = _elements(seen.text)
    title, url = _page(seen.text)
    told: list[Part] = [Phrase(part) for part in ((title, url) if seen.target else (title,)) if part]
    said = [each.name for each in elements if each.role in _SAID and each.name]
    rows = [each.name for each in elements if each.role == "row" and each.name]
    if not seen.roomy:
        return Sketch((*told, *_by_role(elements, title, said)), name=url)
    told += [Phrase(_counts(elements)), Lines(_outline(elements), share=0.6)]
    told += [Lines(said, before="says:", share=0.5)] if said else []
    told += [Lines(rows, before="rows:")] if rows else []
    return Sketch(tuple(told), name=url)


def skeleton(text: str, cap: int, count: Callable[[str], int]) -> str:
    """A page snapshot reduced to what can be acted on and its headings, within ``cap`` tokens; blobs are only named.

    Empty where the text is not a snapshot, or nothing of it fits.
    """
    text = without_blobs(text)
    elements = _elements(text)
    if len(elements) < _LEAST:
        return ""
    title, url = _page(text)
    parts: list[Part] = [*([Phrase(title)] if title else []), Phrase(_counts(elements)), Lines(_outline(elements))]
    return fitted((f"page {url}".strip(), "page"), parts, cap, count)


def _page(text: str) -> tuple[str, str]:
    """Title and address, each empty where it is not said."""
    top = whole_lines(text, _TOP)
    title, url = _TITLE.search(top), _URL.search(top)
    return clip(flat(title[1] or title[2]), 2 * _NAME) if title else "", clip(url[1], 2 * _NAME) if url else ""


def _elements(text: str) -> list[_Element]:
    """All elements; the cells of a row are its name."""
    found = list[_Element]()
    for match in _LINE.finditer(text):
        role, ref = match["role"], _REF.search(match["rest"])
        name = match["name"] or match["single"] or match["rest"].rpartition("]")[2].removeprefix(":").strip()
        name = clip(flat(name), _NAME if role in ACTIONABLE else 2 * _NAME)
        if role in _CELLS and found and found[-1].role == "row":
            row = found[-1]
            if len(row.name) < 2 * _NAME:
                found[-1] = _Element("row", f"{row.name} | {name}" if row.name else name, row.ref)
        elif role not in _CELLS:
            found.append(_Element(role, name, ref[0] if ref else match["before"].strip()))
    return found


def _by_role(elements: list[_Element], title: str, said: list[str]) -> list[Part]:
    groups = {
        "heading": [each.name for each in elements if each.role == "heading" and each.name not in {"", title}],
        "button": [each.name for each in elements if each.role == "button" and each.name],
        "field": [each.name or each.role for each in elements if each.role in _FIELDS],
        "control": [
            f"{each.role} {each.name}".strip()
            for each in elements
            if each.role in ACTIONABLE and each.role not in _FIELDS | {"button", "link"}
        ],
    }
    parts: list[Part] = [
        Names(names, before=f"{several(len(names), what)}: ", share=0.4) for what, names in groups.items() if names
    ]
    if rows := sum(each.role == "row" for each in elements):
        parts.append(Phrase(several(rows, "row")))
    if said:
        parts.append(Names(said, before="says ", share=0.6))
    links = [each.name for each in elements if each.role == "link" and each.name]
    return [*parts, *([Names(links, before=f"{several(len(links), 'link')}: ")] if links else [])]


def _counts(elements: list[_Element]) -> str:
    roles = [each.role for each in elements]
    return (
        ", ".join(several(roles.count(role), role) for role in (*ACTIONABLE, "row") if role in roles) or "no controls"
    )


def _outline(elements: list[_Element]) -> list[str]:
    """Controls and headings in the order of the page, links after everything else."""
    told = [each for each in elements if each.role in ACTIONABLE or each.role in {"heading", "dialog", "alert"}]
    told.sort(key=lambda each: each.role == "link")
    return list(
        dict.fromkeys(
            " ".join(part for part in (each.role, f'"{each.name}"' if each.name else "", each.ref) if part)
            for each in told
        )
    )
