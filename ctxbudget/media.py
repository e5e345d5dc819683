"""What an image costs: by its size in pixels and the provider's rule, never by the length of its base64."""

from __future__ import annotations

import base64
from math import ceil
from struct import unpack_from

FLAT = 1_500
"""Tokens of an image whose size is unknown: a screenshot reaches the cap of Claude before 4.7, which is 1,568."""
FEW = 4_096
MANY = 256 * 1024
"""Bytes of an image that are decoded: the size stands at the beginning, in a JPEG behind previews and profiles."""

AREA = 750
"""Pixels that Claude takes for one token (platform.claude.com, "Vision"; today's text says ⌈width/28⌉ × ⌈height/28⌉
patches of 784 pixels, within some per cent of it)."""
CLAUDE_LIMITS = {"claude": (1_568, 1_568), "claude-4.7": (2_576, 4_784)}
"""Longest edge in pixels and most tokens; a larger image is scaled down to fit. Same page; count_tokens agrees."""


def image_tokens(size: tuple[int, int] | None, family: str) -> int:
    """Tokens of an image of (width, height) pixels for a model family (``ctxbudget.tokens.family``); an estimate.

    Families without a published rule are taken as Claude before 4.7. An unknown size costs ``FLAT``.
    """
    if size is None or min(size) < 1:
        return FLAT
    match family:
        case "gpt" | "gpt-4":
            return _tiles(*size)
        case "gemini":
            return _crops(*size)
    return _area(*size, *CLAUDE_LIMITS.get(family, CLAUDE_LIMITS["claude"]))


def _area(width: int, height: int, edge: int, most: int) -> int:
    scale = min(1.0, edge / max(width, height))
    return min(most, ceil(width * height * scale * scale / AREA))


def _tiles(width: int, height: int) -> int:
    """OpenAI, high detail: into 2,048 × 2,048, shorter side to 768, then 85 + 170 for each 512 × 512 tile.

    (platform.openai.com, "Images and vision": gpt-4o, gpt-4.1; gpt-5 has 70 and 140, o1 and o3 have 75 and 150.)
    """
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return 85 + 170 * max(1, ceil(width * scale / 512)) * max(1, ceil(height * scale / 512))


def _crops(width: int, height: int) -> int:
    """Gemini 2: 258 tokens up to 384 × 384, else for each 768 × 768 tile (ai.google.dev, "Token counting")."""
    if max(width, height) <= 384:
        return 258
    return 258 * ceil(width / 768) * ceil(height / 768)


def base64_size(data: str) -> tuple[int, int] | None:
    """Width and height of the image in a base64 text or ``data:`` URL; None if it is none that we know.

    Only the first few kB are decoded, of a JPEG at most 256.
    """
    start = data.find(",", 0, 200) + 1 if data.startswith("data:") else 0
    head = _decoded(data, start, FEW)
    size = image_size(head)
    if size is None and head.startswith(b"\xff\xd8"):
        size = image_size(_decoded(data, start, MANY))
    return size


def _decoded(data: str, start: int, limit: int) -> bytes:
    text = "".join(data[start : start + limit * 4 // 3].split()).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])
    except ValueError:
        return b""


def image_size(head: bytes) -> tuple[int, int] | None:
    """Width and height in pixels from the first bytes of a PNG, GIF, WebP or JPEG; None if they do not tell."""
    size = None
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        size = unpack_from(">II", head, 16)
    elif head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        size = unpack_from("<HH", head, 6)
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP" and len(head) >= 30:
        size = _webp_size(head)
    elif head.startswith(b"\xff\xd8"):
        size = _jpeg_size(head)
    return (size[0], size[1]) if size is not None and min(size) > 0 else None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8 ":
            width, height = unpack_from("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = unpack_from("<I", head, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    """The size in the first frame header (SOF); the segments before it are skipped by their lengths."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker, (length,) = head[at + 1], unpack_from(">H", head, at + 2)
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = unpack_from(">HH", head, at + 5)
            return width, height
        # fill bytes before a marker, and markers without a length (restart, start of image)
        at += 1 if marker == 0xFF else 2 if 0xD0 <= marker <= 0xD9 or marker == 0x01 else 2 + length
    return None
