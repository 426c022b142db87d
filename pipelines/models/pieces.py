"""A day's entries as a model reads them: numbered lines under their headings, cut into pieces that fit a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.store.item import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.store.log import Entry

BYTES_A_TOKEN: Final = 4
HEADING_LENGTH: Final = 200
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some entries of a day, in order, and the text that shows them; `shortened` counts entries shown only in part."""

    entries: tuple[Entry, ...]
    text: str
    shortened: int = 0


@dataclass(frozen=True, slots=True)
class _Shown:
    entry: Entry
    context: str
    text: str
    shortened: bool


def cut(entries: Sequence[Entry], tokens: int) -> tuple[Piece, ...]:
    """Return the entries in pieces of at most `tokens`, cut between entries, each with the headings it stands under.

    Args:
        entries: one day's, in order.
        tokens: the most that a piece may hold, counted as four bytes a token.

    Returns:
        Every entry in exactly one piece. One that is too long for a piece is shown by its first lines.
    """
    room = tokens * BYTES_A_TOKEN
    pieces: list[list[_Shown]] = []
    size = 0
    for entry in entries:
        shown = _show(entry, room)
        if not pieces or size + _size(shown) > room:
            pieces.append([])
            size = 0
        pieces[-1].append(shown)
        size += _size(shown)
    return tuple(_piece(shown) for shown in pieces)


def _show(entry: Entry, room: int) -> _Shown:
    context = _context(entry)
    lines = (f"{number}| {_plain(line)}" for number, line in enumerate(entry.text.split("\n"), entry.start_line))
    kept, whole = _within(lines, room - _bytes(context) - 1)
    return _Shown(entry, context, "\n".join(kept), not whole)


def _context(entry: Entry) -> str:
    parts = [fold(" > ".join(entry.headings))[:HEADING_LENGTH]] if entry.headings else []
    parts += [f"project: {fold(entry.project)[:HEADING_LENGTH]}"] if entry.project else []
    return f"## {' / '.join(parts)}" if parts else "##"


def _plain(line: str) -> str:
    return _CONTROLS.sub(" ", line)


def _within(lines: Iterable[str], room: int) -> tuple[list[str], bool]:
    """Return the first lines that fit, the last of them cut short where not even one does, and whether all did."""
    kept: list[str] = []
    for line in lines:
        room -= _bytes(line) + 1
        if room < 0:
            return kept or [line.encode()[: room + _bytes(line) + 1].decode(errors="ignore")], False
        kept.append(line)
    return kept, True


def _size(shown: _Shown) -> int:
    return _bytes(shown.context) + 1 + _bytes(shown.text) + 1


def _bytes(text: str) -> int:
    return len(text.encode())


def _piece(shown: Sequence[_Shown]) -> Piece:
    lines: list[str] = []
    context = "##"
    for one in shown:
        if one.context != context:
            context = one.context
            lines.append(context)
        lines.append(one.text)
    return Piece(tuple(one.entry for one in shown), "\n".join(lines), sum(one.shortened for one in shown))
