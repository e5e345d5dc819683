"""A web page (HTML, or the readable text of one): title, headings, controls, then its text."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Names, Phrase, Prose
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import clip, flat, several, whole_lines
from ctxbudget.resources import BROWSER, DELEGATE, FETCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.85
_MARKUP = re.compile(r"<(?:!doctype html|html|head|body|main|div|table|h1|ul|section|article)\b", re.IGNORECASE)
_TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_SILENT = re.compile(r"<(script|style|svg|noscript|template)\b|<!--", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,500}>(.{0,500}?)</title>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"<h([1-3])\b[^>]{0,500}>(.{0,500}?)</h\1\s*>", re.IGNORECASE | re.DOTALL)
_BUTTON = re.compile(r"<button\b[^>]{0,500}>(.{0,500}?)</button>", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"<(?:input|select|textarea)\b([^>]{0,500})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b(type|name|placeholder|aria-label|value|id)\s*=\s*[\"']?([^\"'>]+)", re.IGNORECASE)
_LINK = re.compile(r"<a\b[^>]{0,500}?href", re.IGNORECASE)
_PLAIN_HEADING = re.compile(r"^#{1,3}[ \t]+(\S[^\n]*)$", re.MULTILINE)
_PLAIN_TITLE = re.compile(r"\A\s*(?:Title: *([^\n]+)|#[ \t]+([^\n]+))")
_MOST = 30
_SCANNED = 2_000_000
_LONGEST = 80


def score(seen: Observed) -> float:
    """HTML wherever it comes from, or the readable text that a fetch or another agent brought."""
    if not seen.answers:
        return 0.0
    if _MARKUP.search(seen.head) and len(_TAGS.findall(seen.head)) > 4:
        return 0.85 if seen.suffix in {".html", ".htm"} or seen.cls != "read" else 0.0
    return 0.5 if seen.cls in {FETCH, BROWSER, DELEGATE} else 0.0


def sketch(seen: Observed) -> Sketch:
    """Title, headings, controls, text."""
    if _MARKUP.search(seen.head):
        return Sketch(tuple(_html(whole_lines(seen.text, _SCANNED))))
    title = _PLAIN_TITLE.match(seen.head)
    named = (title[1] or title[2]).strip() if title else ""
    headings = [
        flat(name) for name in _PLAIN_HEADING.findall(whole_lines(seen.text, _SCANNED)) if flat(name) != flat(named)
    ]
    parts: list[Part] = [Phrase(clip(named, 2 * _LONGEST))] if named and named not in seen.target else []
    if headings:
        parts.append(Names(_shown(headings), before="headings ", share=0.5, total=len(headings)))
    body = seen.text[title.end() :] if title else seen.text
    return Sketch((*parts, *([Passage(body)] if body.strip() else [])))


def _html(text: str) -> Iterator[Part]:
    text = _spoken(text)
    title = _TITLE.search(text)
    if title and (named := _words(title[1])):
        yield Phrase(clip(named, 2 * _LONGEST))
    headings = [_words(heading[2]) for heading in _HEADING.finditer(text)]
    if headings := [heading for heading in headings if heading]:
        yield Names(_shown(headings), before="headings ", share=0.4, total=len(headings))
    buttons = [_words(found[1]) or "button" for found in _BUTTON.finditer(text)]
    fields = [_field(found[1]) for found in _FIELD.finditer(text)]
    if buttons:
        yield Names(_shown(buttons), before=f"{several(len(buttons), 'button')}: ", share=0.4, total=len(buttons))
    if fields := [field for field in fields if field]:
        yield Names(_shown(fields), before=f"{several(len(fields), 'field')}: ", share=0.4, total=len(fields))
    if links := len(_LINK.findall(text)):
        yield Phrase(several(links, "link"))
    body = text[title.end() if title else 0 :]
    yield Prose(_words(whole_lines(body, 20_000)), before="text: ")


def _spoken(text: str) -> str:
    """The markup without scripts, styles, drawings and comments; one that is not closed reaches to the end."""
    kept, at = list[str](), 0
    for opening in _SILENT.finditer(text):
        if opening.start() >= at:
            kept.append(text[at : opening.start()])
            ending = re.compile(rf"</{opening[1]}\s*>" if opening[1] else "-->", re.IGNORECASE)
            closing = ending.search(text, opening.end())
            if closing is None:
                return " ".join(kept)
            at = closing.end()
    return " ".join([*kept, text[at:]])


def _field(attributes: str) -> str:
    """What a field is called; hidden ones are not there for anyone."""
    given = {name.lower(): value.strip() for name, value in _ATTRIBUTE.findall(attributes)}
    if given.get("type", "").lower() == "hidden":
        return ""
    return next(
        (flat(given[key]) for key in ("aria-label", "placeholder", "name", "value", "id", "type") if key in given),
        "field",
    )


def _words(markup: str) -> str:
    return flat(unescape(_TAGS.sub(" ", markup)))


def _shown(names: Iterable[str]) -> list[str]:
    return [clip(name, _LONGEST) for name in islice(names, _MOST)]
