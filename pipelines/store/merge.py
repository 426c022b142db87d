"""Merge a run's change into a file that changed meanwhile: keep the other edits, and add the run's items.

Each kind of file has its own merge: documents by item and their other lines as text, logs by appended text, state by
union. Files are merged one by one, so a move of an item that somebody changed meanwhile is cancelled: it would leave
the item in two places.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.document import Block, Document, Placed, block_of, document_at, edited
from pipelines.store.item import Item, render_item, row_of
from pipelines.store.layout import LOGS, PARTIAL, SETTINGS, STATE, kind_of
from pipelines.store.markdown import line_end, read_front_matter, split_lines
from pipelines.store.three_way import Clash, both, merge_texts
from pipelines.store.trees import read_version

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from pipelines.store.change_set import Change


def merge(path: str, before: bytes | None, after: bytes | None, current: bytes | None) -> bytes | None:
    """Return the merged content of a file from what the run read, what it would write, and the current content.

    A file that the run would delete stays if somebody changed it; of a partial log, only what was appended after it was
    folded stays. A file that somebody deleted is written again only for items that would otherwise be lost.
    """
    if current in {before, after, None}:
        return after
    before = before or b""
    if after is None:
        # Do not fold the same text twice: keep only what was appended since.
        grown = path.startswith(f"{PARTIAL}/") and current.startswith(before)
        return current[len(before) :] or None if grown else current
    if path.startswith(f"{LOGS}/"):
        return _merge_logs(before, after, current)
    if path.startswith(f"{STATE}/"):
        return b"".join(sorted({*_rows(after), *_rows(current)}))
    return (_merge_documents if kind_of(path) else _merge_plain)(path, before, after, current)


def _merge_logs(before: bytes, after: bytes, current: bytes) -> bytes:
    """Keep the new end of a log that grew; append the run's folded lines to one that was rewritten."""
    if current.startswith(after):
        return current
    if current.startswith(before):
        return after + current[len(before) :]
    known = {*_rows(before), *_rows(current)}
    return current + b"".join(row for row in _rows(after) if row not in known)


