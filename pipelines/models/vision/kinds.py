"""What an image is by its first bytes: its name may say otherwise, and a provider refuses what it is misled about."""

from __future__ import annotations

from typing import Final

_JPEG_SIZES: Final = frozenset({*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)})
_JPEG_BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def media_type(data: bytes) -> str:
    """Return `image/png`, `image/jpeg`, `image/gif` or `image/webp`, or an empty string for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else ""


def longer_side(data: bytes) -> int:
    """Return the longer side in pixels, as the file states it; 0 where it does not, or not in a way that is known."""
    kind = media_type(data)
    if kind == "image/png":
        return max(_number(data[16:20]), _number(data[20:24]))
    if kind == "image/gif":
        return max(_number(data[6:8][::-1]), _number(data[8:10][::-1]))
    if kind == "image/webp" and data[12:16] == b"VP8X":
        return 1 + max(_number(data[24:27][::-1]), _number(data[27:30][::-1]))
    return _jpeg_side(data) if kind == "image/jpeg" else 0


def _jpeg_side(data: bytes) -> int:
    """Walk the segments of a JPEG to the one that states its size."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:  # noqa: PLR2004  how every segment begins
        marker = data[at + 1]
        if marker in _JPEG_SIZES:
            return max(_number(data[at + 5 : at + 7]), _number(data[at + 7 : at + 9]))
        at += 1 if marker == 0xFF else 2 if marker in _JPEG_BARE else 2 + _number(data[at + 2 : at + 4])  # noqa: PLR2004
    return 0


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")
