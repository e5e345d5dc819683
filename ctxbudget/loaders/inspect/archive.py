"""Samples in an archive: each a document, or (from log version 3 on) a folder of pieces of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.records.values import items, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.zips import Archive

HEADERS = ("header.json", "_journal/start.json")
SEQUENCES = ("messages", "events", "attachments")

_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d{1,9})(?:\.json|/sample\.json)")

Place = tuple[str, int, str]
"""Id and epoch of a sample, and the member that holds it."""


class Store:
    """The samples of an archive, read one at a time."""

    def __init__(self, archive: Archive) -> None:
        """``archive`` is open as long as samples are read."""
        self._archive = archive

    def settings(self) -> dict[str, Any]:
        """The evaluation's settings; those it was started with, where it has not ended."""
        for name in HEADERS:
            if settings := mapping(mapping(self._document(name)).get("eval")):
                return settings
        return {}

    def samples(self) -> Iterator[Place]:
        """Every sample."""
        for name in self._archive.names:
            if found := _SAMPLE.fullmatch(name):
                yield found["id"], int(found["epoch"]), name

    def sample(self, place: Place) -> Any:
        """One sample, put together where it is in pieces."""
        name, epoch, member = place
        sample = mapping(self._document(member))
        if member.endswith("/sample.json"):
            folder = member.removesuffix("sample.json")
            pieces = {sequence: self._sequence(f"{folder}{sequence}/") for sequence in SEQUENCES}
            sample = {
                **sample,
                "events": pieces["events"],
                "message_pool": pieces["messages"],
                "attachments": {str(at): text for at, text in enumerate(pieces["attachments"])},
            }
        return {"id": name, "epoch": epoch, **sample}

    def _sequence(self, folder: str) -> list[Any]:
        """The items of a sequence, whose pieces are called by the number of their first item."""
        found: dict[int, str] = {}
        for name in self._archive.names:
            number = name.removeprefix(folder).removesuffix(".json")
            if name.startswith(folder) and number.isascii() and number.isdigit() and len(number) < 19:
                found[int(number)] = name
        return [item for _, name in sorted(found.items()) for item in items(self._document(name))]

    def _document(self, name: str) -> Any:
        """The JSON in a member; what is whole of a damaged one, None where nothing is."""
        data = self._archive.read(name)
        if not data:
            return None
        try:
            return next((record.data for record in records.read(name, data)), None)
        except TraceError:
            return None
