"""Forget in the logs: the lines that an item rests on, or that say its words, are blotted out; nothing is read anew.

A log keeps its line count, so that other items' evidence stands where it stood, and what was read of it counts as read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.store.git_history import FORGOTTEN
from pipelines.store.item import quote_digest
from pipelines.store.layout import LOGS, log_day
from pipelines.store.log import parse_entries
from pipelines.store.state import entries_digest, file_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.night.forget import Words
    from pipelines.store.item import Evidence
    from pipelines.store.log import Entry
    from pipelines.store.state import LogProgress


_MOST_LINES: Final = 40
# What stands before the words of a line, and the pointer to its record, are structure: they tell entries apart.
_BEFORE: Final = re.compile(
    r"[ \t]*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)]|>)[ \t]+)*(?:\[[ xX]\][ \t]+)?(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?[ \t]+)?"
)
_POINTER: Final = re.compile(r"(?<![ \t])[ \t]*<!-- Sessions/[^<>\s]+(?: [a-z]+~[0-9a-f-]+)? -->[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Blotted:
    """A log in which lines were blotted out: its bytes, and their numbers, from 1."""

    data: bytes
    lines: tuple[int, ...]


def blotted(path: str, data: bytes, places: Iterable[Evidence], words: Words) -> Blotted:
    """Return a log without the words of an item.

    Args:
        path: the log.
        data: its bytes.
        places: where the item rests on it; a quote is found by its hash.
        words: what is blotted out wherever else it stands.
    """
    rows = data.decode(errors="surrogateescape").split("\n")
    plain = [row.removesuffix("\r") for row in rows]
    out: set[int] = set()
    for place in places:
        out |= quoted_at(plain, place)
    for entry in parse_entries(path, "", "\n".join(rows)) if words.stand_in(" ".join(plain)) else ():
        out |= _said_in(entry, plain, words)
    out = {number for number in out if plain[number].strip()}
    for number in out:
        end = rows[number][len(plain[number]) :]
        rows[number] = _blot(plain[number]) + end
    return Blotted("\n".join(rows).encode(errors="surrogateescape"), tuple(sorted(number + 1 for number in out)))


def masked(data: bytes, lines: Iterable[int]) -> bytes:
    """Return a log with these lines (from 1) made unreadable and of the same length."""
    rows = data.split(b"\n")
    for number in lines:
        rows[number - 1] = b"." * len(rows[number - 1])
    return b"\n".join(rows)


def quoted_at(lines: Sequence[str], place: Evidence) -> set[int]:
    """Return the lines, from 0, at which a quote stands, all of them; the same words elsewhere are the same words."""
    height = place.end_line - place.start_line + 1
    found: set[int] = set()
    for start in range(len(lines) - height + 1):
        if quote_digest("\n".join(lines[start : start + height]))[: len(place.digest)] == place.digest:
            found |= set(range(start, start + height))
    return found


def _said_in(entry: Entry, lines: Sequence[str], words: Words) -> set[int]:
    """Return the lines of an entry that say the words: the fewest in a row that do."""
    if not words.stand_in(entry.text):
        return set()
    first, last = entry.start_line - 1, entry.end_line
    if last - first <= _MOST_LINES:
        for height in range(1, last - first + 1):
            starts = [n for n in range(first, last - height + 1) if words.stand_in(" ".join(lines[n : n + height]))]
            if starts:
                return {number for start in starts for number in range(start, start + height)}
    return set(range(first, last))


def _blot(line: str) -> str:
    found = _BEFORE.match(line)
    pointer = _POINTER.search(line)
    return f"{found[0] if found else ''}{FORGOTTEN}{pointer[0].rstrip() if pointer else ''}"


def carried_progress(
    progress: Mapping[str, tuple[LogProgress, ...]], path: str, before: bytes, after: bytes
) -> tuple[LogProgress, ...]:
    """Return what was read of a log, now that lines of it are blotted out: what was read stays read."""
    day = log_day(path.removeprefix(f"{LOGS}/"))
    old, new = (parse_entries(path, day, data.decode(errors="replace")) for data in (before, after))
    return tuple(_carried(record, old, new, before, after) for record in progress.get(path, ()))


def _carried(
    record: LogProgress, old: Sequence[Entry], new: Sequence[Entry], before: bytes, after: bytes
) -> LogProgress:
    all_read = bool(record.digest) and record.digest == entries_digest(entry.key for entry in old)
    return replace(
        record,
        file=file_hash(after) if record.file == file_hash(before) else record.file,
        digest=entries_digest(entry.key for entry in new) if all_read else record.digest,
        entries=record.entries | _keys(record.entries, old, new),
        by_rules=record.by_rules | _keys(record.by_rules, old, new) if record.by_rules else record.by_rules,
    )


def _keys(known: frozenset[str], old: Sequence[Entry], new: Sequence[Entry]) -> frozenset[str]:
    """Return the hashes of the entries that stand where only known ones stood."""
    told = {number: entry.key in known for entry in old for number in range(entry.start_line, entry.end_line + 1)}
    found = set()
    for entry in new:
        here = [told[number] for number in range(entry.start_line, entry.end_line + 1) if number in told]
        if here and all(here):
            found.add(entry.key)
    return frozenset(found)
