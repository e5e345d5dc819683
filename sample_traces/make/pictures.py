"""Screenshots: real PNG files of a real size, drawn as flat boxes and packed without zlib.

Two versions of zlib may pack the same picture differently. The packer here writes one block of fixed Huffman
codes and knows two kinds of repetition, "as one byte ago" and "as in the row above", which is all that flat
boxes need, and its bytes are the same everywhere.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH, HEIGHT = 1280, 800
ROW = WIDTH // 4
"""Bytes of one row: four pixels to a byte."""
PALETTE = bytes.fromhex("f8fafc 0f172a 94a3b8 22d3ee")
SOLID = (0x00, 0x55, 0xAA, 0xFF)
"""Four pixels of one colour, by its place in the palette."""


def draw_page(boxes: Iterable[tuple[int, str]]) -> bytes:
    """Return a PNG of a page: a bar on top, then one box per element, indented as deep as it stands."""
    rows = [bytes([SOLID[1]]) * ROW] * 48
    for depth, tag in boxes:
        colour = SOLID[3] if tag in ("a", "h1", "button") else SOLID[2]
        wide = {"h1": 90, "tr": 0, "table": 0}.get(tag, 30)
        line = bytes([SOLID[0]]) * (8 + 12 * depth) + bytes([colour]) * wide
        rows += [(line + bytes([SOLID[0]]) * ROW)[:ROW]] * 7 + [bytes([SOLID[0]]) * ROW] * 5
    rows += [bytes([SOLID[0]]) * ROW] * HEIGHT
    return png(b"".join(b"\0" + row for row in rows[:HEIGHT]))


def png(raw: bytes) -> bytes:
    """Return a PNG with a palette of four colours from rows that begin with their filter byte."""
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 2, 3, 0, 0, 0)
    data = b"\x78\x01" + deflate(raw, ROW + 1) + struct.pack(">I", zlib.adler32(raw))
    chunks = ((b"IHDR", header), (b"PLTE", PALETTE), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


class _Bits:
    """Bits in the order of the deflate format: the first one is the lowest of its byte."""

    def __init__(self) -> None:
        self.value = 0
        self.length = 0

    def number(self, value: int, width: int) -> None:
        self.value |= value << self.length
        self.length += width

    def code(self, value: int, width: int) -> None:
        self.number(int(f"{value:0{width}b}"[::-1], 2), width)

    def bytes(self) -> bytes:
        return self.value.to_bytes((self.length + 7) // 8, "little")


def deflate(raw: bytes, stride: int) -> bytes:
    """Pack bytes of which most repeat the one before or the one a row above."""
    bits = _Bits()
    bits.number(0b011, 3)  # last block, fixed codes
    at = 0
    while at < len(raw):
        length, back = max((_same(raw, at, back), back) for back in (1, stride))
        if length == 258:
            bits.code(0b11000101, 8)
            _distance(bits, back)
            at += 258
        else:
            byte = raw[at]
            bits.code(*((0x30 + byte, 8) if byte < 144 else (0x190 + byte - 144, 9)))
            at += 1
    bits.code(0, 7)
    return bits.bytes()


def _same(raw: bytes, at: int, back: int) -> int:
    """Return 258 where that many bytes repeat, else 0: shorter repetitions are not worth their code."""
    return 258 if at >= back and raw[at : at + 258] == _ago(raw, at, back) else 0


def _ago(raw: bytes, at: int, back: int) -> bytes:
    return raw[at - 1 : at] * 258 if back == 1 else raw[at - back : at - back + 258]


def _distance(bits: _Bits, back: int) -> None:
    """Write a distance: code 0 is one byte ago, code 16 holds 257 to 384 with seven more bits."""
    if back == 1:
        bits.code(0, 5)
    else:
        bits.code(16, 5)
        bits.number(back - 257, 7)
