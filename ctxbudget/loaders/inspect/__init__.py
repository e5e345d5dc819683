"""Inspect AI evaluation logs: ``.eval`` archives and ``.json`` documents, one trace for each sample.

Where: ``./logs/<time>_<task>_<id>.eval`` or ``.json`` (``INSPECT_LOG_DIR``); an archive that is still being written has its finished samples.
Seen: the exact prompt of every model call (messages, tool schemas, images), replies with reasoning, results, compactions, scores as the outcome; calls of other conversations (graders, sub-agents) as children.
Unseen: what a provider adds by itself; a sample logged without events has its messages alone.
Counts: usage of every call, from the provider; it is said again for the sample, the score and the whole log, which are compared and never added. Whether input holds the cached tokens differs by version: the total tells.

Rules: UKGovernmentBEIS/inspect_ai 0.3.40 to 0.3.2xx (``log``, ``event``, ``model``). Long texts are references to
attachments; prompts are ranges of a pool of messages in newer logs. Answers from Inspect's own cache were not billed. Of
a compaction the log says that it happened: what went and came is told by the prompts before and after.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget import zips
from ctxbudget.loaders.inspect.archive import Store
from ctxbudget.loaders.inspect.sample import Sample
from ctxbudget.message_lists import opening
from ctxbudget.records.values import items, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

_MEMBER = re.compile(r"samples/.+_epoch_\d+(\.json|/)|_journal/(start|summaries/\d+)\.json")
_SAMPLES = re.compile(rb'"(?:samples|plan|results|stats)"\s*:')


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """An archive with a journal or samples, or a document that begins with the evaluation's settings."""
    if head.startswith(zips.MAGIC):
        return 0.95 if any(_MEMBER.match(name) for name in zips.names(head)) else 0.0
    for value in opening(head)[:1]:
        match value:
            case {"eval": {"task": _}}:
                return 0.95 if "status" in value and (_SAMPLES.search(head) or "version" in value) else 0.8
            case {"samples": list(), "eval": _} | {"samples": list(), "plan": _}:
                return 0.8
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """A trace for each sample, in the order of the data set; labelled by its id, and by its epoch where there are
    several."""
    if reading.head.startswith(zips.MAGIC):
        with zips.opened(reading) as archive:
            store = Store(archive)
            yield from _samples(reading, start, store.settings(), list(store.samples()), store)
        return
    for record in reading:
        log = mapping(record.data)
        samples = [one for one in items(log.get("samples")) if isinstance(one, dict)]
        yield from _samples(reading, start, mapping(log.get("eval")), samples, None)


def _samples(
    reading: Reading, start: Start, settings: dict[str, Any], found: list[Any], store: Store | None
) -> Iterator[Trace]:
    """``found`` are samples, or their names in a ``store``, which reads one at a time."""
    seen: dict[str, int] = {}
    many = len(found) > 1
    epochs = any(_place(one)[1] > 1 for one in found)
    for one in sorted(found, key=_order(settings)):
        name, epoch = _place(one)
        label = f"{name}.{epoch}" if epochs else name
        seen[label] = seen.get(label, 0) + 1
        build = start(label=label if seen[label] == 1 else f"{label}~{seen[label]}") if many else start()
        data = mapping(one if store is None else store.sample(one))
        yield Sample(build, start, data, settings).finish(reading)


def _place(one: Any) -> tuple[str, int]:
    """Name and epoch of a sample, or of its name in an archive."""
    if isinstance(one, tuple):
        return one[0], one[1]
    name, epoch = one.get("id"), one.get("epoch")
    return (name if isinstance(name, str) else str(name)), epoch if type(epoch) is int else 1


def _order(settings: dict[str, Any]) -> Any:
    """Sorts samples as the data set does; those that it does not name, by number or name, behind."""
    listed = items(mapping(settings.get("dataset")).get("sample_ids"))
    places = {str(name): at for at, name in enumerate(listed)}

    def key(one: Any) -> tuple[int, int, str, int]:
        name, epoch = _place(one)
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else 0
        return places.get(name, len(places)), number, name, epoch

    return key
