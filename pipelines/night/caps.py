"""Bring every document under its cap; what leaves one moves to a known place.

MEMORY.md and USER.md give their lowest-priority items to Areas/general.md; other documents give theirs, closed ones
first, to `Archives/NAME-YEAR.md`. What people wrote stays where it is, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.night.briefing import briefing_sections, with_briefing, with_true_now
from pipelines.night.file_items import new_document
from pipelines.night.sentences import with_episodes, with_history, with_states
from pipelines.store.document import Block, Document, Placed, block_of, edited
from pipelines.store.generated import without_rows
from pipelines.store.item import Item, ItemType, Status
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind, archive_path
from pipelines.store.priority import days_apart, priority

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pipelines.settings import Settings


_CAPPED = frozenset({Kind.PROJECT, Kind.AREA, Kind.RESOURCE})
POINTER_SHARE: Final = 3
"""The briefing's rows get at least one such part of its cap, if they need it."""
_FRESH_DAYS = 14
"""What was learnt or confirmed in so many days before the latest day of any log leaves a page last."""


@dataclass(frozen=True, slots=True)
class Moved:
    """An item that left a document because of its cap."""

    id: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """The documents under their caps, and what became of them.

    Args:
        documents: every document by path.
        moved: the items that moved.
    """

    documents: Mapping[str, Document]
    moved: tuple[Moved, ...]


