"""`<private>…</private>`: what a person wants kept out of every memory gives way to `[private]`."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from pipelines.memory.logs import parse_entries

if TYPE_CHECKING:
    from collections.abc import Callable

PRIVATE: Final = "[private]"
_MARK: Final = re.compile(r"<\s{0,3}(/?)\s{0,3}private\s{0,3}>", re.IGNORECASE)
_IN_RECORD: Final = re.compile(rb"(?:<|\\u003c)\s{0,3}/?\s{0,3}private", re.IGNORECASE)
_WORDS: Final = frozenset({"text", "content", "thinking"})


def is_private(text: str) -> bool:
    """Return whether something in a text is marked as private."""
    return any(not mark[1] for mark in _MARK.finditer(text))


def without_private(text: str) -> str:
    """Return what somebody said without what is private in it; what is never closed is private to the end.

    Every line that the private part takes keeps its place, so that line numbers hold.
    """
    return _without(text, lambda _: len(text)) if _MARK.search(text) else text


def log_without_private(text: str) -> str:
    """Return a log without what is private in it; what is never closed is private to the end of its entry."""
    if not _MARK.search(text):
        return text
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    entries = parse_entries("", "", text)
    firsts = [entry.start_line for entry in entries]

    def end(at: int) -> int:
        line = bisect_right(starts, at)
        number = bisect_right(firsts, line) - 1
        last = max(line, entries[number].end_line) if number >= 0 else line
        return starts[last] - 1 if last < len(starts) else len(text)

    return _without(text, end)


def record_without_private(line: bytes) -> bytes:
    """Return a line of a transcript without what is private in it; it is JSON still.

    What is never closed is private to the end of the turn. A line with such a mark that is no JSON is left out whole.
    """
    if not (b"rivate" in line or b"RIVATE" in line) or not (_IN_RECORD.search(line) or b"\\u00" in line):
        return line
    end = b"\n" if line.endswith(b"\n") else b""
    try:
        record = json.loads(line.decode("utf-8-sig", errors="replace"))
        return json.dumps(_Turn().without(record), separators=(",", ":")).encode() + end
    except (ValueError, RecursionError):
        return b'{"type":"left-out","bytes":%d}' % len(line) + end


class _Turn:
    """Goes through a record in its order; what one part of a turn leaves open reaches into the parts after it."""

    def __init__(self) -> None:
        self._open = False

    def without(self, value: Any, *, said: bool = False) -> Any:  # noqa: ANN401  whatever JSON can hold
        if isinstance(value, str):
            return self._text(value, said=said)
        if isinstance(value, list):
            return [self.without(one, said=said) for one in value]
        if isinstance(value, dict):
            return {key: self.without(one, said=key in _WORDS) for key, one in value.items()}
        return value

    def _text(self, text: str, *, said: bool) -> str:
        if not said:
            return without_private(text)
        whole = f"<private>{text}" if self._open else text
        self._open = _left_open(whole)
        return without_private(whole)


def _left_open(text: str) -> bool:
    depth = 0
    for mark in _MARK.finditer(text):
        depth = max(0, depth - 1) if mark[1] else depth + 1
    return depth > 0


def _without(text: str, end_of: Callable[[int], int]) -> str:
    """Return a text without its private parts; `end_of` says where one ends that is opened here and never closed."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for mark in _MARK.finditer(text):
        if not mark[1]:
            opened.append(mark.start())
        elif opened:
            spans.append((opened.pop(), mark.end()))
    spans += [(start, end_of(start)) for start in opened]
    out, at = "", 0
    for start, end in sorted(spans):
        if start >= at:
            out += text[at:start] + _hidden(text[start:end])
        elif end > at:
            out += _hidden(text[at:end]).removeprefix(PRIVATE)
        at = max(at, end)
    return out + text[at:]


def _hidden(text: str) -> str:
    first, *more = text.split("\n")
    del first
    return "\n".join([PRIVATE, *(line[: len(line) - len(line.lstrip(" \t"))] + PRIVATE for line in more)])
