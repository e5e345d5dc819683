"""Strip heavy artifacts: page snapshots to what can be acted on, old screenshots dropped, base64 never as text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from ctxbudget.digests import digest, label, skeleton, without_blobs
from ctxbudget.resources import BROWSER
from ctxbudget.trace import Edit, Form, Fragment, Kind
from ctxbudget.view import digested, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "strip-artifacts"
_BLOB: Final = 200
"""Characters below which a text holds no blob worth a stand-in."""


@dataclass(frozen=True, slots=True)
class StripArtifacts:
    """Reduce page snapshots to controls and headings, older ones to a line; drop old screenshots; name base64 only.

    Keeps: what can be acted on in the newest pages, with the references that actions need; the newest screenshots.
    Costs: the cached prefix breaks at the snapshot or screenshot that has just become an older one.
    Fails: running text of a page goes with its structure; an older page must be opened again to act on it.
    Use when: the agent drives a browser or a screen, and pages and pictures outweigh everything else.
    """

    pages: int = 1
    """How many of the newest page snapshots keep their controls and headings; an action needs the newest alone."""
    page: float = 800
    """Most tokens of such a page: tokens, or a fraction of (window - reserve). Smaller ones stay whole."""
    minimal: int = 60
    """Most tokens of an older page."""
    screenshots: int = 2
    """How many of the newest screenshots stay; 0: none."""
    screenshot: float = 0
    """Most tokens of one that stays (it is scaled down), in the same measure as ``page``; 0: as it is."""
    blobs: bool = True
    """Name base64 and hex in results and arguments instead of carrying them as text."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit per artifact, the newest first."""
        yield from self._pages(view)
        yield from self._screenshots(view)
        if self.blobs:
            yield from _blobs(view)

    def _pages(self, view: View) -> Iterator[Edit]:
        most = view.share(self.page)
        index = view.standing((NAME, self.minimal), lambda one: one.tokens > self.minimal and _is_page(one))
        for number, (_, one) in enumerate(list(index.newest())):
            if one.id in view.pins.ids:
                continue
            if number >= self.pages:
                whole = view.known[one.stands_for[0]] if len(one.stands_for) == 1 else one
                new, reason = digested(view, whole, self.minimal), "an older page"
            elif one.form is None and one.tokens > most:
                new, reason = _actionable(view, one, most), f"a page over {most:,} tokens"
            else:
                continue
            if new is not None:
                yield Edit(NAME, (one.id,), (new,), new.form, reason)

    def _screenshots(self, view: View) -> Iterator[Edit]:
        index = view.standing((NAME, "screenshots"), _is_screenshot)
        most = view.share(self.screenshot)
        for _, one in islice(list(index.newest()), self.screenshots, None):
            new = None if one.id in view.pins.ids else stand_in(view, one, _gone(one), Form.CLEARED)
            if new is not None:
                yield Edit(NAME, (one.id,), (new,), Form.CLEARED, "an older screenshot")
        for _, one in islice(list(index.newest()), self.screenshots if most else 0):
            if one.tokens > most and one.form is None and one.id not in view.pins.ids:
                new = stand_in(view, one, "", Form.TRUNCATED)
                if new is not None:
                    scaled = replace(new, tokens=most, estimated=True)
                    yield Edit(NAME, (one.id,), (scaled,), Form.TRUNCATED, f"a screenshot over {most:,} tokens")


def _is_page(fragment: Fragment) -> bool:
    """A snapshot, whole or reduced to its controls. (Playwright writes ``[ref=e1]``, Chrome's tools ``uid=1_2``.)"""
    if not fragment.answers or fragment.form not in {None, Form.TRUNCATED} or not fragment.text:
        return False
    if fragment.resource is not None and fragment.resource.cls == BROWSER:
        return True
    text = fragment.text
    return "=" in text and ("[ref=" in text or " uid=" in text)  # the one sign is found far quicker


def _actionable(view: View, fragment: Fragment, most: int) -> Fragment | None:
    """Controls and headings; of a page that is no snapshot (HTML, text) its digest."""
    text = skeleton(fragment.text, most, view.tokens_of) or digest(fragment, most, view.tokens_of)
    return stand_in(view, fragment, text, Form.TRUNCATED) if text else None


def _is_screenshot(fragment: Fragment) -> bool:
    """A picture that a tool brought; the user's own are the task."""
    return fragment.kind is Kind.MEDIA and fragment.answers and fragment.form in {None, Form.TRUNCATED}


def _gone(fragment: Fragment) -> str:
    return f"[{label(fragment)}: picture dropped]"


def _blobs(view: View) -> Iterator[Edit]:
    """Results and calls that carry base64 or hex as text."""
    for _, one in list(view.standing((NAME, "blobs"), _has_blob).oldest()):
        new = None if one.id in view.pins.ids else stand_in(view, one, without_blobs(one.text), Form.TRUNCATED)
        if new is not None:
            yield Edit(NAME, (one.id,), (new,), Form.TRUNCATED, "base64 or hex carried as text")


def _has_blob(fragment: Fragment) -> bool:
    if fragment.call is None or fragment.form is not None or fragment.kind is Kind.MEDIA or len(fragment.text) < _BLOB:
        return False
    return len(without_blobs(fragment.text)) < len(fragment.text)
