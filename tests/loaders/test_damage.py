"""Damaged files of every format: each ends in a trace, or in a clean error, never in another exception.

A sample is found by itself: whatever lies under ``sample_traces`` and ``sample_traces/formats``. A file (or folder) of
the latter is named after its loader: ``formats/codex.jsonl``, ``formats/codex-second.jsonl``, ``formats/codex/any``.
"""

import json
import random
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from ctxbudget.errors import CtxbudgetError
from ctxbudget.layers import AGENT
from ctxbudget.ledger import entries
from ctxbudget.loaders import LOADERS, Options, load, sniff
from ctxbudget.records import read
from ctxbudget.report.build import build

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
FORMATS = SAMPLES / "formats"
STORIES = {
    "migrate_module.jsonl": "claude-code",
    "migrate_module/subagents/agent-a3f81c7.jsonl": "claude-code",
    "refund_support.json": "openai-chat",
    "order_supplies.json": "anthropic-messages",
    "forensic_review.jsonl": "codex",
    "fix_failing_test.traj": "swe-agent",
}
"""The stories in the folder itself, which are not called after their loader."""

MUTATIONS = 200
BINARY = (b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
SMALL = 24_000
"""Bytes of a sample that is damaged whole; of a larger one every list keeps its first items, every text its beginning,
which leaves all shapes and takes a tenth of the time."""
FEW, SHORT, LINES = 8, 200, 40

DEEP = "\x02deep\x02"
ODD = (
    None, True, False, 0, -1, 2**63, 2**64, 10**40, 1.5, 1e308, "", "x", "9" * 30, "\ud800", "a\x00b", "\u202e", [], {},
    [[]], [None], [1, "x", None], {"": None}, {"type": None}, {"type": "text"}, [{"type": "text", "text": 7}], DEEP,
)  # fmt: skip


def names():
    own = [path for path in sorted(FORMATS.rglob("*")) if path.is_file() and path.suffix not in {".md", ".py"}]
    return [*STORIES, *(path.relative_to(SAMPLES).as_posix() for path in own)]


def owner(name):
    """The loader that a sample belongs to."""
    if name in STORIES:
        return STORIES[name]
    stem = Path(name).parts[1].replace("_", "-")
    fitting = [format_name for format_name in LOADERS.names() if stem.startswith(format_name)]
    assert fitting, f"{name} is not named after a loader"
    return max(fitting, key=len)


@cache
def sample(name):
    """The bytes that are damaged, and their records where they are JSON."""
    data = (SAMPLES / name).read_bytes()
    if data.startswith(BINARY):
        return data, None
    records = [json.loads(line) for line in data.splitlines()] if name.endswith("l") else [json.loads(data)]
    if len(data) > SMALL:
        records = [trimmed(record) for record in records[:LINES]]
        data = written(records)
    return data, records


def trimmed(value):
    match value:
        case dict():
            return {key: trimmed(item) for key, item in value.items()}
        case list():
            return [trimmed(item) for item in value[:FEW]]
        case str():
            return value[:SHORT]
    return value


def written(records):
    text = "\n".join(json.dumps(record) for record in records)
    return text.replace(json.dumps(DEEP), "[" * 3_000 + "]" * 3_000).encode()


def places(value, found):
    """Every container in a value, below itself too."""
    if isinstance(value, dict | list):
        if value:
            found.append(value)
        for item in value.values() if isinstance(value, dict) else value:
            places(item, found)


def reshaped(records, dice):
    """The records with one to four values dropped, doubled, swapped or replaced by something odd."""
    records = json.loads(json.dumps(records))
    for _ in range(dice.randint(1, 4)):
        found = [records]
        places(records, found)
        box = dice.choice(found)
        if not box:
            continue
        key = dice.choice(list(box)) if isinstance(box, dict) else dice.randrange(len(box))
        match dice.randrange(8):
            case 0 | 1:
                del box[key]
            case 2 if isinstance(box, list):
                box.insert(dice.randrange(len(box)), deepcopy(box[key]))
            case 3:
                box[key] = [box[key]]
            case 4:
                box[key] = {"": box[key]} if isinstance(box[key], list) else json.dumps(box[key])
            case _:
                box[key] = deepcopy(dice.choice(ODD))
    return written(records)


def damaged(data, dice):
    """The bytes cut off, cut out, or with some of them flipped."""
    at = dice.randrange(len(data))
    match dice.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + dice.randint(1, 200) :]
        case 2:
            return data[:at] + bytes(dice.randrange(256) for _ in range(dice.randint(1, 20))) + data[at:]
    flipped = bytearray(data)
    for _ in range(dice.randint(1, 12)):
        flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
    return bytes(flipped)


def holds(traces, *, whole):
    """What is true of every trace, however it came about; ``whole`` makes its report too."""
    assert not whole or build(traces, AGENT).traces
    for trace in traces:
        for member in trace.family():
            for entry in entries(member, AGENT):
                assert sum(entry.layers.values()) == sum(entry.kinds.values()) == entry.tokens
                assert min(entry.layers.values(), default=0) >= 0
            for part in member.fragments:
                part.text.encode(errors="replace")
                assert part.tokens >= 0


@pytest.mark.parametrize("name", names())
def test_damage_ends_in_a_trace_or_a_clean_error(name, tmp_path):
    data, records = sample(name)
    forced = Options(format=owner(name))
    path = tmp_path / Path(name).name
    loaded = 0
    for seed in range(MUTATIONS):
        dice = random.Random(f"{name} {seed}")
        path.write_bytes(damaged(data, dice) if records is None or seed % 3 == 0 else reshaped(records, dice))
        try:
            holds(load(str(path), forced if seed % 2 else Options()), whole=seed % 5 == 0)
            loaded += 1
        except CtxbudgetError as error:
            assert "\n" not in error.message
        except Exception as error:
            kept = path.with_stem(f"seed-{seed}")
            path.rename(kept)
            error.add_note(f"{name}, mutation {seed}: {kept}")
            raise
    assert loaded > MUTATIONS / 4, "hardly any of it was read: the damage tests nothing"


@pytest.mark.parametrize("name", names())
def test_a_sample_is_claimed_by_its_own_loader(name):
    scores = sniff(read(str(SAMPLES / name)))
    own = owner(name)
    assert scores[own] >= 0.8, scores
    assert max(score for other, score in scores.items() if other != own) < scores[own], scores
    assert {trace.source.format for trace in load(str(SAMPLES / name))} == {own}
