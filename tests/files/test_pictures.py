"""Which files count as pictures: by their first bytes, never by their names, and only up to a
size.
"""

import struct

import pytest

from selfeng.core.files import media_type


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\0\0\0"


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    return (
        b"\xff\xd8" + before + b"\xff\xc0\0\x11\x08" + struct.pack(">HH", height, width) + b"\x03"
    )


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"


def webp(kind: bytes, head: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + head


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14))


def extended(width: int, height: int) -> bytes:
    return webp(
        b"VP8X",
        b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
    )


def lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


EXIF = b"\xff\xe1\0\x06Exif\xff\xff\xdb\0\x03\0"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (png(640, 480), "image/png"),
        (jpeg(640, 480), "image/jpeg"),
        (jpeg(640, 480, EXIF), "image/jpeg"),
        (gif(640, 480), "image/gif"),
        (lossless(640, 480), "image/webp"),
        (extended(640, 480), "image/webp"),
        (lossy(640, 480), "image/webp"),
        (png(10_000, 5_000), "image/png"),
    ],
)
def test_pictures_are_known_by_their_content(content: bytes, kind: str) -> None:
    assert media_type("notes.txt", content) == kind


@pytest.mark.parametrize(
    "content",
    [
        png(10_000, 5_001),
        png(2**31, 2**31),
        png(0, 5),
        jpeg(65_535, 65_535),
        gif(65_535, 65_535),
        extended(2**24, 2**24),
        png(5, 5)[:20],
        jpeg(5, 5)[:8],
        jpeg(5, 5, b"\xff\xe1\0\0" * 3)[:12],
        b"\xff\xd8\xff" + b"\xff" * 100,
        lossless(5, 5)[:20],
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<html>",
        b"",
    ],
)
def test_what_a_page_must_not_show_is_no_picture(content: bytes) -> None:
    assert media_type("picture.png", content) == "application/octet-stream"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "text/csv"),
        ("a.b.JSON", "application/json"),
        ("a.html", "application/octet-stream"),
        ("a.svg", "application/octet-stream"),
        ("a.xhtml", "application/octet-stream"),
        ("a.js", "application/octet-stream"),
        ("a.xml", "application/octet-stream"),
        ("a.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("song.mid", "audio/midi"),
        ("a.wav", "audio/x-wav"),
        ("a.pdf", "application/pdf"),
        ("csv", "application/octet-stream"),
        ("a", "application/octet-stream"),
    ],
)
def test_other_types_are_what_the_name_says_unless_a_browser_would_run_them(
    name: str, kind: str
) -> None:
    assert media_type(name, b"<script>") == kind
