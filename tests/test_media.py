"""Images cost what their size says, and their size is read from a few bytes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget.media import FLAT, base64_size, image_size, image_tokens

CASES = Path(__file__).parents[2] / "shared" / "cases"


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


def jpeg(width: int, height: int, before: int = 0) -> bytes:
    segments = b"".join(b"\xff\xe2" + pack(">H", 60_000) + bytes(59_998) for _ in range(before))
    frame = b"\xff\xff\xc2" + pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)  # with a fill byte before
    return b"\xff\xd8\xff\xe0" + pack(">H", 16) + bytes(14) + segments + frame


def webp(kind: bytes, payload: bytes) -> bytes:
    return b"RIFF" + pack("<I", 100) + b"WEBP" + kind + pack("<I", len(payload)) + payload


IMAGES = {
    "PNG": png(1280, 720),
    "GIF": b"GIF89a" + pack("<HH", 1280, 720),
    "JPEG": jpeg(1280, 720),
    "JPEG behind a colour profile": jpeg(1280, 720, before=3),
    "WebP, lossy": webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + pack("<HH", 1280 | 0x4000, 720)),
    "WebP, lossless": webp(b"VP8L", b"\x2f" + pack("<I", 1279 | 719 << 14) + bytes(8)),
    "WebP, extended": webp(b"VP8X", bytes(4) + (1279).to_bytes(3, "little") + (719).to_bytes(3, "little")),
}


@pytest.mark.parametrize("name", IMAGES)
def test_the_size_is_read_from_the_header(name):
    assert image_size(IMAGES[name]) == (1280, 720)
    encoded = base64.b64encode(IMAGES[name]).decode()
    assert base64_size(encoded) == (1280, 720)
    assert base64_size("data:image/any;base64," + encoded) == (1280, 720)
    assert base64_size("\n".join(encoded[at : at + 76] for at in range(0, len(encoded), 76))) == (1280, 720)
    assert base64_size(base64.urlsafe_b64encode(IMAGES[name]).decode().rstrip("=")) in {(1280, 720), None}


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.7", png(0, 5), png(3, 3)[:20], jpeg(9, 9, before=6), b"\xff\xd8" + b"\xff" * 999]
)
def test_what_tells_no_size_has_none(data):
    assert base64_size(base64.b64encode(data).decode()) is None


@given(st.binary(max_size=200), st.sampled_from([b"", *(image[:20] for image in IMAGES.values())]))
def test_any_bytes_have_a_size_or_none(data, start):
    size = image_size(start + data)
    assert size is None or min(size) > 0
    assert image_tokens(size, "claude") > 0


@given(st.text(max_size=100))
def test_any_text_is_base64_or_has_no_size(text):
    base64_size(text)
    base64_size("data:" + text)


def test_only_the_beginning_of_a_large_image_is_decoded(monkeypatch):
    decoded = []
    monkeypatch.setattr("base64.b64decode", lambda text: decoded.append(len(text)) or b"\xff\xd8")
    assert base64_size("A" * 10_000_000) is None
    assert sum(decoded) < 400_000


@pytest.mark.parametrize(
    "size, family, tokens",
    [
        ((120, 100), "claude", 16),
        ((200, 200), "claude", 54),
        ((1000, 1000), "claude", 1334),
        ((1568, 500), "claude", 1046),
        ((3136, 1000), "claude", 1046),  # scaled down to the longest edge
        ((1920, 1080), "claude", 1568),
        ((1920, 1080), "claude-4.7", 2765),
        ((8000, 8000), "claude-4.7", 4784),
        ((1, 20_000), "claude", 1),
        ((1024, 1024), "gpt", 765),
        ((2048, 4096), "gpt", 1105),
        ((512, 512), "gpt-4", 255),
        ((384, 384), "gemini", 258),
        ((1024, 1024), "gemini", 1032),
        ((1000, 1000), "other", 1334),
        (None, "claude", FLAT),
        ((0, 10), "gpt", FLAT),
    ],
)
def test_tokens_follow_the_rule_of_the_provider(size, family, tokens):
    assert image_tokens(size, family) == tokens


@given(st.integers(1, 30_000), st.integers(1, 30_000))
def test_no_image_costs_more_than_the_cap(width, height):
    assert 1 <= image_tokens((width, height), "claude") <= 1568
    assert 1 <= image_tokens((width, height), "claude-4.7") <= 4784
    assert 1 <= image_tokens((width, height), "gpt") <= 85 + 170 * 16


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases lie beside the checkout")
def test_the_content_of_an_image_costs_nothing():
    sizes = set()
    for name in ("noise.jsonl", "flat.jsonl"):
        for line in (CASES / "C63" / name).read_text(encoding="utf-8").splitlines():
            if '"base64"' in line:
                sizes.add(base64_size(_find_data(json.loads(line))))
    assert sizes == {(120, 100)}


def _find_data(value):
    if isinstance(value, dict):
        if isinstance(value.get("data"), str):
            return value["data"]
        value = list(value.values())
    return next((found for item in value if isinstance(item, dict | list) if (found := _find_data(item))), None)
