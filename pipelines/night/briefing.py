"""Prune: every document is brought under its cap; what leaves one goes to a named place, and nothing is dropped.

MEMORY.md and USER.md give their lowest-priority items to Areas/general.md; other documents give theirs, closed ones
first, to `Archives/NAME-YEAR.md`. What people wrote stays where it is, whatever its size.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.night.file_items import new_document
from pipelines.night.pointers import newest_day, pointer_rows, with_pointers, without_pointers
from pipelines.store.document import Block, block_of, edited, with_front_matter
from pipelines.store.item import Confidence, Status, Trust, priority, render_item
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipelines.settings import Settings
    from pipelines.store.document import Document, Placed
    from pipelines.store.item import Item
    from pipelines.store.snapshot import Snapshot

    Rank = Callable[[Item], float]


POINTER_SHARE: Final = 4


@dataclass(frozen=True, slots=True)
class Moved:
    """An item that left a document because of its cap."""

    id: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """The documents under their caps, and what was moved."""

    documents: Mapping[str, Document]
    moved: tuple[Moved, ...]


def prune(
    documents: Mapping[str, Document], settings: Settings, closed: frozenset[str], link: Callable[[str], str] = str
) -> Pruned:
    """Bring every document under its cap, and write the briefing's pointers anew.

    Args:
        documents: all documents by path.
        settings: the caps, in bytes, and what the priority is made of.
        closed: files that are there and cannot be read; nothing is moved into them.
        link: a path as a link in MEMORY.md leads to it.
    """
    after, caps = dict(documents), settings.caps
    rank = partial(priority, newest=newest_day(documents.values()), weights=settings.priority)
    moved: list[Moved] = []
    general = _free_path(GENERAL, closed)
    if BRIEFING in after:
        bare = without_pointers(after[BRIEFING])
        reserve = min(_pointer_bytes(bare, pointer_rows(after, link)), caps.briefing // POINTER_SHARE)
        kept, out = _shrunk(bare, caps.briefing - reserve, rank)
        after[BRIEFING] = kept
        _move(after, out, BRIEFING, general, moved)
    if USER in after:
        after[USER], out = _shrunk(after[USER], caps.user, rank)
        _move(after, out, USER, general, moved)
    for path in sorted(after):
        if after[path].kind in {Kind.PROJECT, Kind.AREA, Kind.RESOURCE} and after[path].size > caps.document:
            _overflow(after, path, caps.document, rank, closed, moved)
    if BRIEFING in after:
        after[BRIEFING] = _pointed(after[BRIEFING], pointer_rows(after, link), caps.briefing)
    return Pruned(after, tuple(moved))


def _free_path(path: str, closed: frozenset[str]) -> str:
    """Return `path`, or the first numbered variant of it that is not closed to writing."""
    stem, number = path.removesuffix(".md"), 1
    while path in closed:
        number += 1
        path = f"{stem}-{number}.md"
    return path


# ------------------------------------------------------------ the briefing


def _pointer_bytes(bare: Document, rows: list[tuple[str, str]]) -> int:
    return with_pointers(bare, rows).size - bare.size


def _pointed(bare: Document, rows: list[tuple[str, str]], cap: int) -> Document:
    """Return the briefing with as many pointers as its cap leaves room for, each section's last ones cut first."""
    while rows and with_pointers(bare, rows).size > cap:
        longest = max({title for title, _ in rows}, key=lambda title: sum(name == title for name, _ in rows))
        last = max(number for number, (title, _) in enumerate(rows) if title == longest)
        rows.pop(last)
    return with_pointers(bare, rows)


def _shrunk(document: Document, cap: int, rank: Rank) -> tuple[Document, list[Block]]:
    """Return the document under `cap` bytes, and the items that left it, lowest priority first.

    Only what runs extracted leaves; what is pinned leaves last, where the cap itself forces it. Where people's own text
    exceeds the cap alone, all of that leaves.
    """
    candidates = [placed for placed in document.items if placed.item.id and placed.item.by]
    candidates.sort(key=lambda placed: (rank(placed.item), placed.item.since, placed.item.id))
    over, out = document.size - cap, []
    for placed in candidates:
        if over <= 0:
            break
        over -= _size(document, placed)
        out.append(block_of(document, placed))
    return edited(document, remove=[block.item.id for block in out]) if out else document, out


def _size(document: Document, placed: Placed) -> int:
    return len("".join(document.lines[placed.line : placed.end]).encode())


def _move(
    documents: dict[str, Document], blocks: Iterable[Block], source: str, target: str, moved: list[Moved]
) -> None:
    blocks = list(blocks)
    if not blocks:
        return
    home = documents.get(target) or new_document(target, "", max(block.item.since for block in blocks))
    documents[target] = edited(home, add=blocks)
    moved += [Moved(block.item.id, source, target) for block in blocks]


# ------------------------------------------------------------ the other documents


