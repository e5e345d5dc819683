"""A recording read again: what a trace keeps no text of (images, documents, signatures of thinking), and replies that
were cut into words and calls."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from ctxbudget import media, records
from ctxbudget.errors import TraceError
from ctxbudget.exports.parts import Media, Thinking
from ctxbudget.tokens import family
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Fragment, Trace

PICTURES = frozenset({"image", "document", "image_url", "input_image", "output_image", "file", "input_file"})
THOUGHTS = frozenset({"thinking", "redacted_thinking"})
HIDDEN = ".hidden"
"""How the ids of fragments end that stand for what no block of the file holds."""


class Blocks:
    """The raw blocks of a trace's media and thinking, and its replies as they were written. Each file is read once,
    when first asked for.
    """

    def __init__(self, trace: Trace) -> None:
        """Nothing is read yet."""
        inserted = (new for each in trace.recorded for new in each.edit.inserted)
        self._family = family(trace.model)
        self._wanted: dict[str, list[Fragment]] = {}
        self._found: dict[str, tuple[dict[str, dict[str, Any]], dict[int, str]]] = {}
        for one in (*trace.fragments, *inserted):
            if (_types(one) or one.asks) and not one.id.endswith(HIDDEN):
                self._wanted.setdefault(one.origin.path, []).append(one)

    def media(self, fragment: Fragment) -> Media:
        """The image or document behind a fragment, or a note of it. What is read must cost what the fragment does:
        the file may have changed since.
        """
        note = f"[{'image' if fragment.tokens else 'file'} of about {fragment.tokens:,} tokens, not in the recording]"
        block = self._read(fragment.origin.path)[0].get(fragment.id)
        if block is None:
            return Media(note)
        kind, data, url = _payload(block)
        same = not data or media.image_tokens(media.base64_size(data), self._family) == fragment.tokens
        return Media(note, kind, data, url) if same else Media(note)

    def thinking(self, fragment: Fragment) -> Thinking | None:
        """Thinking with its signature; None where the file has none, so that no provider would take it back."""
        block = self._read(fragment.origin.path)[0].get(fragment.id, {})
        signature, sealed = block.get("signature"), block.get("data")
        if isinstance(sealed, str) and sealed:
            return Thinking("", sealed=sealed)
        if isinstance(signature, str) and signature and block.get("thinking") == fragment.text:
            return Thinking(fragment.text, signature)
        return None

    def reply(self, call: Fragment, words: str) -> str | None:
        """The reply that holds a call written as text, where it is made of nothing but ``words`` and that call."""
        whole = self._read(call.origin.path)[1].get(call.origin.line)
        if whole is None:
            return None
        written = (call.text, call.text.removeprefix(f"{call.tool} "))
        sizes = {_size(words) + _size(text) for text in written}
        return whole if _size(whole) in sizes else None

    def _read(self, path: str) -> tuple[dict[str, dict[str, Any]], dict[int, str]]:
        """By id the blocks, by line the texts of replies; nothing where the file cannot be read again."""
        if path not in self._found:
            self._found[path] = {}, {}
            with suppress(TraceError, OSError):
                self._found[path] = _load(path, self._wanted.get(path, []))
        return self._found[path]


def _size(text: str) -> int:
    """Characters that are no white space."""
    return sum(map(len, text.split()))


def _load(path: str, wanted: list[Fragment]) -> tuple[dict[str, dict[str, Any]], dict[int, str]]:
    if path == "-" or not wanted:
        return {}, {}
    rest = records.read(path).unwrap()
    first = list(islice(rest, 2))
    lines = {one.origin.line for one in wanted}
    if len(first) > 1:
        kept = [(one.line, one.data) for one in chain(first, rest) if one.line in lines]
        return dict(_matched(kept, wanted, single=False)), {line: _words(data) for line, data in kept}
    listed = [(1, _messages(one.data)) for one in first]
    texts = {at: _words(message) for _, messages in listed for at, message in enumerate(messages, 1) if at in lines}
    return dict(_matched(listed, wanted, single=True)), texts


def _messages(data: Any) -> list[Any]:
    """The messages of a document that is one conversation."""
    found = (
        next((data[key] for key in ("history", "messages") if key in data), data) if isinstance(data, dict) else data
    )
    return found if isinstance(found, list) else [found]


def _words(message: Any) -> str:
    """The text of a message."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _types(fragment: Fragment) -> frozenset[str]:
    if fragment.kind is Kind.MEDIA:
        return PICTURES
    return THOUGHTS if fragment.kind is Kind.THINKING else frozenset()


def _matched(
    found: list[tuple[int, Any]], wanted: list[Fragment], *, single: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fragments by id with their blocks: those of one record, in order. A request in a log repeats what came before,
    so that its own blocks are the last ones.
    """
    for line, data in found:
        for types in (PICTURES, THOUGHTS):
            here = [one for one in wanted if _types(one) is types and (single or one.origin.line == line)]
            blocks = list(_walk(data, types)) if here else []
            if len(blocks) >= len(here):
                yield from zip((one.id for one in here), blocks[len(blocks) - len(here) :], strict=True)


def _walk(value: Any, types: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The blocks of these types, in the order of the file."""
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, types)
    elif isinstance(value, dict):
        kind = value.get("type")
        if isinstance(kind, str) and kind in types and (types is THOUGHTS or any(_payload(value))):
            yield value
            return
        for item in value.values():
            yield from _walk(item, types)


def _payload(block: dict[str, Any]) -> tuple[str, str, str]:
    """Media type, base64 data and URL of a block, as far as it has them."""
    match block:
        case {"source": {"data": str(data), **rest}}:
            return str(rest.get("media_type") or ""), data, ""
        case {"source": {"url": str(url)}}:
            return "", "", url
        case {"image_url": {"url": str(url)} | str(url)} | {"file": {"file_data": str(url)}} | {"file_data": str(url)}:
            head, comma, data = url.partition(",")
            if comma and head.startswith("data:"):
                return head[5:].partition(";")[0], data, ""
            return "", "", url
    return "", "", ""