def _rows(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _merge_documents(path: str, before: bytes, after: bytes, current: bytes) -> bytes:
    """Merge items by id, and all other lines as text; of generated lines that clash, the current ones stay."""
    old, new, now = sides = tuple(read_version(path, data) for data in (before, after, current))
    if any(one.text.encode() != data for one, data in zip(sides, (before, after, current), strict=True)):
        return current  # not UTF-8
    was, run, here = map(blocks_in, sides)
    blocks = {}
    for ident in {**here, **run}:
        had, wanted, there = was.get(ident), run.get(ident), here.get(ident)
        if there is None:
            kept = None if had else wanted  # a person deleted it, or the run adds it
        elif had and there.item == had.item:
            kept = wanted
        else:
            kept = there
        if kept:
            blocks[ident] = replace(kept, notes=merge_notes(had, wanted or kept, there or kept))
    return merge_documents((old, new, now), blocks, _without_generated)[0].text.encode()


def blocks_in(document: Document) -> dict[str, Block]:
    """Return id → block, for every item with an id."""
    return {placed.item.id: block_of(document, placed) for placed in document.items if placed.item.id}


def _without_generated(clash: Clash) -> list[str]:
    return both(replace(clash, one=tuple(line for line in clash.one if not _GENERATED.search(line))))


def _merge_plain(path: str, before: bytes, after: bytes, current: bytes) -> bytes:
    """Merge a file without items line by line; settings that would be invalid stay as they are."""
    try:
        merged = merge_texts(*(data.decode() for data in (before, after, current)))[0]
        if path == SETTINGS:
            tomllib.loads(merged)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return current
    return merged.encode()


# ---------------------------------------- documents
# All but the items is merged as text; each item stands there as one token, and is put back in its place.


_TOKEN = re.compile(r"\x00(k[0-9a-f]+)\r?\n?")
_GENERATED = re.compile(r" <!-- [ps]:")


def merge_notes(before: Block | None, one: Block, other: Block) -> tuple[str, ...]:
    """Return the notes below an item, merged."""
    was, mine, theirs = ("".join(side.notes) if side else "" for side in (before, one, other))
    return tuple(split_lines(merge_texts(was, mine, theirs)[0]))


class MergedDocument(NamedTuple):
    """A merged document; where people's own lines clash, and where keys of the front matter do."""

    document: Document
    clashes: list[Clash]
    keys: list[Clash]


def merge_documents(
    sides: tuple[Document, Document, Document],
    blocks: Mapping[str, Block],
    resolve: Callable[[Clash], list[str]] = both,
) -> MergedDocument:
    """Return a document with the lines of both sides and these items. Of keys that clash, the greater line stands.

    Args:
        sides: the document before, on one side and on the other.
        blocks: id → the items that it will hold.
        resolve: what stands where people's own lines clash.
    """
    path, clashes, (front, keys) = sides[1].path, list[Clash](), _merge_front(sides)
    held = [side.held.keys() for side in sides]
    # An item that one side removed, and that stays all the same, keeps its place.
    stays = {ident for ident in blocks if (ident in held[1]) != (ident in held[2])}

    def resolved(clash: Clash) -> list[str]:
        was, mine, theirs = (_own_lines(side) for side in (clash.before, clash.one, clash.other))
        if was == mine:
            return [*clash.other, *(line for line in clash.one if _TOKEN.fullmatch(line) and line not in clash.other)]
        if was == theirs:
            return [*clash.one, *(line for line in clash.other if _TOKEN.fullmatch(line) and line not in clash.one)]
        own = Clash(was, mine, theirs)
        clashes.extend([own] if mine != theirs else [])
        return resolve(clash)

    bodies = (_skeleton(side, stays if side is sides[0] else ()) for side in sides)
    body = merge_texts(*bodies, resolve=resolved)[0]
    end, left, rows = line_end(split_lines(front + body)), dict(blocks), list[str]()
    for line in split_lines(body):
        if (token := _TOKEN.fullmatch(line)) is None:
            rows.append(line)
        elif block := left.pop(token[1], None):
            rows += [render_item(block.item) + end, *block.notes]
    ledger = {one.item.id: row_of(one.item) for one in blocks.values()}
    document = document_at(path, front + "".join(rows), ledger)
    homeless = [placed.item.id for placed in document.items if _lost_its_heading(placed, sides)]
    again = sorted([*left, *homeless], key=lambda ident: (blocks[ident].item.since, ident))
    document = edited(document, add=[blocks[ident] for ident in again], remove=homeless)
    return MergedDocument(document, clashes, keys)


def _lost_its_heading(placed: Placed, sides: Iterable[Document]) -> bool:
    """Whether an item came below another heading because its own is gone."""
    homes = [(one.section, side) for side in sides for one in side.items if one.item.id == placed.item.id]
    titles = {heading.title for _, side in homes for heading in side.headings}
    return bool(placed.item.id) and placed.section in titles - {title for title, _ in homes}


def _own_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that are a person's: no items, and nothing generated."""
    return tuple(line for line in lines if line.strip() and not _TOKEN.fullmatch(line) and not _GENERATED.search(line))


def _merge_front(sides: tuple[Document, Document, Document]) -> tuple[str, list[Clash]]:
    """Return the front matter, merged; where both changed a key, the greater line stands, on either machine."""
    was, mine, theirs = map(_front, sides)
    if not (mine and theirs):
        return mine or theirs, []
    merged, clashes = merge_texts(was, mine, theirs, resolve=lambda clash: list(max(clash.one, clash.other)))
    read = read_front_matter(split_lines(merged))
    keys = [key for key, _ in read.values]
    if read.faults or len(set(keys)) < len(keys) or not read.lines:  # each added the same key
        return max(mine, theirs), [Clash((), *(tuple(text.splitlines()) for text in (mine, theirs)))]
    return merged, clashes


def _front(document: Document) -> str:
    return "".join(document.lines[: document.front.lines])


def _skeleton(document: Document, without: Container[str]) -> str:
    """Return the text below the front matter, with a token in place of each item and its notes."""
    lines = list(document.lines)
    for placed in reversed(document.items):
        if ident := placed.item.id:
            lines[placed.line : placed.end] = [f"\0{ident}\n"] * (ident not in without)
    return "".join(lines[document.front.lines :])


def _items(path: str, data: bytes | None) -> Mapping[str, tuple[str, Item]]:
    return read_version(path, data).held if kind_of(path) else {}


def without_void_moves(changes: Sequence[Change], currents: Sequence[bytes | None]) -> list[Change]:
    """Return a change set without the moves of items that somebody changed, or moved, meanwhile.

    Args:
        changes: the change set.
        currents: the current content of each of its files.
    """
    void: set[str] = set()
    for change, current in zip(changes, currents, strict=True):
        if current not in {change.before, change.after}:
            was, will, now = (_items(change.path, one) for one in (change.before, change.after, current))
            void |= {ident for ident in was.keys() - will.keys() if ident in now and now[ident] != was[ident]}
    if void:
        void &= {ident for change in changes for ident in _moves(change)[1]}
    if not void:
        return list(changes)
    return [_undone(change, void, current) for change, current in zip(changes, currents, strict=True)]


def _moves(change: Change) -> tuple[set[str], set[str]]:
    """Return the items that leave a file, and those that arrive in it."""
    old, new = (_items(change.path, side).keys() for side in (change.before, change.after))
    return old - new, new - old


def _undone(change: Change, void: set[str], current: bytes | None) -> Change:
    """Return the change without moving these items; a move that already happened is reversed."""
    stay, arrive = (void & idents for idents in _moves(change))
    if not (stay or arrive):
        return change
    old, new = (read_version(change.path, side) for side in (change.before, change.after))
    blocks = [block for ident, block in sorted(blocks_in(old).items()) if ident in stay]
    after = edited(new, add=blocks, remove=arrive).text.encode()
    return replace(change, before=current if current == change.after else change.before, after=after)
