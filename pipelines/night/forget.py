"""`curate forget`: remove an item for good from everything but git's history, in one commit.

Derived data (kept replies, the index) goes first, since it can be rebuilt; the commit decides. If the command is killed
before the commit, nothing is forgotten, and it must be run again. A log keeps its line count, so that other items'
evidence stays valid, and no run reads what has lines blotted out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import CurateError
from pipelines.extract.llm.fallback import drop_replies
from pipelines.night.manual import HeldMemory, ManualChange, change_by_hand
from pipelines.night.report import TRAVELLING
from pipelines.review.outcomes import named_in_title
from pipelines.search.indexed_files import scan
from pipelines.store.change_set import Change, items_by_id, placed_item
from pipelines.store.document import Document, edited, with_marks
from pipelines.store.evidence import Quotes, starts_of, without_pointer
from pipelines.store.files import list_files, open_regular, writing
from pipelines.store.generated import without_sentences
from pipelines.store.layout import PRIVATE, REVIEW, SESSIONS, is_note
from pipelines.store.lock import private_folder
from pipelines.store.log import FORGOTTEN, Entry, parse_entries, with_newlines
from pipelines.store.review_queue import read_queue, without_answered
from pipelines.store.snapshot import Snapshot, read_snapshot
from pipelines.store.spoken_lines import parse_spoken
from pipelines.store.state import Reason, tombstone
from pipelines.store.template import named_item
from pipelines.store.wording import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipelines.night.manual import OpenMemory
    from pipelines.store.item import Evidence, Item

    Words = tuple[str, ...]
    """The texts to forget, folded: the item's own, and the log lines of its evidence."""


LEAST_WORDS = 3
"""Shorter texts are too common to search for; they are blotted out only where the item's evidence is."""
_MOST_LINES = 40
_ESCAPED = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|.)")
"""A character as JSON escapes it, or JSON within JSON."""
# The start of a line and the pointer to its record are structure: they separate entries.
_BEFORE = re.compile(
    r"[ \t]*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)]|>)[ \t]+)*(?:\[[ xX]\][ \t]+)?(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?[ \t]+)?"
)
_POINTER = re.compile(r"(?<![ \t])[ \t]*<!-- Sessions/[^<>\s]+(?: [a-z]+~[0-9a-f-]+)? -->[ \t]*\Z")


class Forgotten(NamedTuple):
    """What was forgotten, and what remains.

    Args:
        lines: how many log lines were blotted out.
        unlinked: ids of items that linked to it.
        left: files and lines that still hold its words and that no run may change.
    """

    lines: int
    unlinked: tuple[str, ...]
    left: tuple[str, ...]


def forget(opened: OpenMemory, prefix: str) -> Forgotten:
    """Forget the item whose id starts with a prefix.

    Raises:
        UnknownItem: none or more than one matches.
        CurateError: any error of a manual change.
    """
    root = opened[0]
    with change_by_hand(opened, "curate forget") as held:
        ident = named_item(prefix, items_by_id(held.documents))
        item = placed_item(held.documents, ident)[1].item
        words = _words_of(item, root)
        documents, unlinked, places = _cleared(held, ident, words)
        logs = _blots(held.snapshot, item, words)
        places += _left(held, words)
        drop_replies(root)
        with writing(PRIVATE):  # the index is rebuilt after the commit
            for name in ("index.db", "index.db-wal", "index.db-shm", "start"):
                (private_folder(root) / name).unlink(missing_ok=True)
        stones = [tombstone(item, held.today, Reason.FORGOTTEN)]
        further = [blot.change for blot in logs]
        held.write(
            ManualChange(documents, f"Forget {ident}", changed=1 + len(unlinked), stones=stones, further=further)
        )
        return Forgotten(sum(len(blot.out) for blot in logs), unlinked, tuple(places))


def bereft(root: Path, forgotten: Item) -> list[Item]:
    """Return the other items that rest on a log line which goes with an item."""
    snapshot = read_snapshot(root)
    logs = {blot.change.path: blot for blot in _blots(snapshot, forgotten, _words_of(forgotten, root))}

    def goes(place: Evidence) -> bool:
        blot = logs.get(place.path)
        starts = starts_of(place, blot.rows) if blot else ()
        return any(blot and not blot.out.isdisjoint(range(at, at + place.height)) for at in starts)

    others = (placed.item for _, placed in snapshot.items() if placed.item.id != forgotten.id)
    return [one for one in others if any(map(goes, one.evidence))]


def _words_of(item: Item, root: Path) -> Words:
    """Return the texts to forget with an item: its sentence, and the log lines of its evidence.

    Texts too short to be distinctive are left out, and so is the pointer at the end of a captured line.
    """
    quotes = Quotes(root)
    bare = [without_pointer(quotes.text(one)) for one in item.evidence]
    texts = dict.fromkeys(map(folded, (item.text, *bare, *(parse_spoken(one).said for one in bare))))
    return tuple(text for text in texts if len(text.split()) >= LEAST_WORDS)


def _says(text: str, words: Words) -> bool:
    """Whether a text contains any of the texts to forget, ignoring case and punctuation."""
    hay = f" {folded(text)} " if words else ""
    return any(f" {needle} " in hay for needle in words)


