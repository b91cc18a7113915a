"""Pictures: the kind and size of those that a page may show, read from their first bytes and never
decoded; and whether a model sees any.
"""

import struct
from typing import Literal

from selfeng.core.http import NetworkAccess
from selfeng.core.value import Value

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MOST_PIXELS = 50_000_000
"""A few kilobytes can claim gigabytes of pixels, which the browser would have to unpack."""

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})


class Sight(Value):
    """Whether a model sees pictures. It needs consent as a tool that uses a host."""

    model: str
    problem: str = ""
    """Why it does not see them; "" if it does."""
    needs: tuple[NetworkAccess, ...] = ()
    """Its server, where that is neither on this machine nor in its own network."""
    name: Literal["pictures"] = "pictures"
    """In place of a tool's; none has it."""
    version: Literal[0] = 0


def picture_type(content: bytes) -> str | None:
    """The media type of a PNG, JPEG, GIF or WebP picture; None for anything else, and for a picture
    that is too large to show.
    """
    try:
        for kind, size in (("png", _png), ("jpeg", _jpeg), ("gif", _gif), ("webp", _webp)):
            if (dimensions := size(content)) is not None:
                width, height = dimensions
                return f"image/{kind}" if 0 < width * height <= MOST_PIXELS else None
    except (struct.error, IndexError):
        pass  # it ends within its header
    return None


def _png(content: bytes) -> tuple[int, int] | None:
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _gif(content: bytes) -> tuple[int, int] | None:
    if content[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _jpeg(content: bytes) -> tuple[int, int] | None:
    """The size is in the header of the first frame, behind segments of any length."""
    if content[:3] != b"\xff\xd8\xff":
        return None
    at = 2
    while content[at] == 0xFF:
        if (marker := content[at + 1]) == 0xFF or marker in _JPEG_ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack_from(">H", content, at + 2)
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        at += 2 + max(length, 2)
    return None


def _webp(content: bytes) -> tuple[int, int] | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return None
    match content[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(
                content[27:30], "little"
            )
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", content, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", content, 26)
            return width & 0x3FFF, height & 0x3FFF
    return None