def prune(
    documents: Mapping[str, Document],
    settings: Settings,
    closed: frozenset[str],
    vetoed: frozenset[str] = frozenset(),
) -> Pruned:
    """Bring every document under its cap, and write the generated text anew; a second time, nothing moves.

    Items move one way: to a page's History, out of USER.md and MEMORY.md to Areas/general, and from pages to archives.
    So one pass in this order is enough. Areas/general comes last, since it takes what MEMORY.md has no room for.

    Args:
        documents: all documents by path.
        settings: the caps in bytes.
        closed: files that exist but cannot be read; nothing is moved into them.
        vetoed: what people deleted from the generated sentences.
    """
    caps, newest = settings.caps, max((one.newest for one in documents.values()), default="")
    after, moved = with_history(documents, newest), list[Moved]()
    if USER in after and USER not in closed:
        _shrink(after, USER, caps.user, newest, closed, moved)
    after = with_states(after, vetoed)
    general = free_path(GENERAL, closed)
    for path in [one for one in sorted(after) if one != general and one not in closed]:
        _overflow(after, path, caps.document, newest, closed, moved, vetoed)
    if BRIEFING in after:
        after[BRIEFING] = with_briefing(without_rows(after[BRIEFING]), (), caps.briefing)  # without their headings
        # What leaves may need one more row, so repeat until nothing leaves.
        leaves = BRIEFING not in closed
        while leaves:
            bare = after[BRIEFING]
            whole = with_briefing(bare, briefing_sections(after), bare.size + caps.briefing, vetoed)
            room = min(whole.size - bare.size, caps.briefing // POINTER_SHARE)
            leaves = _shrink(after, BRIEFING, caps.briefing - room, newest, closed, moved)
    if general in after:
        after |= with_states({general: after[general]}, vetoed)
        _overflow(after, general, caps.document, newest, closed, moved, vetoed)
    after = with_true_now(with_episodes(after, vetoed, closed), vetoed=vetoed)
    if BRIEFING in after:
        after[BRIEFING] = with_briefing(after[BRIEFING], briefing_sections(after), caps.briefing, vetoed)
    return Pruned(after, tuple(moved))


def _shrink(
    documents: dict[str, Document], path: str, cap: int, newest: str, closed: frozenset[str], moved: list[Moved]
) -> bool:
    """Move the lowest-priority items out of MEMORY.md or USER.md until it is under `cap` bytes.

    Only items that runs extracted leave: rules and decisions after others, pinned ones last, if the cap requires it. If
    people's own text alone exceeds the cap, all of them leave.

    Returns:
        Whether any item left.
    """
    document, late = documents[path], {ItemType.RULE, ItemType.DECISION}
    candidates = [placed for placed in document.items if placed.item.id and placed.item.by]
    candidates.sort(
        key=lambda placed: (
            2 if placed.item.pinned else placed.item.type in late,
            priority(placed.item, newest),
            placed.item.since,
            placed.item.id,
        )
    )
    if out := [block_of(document, placed) for placed in _first_until_under(cap, document, candidates)]:
        documents[path] = edited(document, remove=[block.item.id for block in out])
        _move(documents, out, path, free_path(GENERAL, closed), moved)
    return bool(out)


def _first_until_under(cap: int, document: Document, candidates: Iterable[Placed]) -> list[Placed]:
    """Return the candidates that must leave a document to bring it under its cap."""
    over, out = document.size - cap, []
    for placed in candidates:
        if over <= 0:
            break
        over -= len("".join(document.lines[placed.line : placed.end]).encode())
        out.append(placed)
    return out


def _move(documents: dict[str, Document], blocks: list[Block], source: str, target: str, moved: list[Moved]) -> None:
    home = documents.get(target) or new_document(target, "")
    documents[target] = edited(home, add=blocks)
    moved += [Moved(block.item.id, source, target) for block in blocks]


def _leaving_order(item: Item, newest: str) -> tuple[int, float, str, str]:
    """Return what an item's turn to leave a page is sorted by: closed ones first, oldest first, then by priority.

    Open items, goals, contacts, questions and how-tos leave late. What the last days brought or confirmed leaves last
    of all, the oldest day first: a page full of open todos must not turn away what is new.
    """
    if not item.active:
        return (0, 0.0, item.since, item.id)
    worth, age = priority(item, newest), days_apart(max(item.learnt, item.confirmed), newest)
    if age <= _FRESH_DAYS:
        return (3, worth - age, item.since, item.id)  # worth is at most 1: pinned items stay
    is_late = item.type in {ItemType.TODO, ItemType.RISK} or item.page_section
    return (2 if is_late else 1, worth, item.since, item.id)


def _overflow(  # noqa: PLR0913, PLR0917  the page, and all that its cap depends on
    documents: dict[str, Document],
    path: str,
    cap: int,
    newest: str,
    closed: frozenset[str],
    moved: list[Moved],
    vetoed: frozenset[str],
) -> None:
    """Move items out of a page until it is under `cap` with its new State."""
    while (document := documents[path]).size > cap and document.kind in _CAPPED:
        movable = [placed for placed in document.items if placed.item.id and placed.item.by and not placed.item.pinned]
        movable.sort(key=lambda placed: _leaving_order(placed.item, newest))
        if not (out := _first_until_under(cap, document, movable)):
            return
        left = edited(document, remove=[placed.item.id for placed in out])
        documents |= with_states({path: left}, vetoed)
        _archive(documents, document, out, closed, moved)


def _archive(
    documents: dict[str, Document],
    document: Document,
    out: Sequence[Placed],
    closed: frozenset[str],
    moved: list[Moved],
) -> None:
    """Move items that left a page to the archives of their years."""
    archives: dict[str, list[Block]] = {}
    for placed in sorted(out, key=lambda p: p.line):
        block = block_of(document, placed)
        target = free_path(archive_path(document.path, block.item.since), closed)
        archives.setdefault(target, []).append(Block(archived(block.item), block.notes))
    for target, blocks in archives.items():
        _move(documents, blocks, document.path, target, moved)


def archived(item: Item) -> Item:
    """Return the item as an archive holds it: an active item is archived, a closed one is unchanged."""
    return replace(item, status=Status.ARCHIVED) if item.active else item


def free_path(path: str, taken: Collection[str]) -> str:
    """Return `path`, or its first free numbered variant: `NAME.md`, `NAME-2.md` and so on."""
    stem, number = path.removesuffix(".md"), 1
    while path in taken:
        number += 1
        path = f"{stem}-{number}.md"
    return path