def _cleared(held: HeldMemory, ident: str, words: Words) -> tuple[dict[str, Document], tuple[str, ...], list[str]]:
    """Return the documents without an item, its notes, questions about it and links to it.

    Returns:
        The documents; ids of items that no longer link to it; places (`PATH:LINE`) that still hold its words, in a
        person's text or another item.
    """
    after = dict(held.documents)
    if REVIEW in after:
        after[REVIEW] = _unasked(after[REVIEW], ident, words)
    unlinked, left = list[str](), list[str]()
    for path, document in sorted(after.items()):
        bare = edited(document, remove=[ident])
        new = {p.line: cut for p in bare.items if p.item.id and (cut := _unlinked(p.item, ident)) != p.item}
        unlinked += [item.id for item in new.values()]
        bare = with_marks(bare, new) if new else bare
        page = after[path] = without_sentences(bare, lambda _, one: ident in one.ids or _says(one.text, words))
        said = (number for number, line in enumerate(page.lines) if _says(line.partition("<!-- ")[0], words))
        left += [f"{path}:{number + 1}" for number in said if number not in page.generated]
    return after, tuple(unlinked), left


def _unlinked(item: Item, ident: str) -> Item:
    """Return an item without links to the forgotten one; its status stays."""
    links = tuple((kind, kept) for kind, ids in item.links if (kept := tuple(one for one in ids if one != ident)))
    return replace(
        item,
        links=links,
        superseded_by="" if item.superseded_by == ident else item.superseded_by,
        merged_into="" if item.merged_into == ident else item.merged_into,
        extra=tuple(pair for pair in item.extra if pair != ("against", ident)),
    )


def _unasked(queue: Document, ident: str, words: Words) -> Document:
    """Return Review.md without questions about the item; quotes of it elsewhere are blotted out."""
    asked = [
        (entry, [ident] if entry.items else [])
        for entry in read_queue(queue)
        if any(item.id == ident for item in entry.items) or ident == named_in_title(entry.title)
    ]
    bare = without_answered(queue, asked)
    lines, items = list(bare.lines), {placed.line for placed in bare.items}
    marks = {entry.first for entry in read_queue(bare)}
    for number, line in enumerate(lines):
        if number not in items and _says(line.partition("<!-- ")[0], words):
            end = line[len(line.rstrip("\r\n")) :]
            mark = " " + line[line.index("<!-- ") :].rstrip("\r\n") if number in marks else ""
            lines[number] = f"{'## ' if mark else ''}{FORGOTTEN}{mark}{end}"
    return bare.with_text("".join(lines))


class _Blot(NamedTuple):
    """A log with the words blotted out: the change, its rows before, and the numbers of those blotted, from 0."""

    change: Change
    rows: Sequence[str]
    out: frozenset[int]


def _blots(snapshot: Snapshot, item: Item, words: Words) -> list[_Blot]:
    """Return the logs that hold the words, and what is blotted out of them."""
    logs = {**snapshot.logs, **snapshot.partials}.items()
    return [blot for log in logs if not is_note(log[0]) and (blot := _blotted(*log, item, words)).out]


def _blotted(path: str, data: bytes, item: Item, words: Words) -> _Blot:
    """Return a log with an item's evidence and every line that says its words blotted out.

    A quote is found by its hash, everywhere: the same words elsewhere are the same words.
    """
    rows = with_newlines(data.decode(errors="surrogateescape")).split("\n")
    plain = [row.removesuffix("\r") for row in rows]
    out: set[int] = set()
    for place in (one for one in item.evidence if one.path == path):
        for start in starts_of(place, plain):
            out |= set(range(start, start + place.height))
    for entry in parse_entries(path, "", "\n".join(rows)) if _says(" ".join(plain), words) else ():
        out |= _lines_saying(entry, plain, words)
    out = {number for number in out if plain[number].strip()}
    for number in out:
        before, pointer = _BEFORE.match(plain[number]), _POINTER.search(plain[number])
        end = rows[number][len(plain[number]) :]
        rows[number] = f"{before[0] if before else ''}{FORGOTTEN}{pointer[0].rstrip() if pointer else ''}{end}"
    after = "\n".join(rows).encode(errors="surrogateescape")
    return _Blot(Change(path, data, after), plain, frozenset(out))


def _lines_saying(entry: Entry, lines: Sequence[str], words: Words) -> set[int]:
    """Return the lines of an entry that say the words: the shortest runs of lines that do."""
    if not _says(entry.text, words):
        return set()
    first, last = entry.start_line - 1, entry.end_line
    if last - first <= _MOST_LINES:
        for height in range(1, last - first + 1):
            starts = [n for n in range(first, last - height + 1) if _says(" ".join(lines[n : n + height]), words)]
            if starts:
                return {number for start in starts for number in range(start, start + height)}
    return set(range(first, last))


def _left(held: HeldMemory, words: Words) -> list[str]:
    """Return where the words remain in files that no run writes, by the names that people know.

    These are transcripts, reports, and notes.
    """
    root = held.snapshot.root
    folders = {SESSIONS: ".jsonl", f"{PRIVATE}/runs": ".json", TRAVELLING: ".json"}
    paths = [path for folder, ending in folders.items() for path in list_files(root, folder, ending)]
    found = scan(root)[0].keys() - held.documents.keys() - held.snapshot.logs.keys()
    paths += ["SOUL.md", "AGENTS.md", *filter(is_note, held.snapshot.logs)]
    paths += sorted(path for path in found if path.endswith((".md", ".txt")))
    return [f"{path}:{number}" for path in paths for number in _lines_with(root, path, words)]


def _lines_with(root: Path, path: str, words: Words) -> Iterator[int]:
    rare = [max(text.split(), key=len).encode() for text in words]
    try:
        file = open_regular(root, path)
    except CurateError:
        return
    if file:
        with file:
            for number, line in enumerate(file, 1):
                low = line.lower()
                if any(word in low or not word.isascii() for word in rare):
                    raw = line.decode(errors="replace")
                    said = _ESCAPED.sub(lambda at: chr(int(at[1], 16)) if at[1] else " ", raw)
                    yield from [number] * (_says(raw, words) or _says(said, words))
