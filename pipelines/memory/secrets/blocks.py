r"""Private keys in blocks: several lines of a text, or one line of JSON with `\n` in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 20_000
"""Bytes of the longest block; no key in use has half of them."""
_BEGIN: Final = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY: Final = re.compile(rb"[A-Za-z0-9+/=]{40}")
_RUN: Final = re.compile(rb"[A-Za-z0-9+/=]{16,}")
_STRING_END: Final = re.compile(rb'(?<!\\)(?:\\\\)*"')
_GAP: Final = 24
"""Bytes between two lines of a key: line ends, their escapes, line numbers, quotes of a program's text."""


def key_blocks(data: bytes, *, json: bool) -> Iterator[tuple[int, int]]:
    """Yield where each private key begins and ends; one that nothing closes ends with the last line that looks like it.

    A beginning without any key after it is somebody's words about keys, and is passed over.

    Args:
        data: the text.
        json: whether it is a line of JSON, where no block reaches out of its string.
    """
    at, closed = 0, -1
    closing: re.Match[bytes] | None = None
    while found := _BEGIN.search(data, at):
        start, at = found.span()
        if closed < at:
            closing = _END.search(data, at)
            closed = closing.start() if closing else len(data)
        limit = min(len(data), at + LONGEST)
        if following := _BEGIN.search(data, at, limit):
            limit = following.start()
        if json and (quote := _STRING_END.search(data, at, limit)):
            limit = quote.start()
        end = closing.end() if closing and closing.end() <= limit else _last_line(data, at, limit)
        if _BODY.search(data, at, end):
            yield start, end
            at = end


def _last_line(data: bytes, start: int, limit: int) -> int:
    """Return where the last of the lines that look like a key's ends."""
    last = start
    for run in _RUN.finditer(data, start, limit):
        if last > start and run.start() > last + _GAP:
            break
        last = run.end()
    return last