def _overflow(
    documents: dict[str, Document], path: str, cap: int, rank: Rank, closed: frozenset[str], moved: list[Moved]
) -> None:
    """Move items out of a document until it is under `cap`: closed ones first, oldest first, then by priority."""
    document = documents[path]
    may_leave = (p for p in document.items if p.item.id and p.item.by and not p.item.pinned)
    ranked = sorted(may_leave, key=lambda p: _leaving_order(p.item, rank))
    over, out = document.size - cap, []
    for placed in ranked:
        if over <= 0:
            break
        over -= _size(document, placed)
        out.append(placed)
    documents[path] = edited(document, remove=[placed.item.id for placed in out])
    shelves: dict[str, list[Block]] = {}
    room: dict[str, int] = {}
    for placed in sorted(out, key=lambda p: p.line):
        block = block_of(document, placed)
        block = Block(archived(block.item), block.notes)
        shelves.setdefault(_archive_for(documents, path, block, cap, closed, room), []).append(block)
    for target, blocks in shelves.items():
        _move(documents, blocks, path, target, moved)


def _leaving_order(item: Item, rank: Rank) -> tuple[int, float, str, str]:
    if item.status is Status.OPEN:
        return (2, rank(item), item.since, item.id)
    return (1, rank(item), item.since, item.id) if item.active else (0, 0.0, item.since, item.id)


def archived(item: Item) -> Item:
    """Return the item as it stands in an archive: what was believed is archived, what was closed stays as it was."""
    return replace(item, status=Status.ARCHIVED) if item.active else item


def _archive_for(
    documents: Mapping[str, Document],
    path: str,
    block: Block,
    cap: int,
    closed: frozenset[str],
    room: dict[str, int],
) -> str:
    """Return the archive of the item's year, or the first numbered part of it that has room under `cap`."""
    name = path.removesuffix(".md").rpartition("/")[2]
    stem, number = f"Archives/{name}-{block.item.since[:4] or 'undated'}", 1
    need = len(render_item(block.item).encode()) + 1 + sum(len(note.encode()) for note in block.notes)
    while True:
        target = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
        if target not in room:
            room[target] = cap - 512 - (documents[target].size if target in documents else 0)
        if target not in closed and (room[target] >= need or (target not in documents and room[target] == cap - 512)):
            room[target] -= need
            return target
        number += 1


# ---------------------------------------- quality
# Quality: the front matter of a changed document says how far its items can be relied on.


def with_quality(
    before: Mapping[str, Document], after: Mapping[str, Document], theirs: frozenset[str] = frozenset()
) -> dict[str, Document]:
    """Return `after` with `updated` and the quality fields set in each document whose text changed.

    `updated` is the newest day that its items speak of. A document without front matter stays as it is, and so does the
    front matter of one in `theirs`, a person's own file into which items may be written.
    """
    told = dict(after)
    for path, document in after.items():
        if path in theirs:
            continue
        earlier = before.get(path)
        if document.text != (earlier.text if earlier else None) and document.front.lines:
            held = bool(document.items or (earlier and earlier.items))
            told[path] = with_front_matter(document, _fields(document, document.newest, held=held))
    return told


_SOURCES: Final = frozenset({"", "logs", "owner", "logs, owner"})
"""What runs write as a source; anything else is a person's, say the address that a resource was clipped from."""


def _fields(document: Document, newest: str, *, held: bool) -> dict[str, str]:
    items = [placed.item for placed in document.items if _counts(document, placed.item)]
    updated = {"updated": newest} if newest else {}
    if not items:
        none = {"trust": "self", "confidence": "medium", "confidence_reason": "no item holds"}
        return updated | (none if held else {})
    counts = Counter(item.confidence for item in items)
    middle = sorted(list(Confidence).index(item.confidence) for item in items)[len(items) // 2]
    told = ", ".join(f"{counts[level]} {level}" for level in Confidence if counts[level])
    lowest = max(items, key=lambda item: list(Trust).index(item.trust)).trust
    count = "1 item" if len(items) == 1 else f"{len(items)} items"
    own = document.front.get("source") not in _SOURCES
    source = {} if own else {"source": ", ".join(sorted({_source(item) for item in items}))}
    return {
        "updated": newest,
        **source,
        "trust": lowest,
        "confidence": list(Confidence)[middle],
        "confidence_reason": f"{count}: {told}",
    }


def _counts(document: Document, item: Item) -> bool:
    """Whether an item says what a document is worth: what holds; in an archive, what held when it came there."""
    return item.active or (document.kind is Kind.ARCHIVE and item.status is Status.ARCHIVED)


def _source(item: Item) -> str:
    """Return where an item comes from: a log, by its evidence, or its owner's own hand."""
    return "logs" if item.evidence else "owner"


# ---------------------------------------- tidying: documents under their caps
# with the front matter that follows from what is left in them.


_ROUNDS: Final = 4
"""How often documents are brought under their caps; the second time is nearly always the last."""


def tidied(documents: Mapping[str, Document], snapshot: Snapshot, settings: Settings, closed: frozenset[str]) -> Pruned:
    """Return the documents under their caps, their quality fields written, and what was moved.

    What a document says of its quality takes room, too, and changes with what leaves it: so a document that was brought
    under its cap is looked at again, and the next run finds nothing left to move.

    Args:
        documents: all documents by path, as they are to be written.
        snapshot: the memory as it was read.
        settings: the caps, in bytes, and what the priority is made of.
        closed: files that are there and cannot be read; nothing is moved into them.
    """
    before, theirs = snapshot.documents, snapshot.theirs()
    moved: tuple[Moved, ...] = ()
    for _ in range(_ROUNDS):
        pruned = prune(with_quality(before, documents, theirs), settings, closed, snapshot.link)
        documents, moved = pruned.documents, (*moved, *pruned.moved)
        if not pruned.moved:
            break
    return Pruned(with_quality(before, documents, theirs), moved)
