"""Bring every document under its cap; what leaves one moves to a known place.

MEMORY.md and USER.md give their lowest-priority items to Areas/general.md; other documents give theirs, closed ones
first, to `Archives/NAME-YEAR.md`. What people wrote stays where it is, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

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


@dataclass
class Pruned:
    """The documents under their caps, and what became of them.

    Args:
        documents: every document by path.
        closed: files that exist but cannot be read; nothing is moved into them.
        vetoed: what people deleted from the generated sentences.
        newest: the latest day of any item.
        moved: the items that moved.
    """

    documents: dict[str, Document]
    closed: frozenset[str]
    vetoed: frozenset[str]
    newest: str
    moved: list[Moved] = field(default_factory=list)

    def shrink(self, path: str, cap: int) -> bool:
        """Move the lowest-priority items out of MEMORY.md or USER.md until it is under `cap` bytes.

        Only items that runs extracted leave: rules and decisions after others, pinned ones last, if the cap requires
        it. If people's own text alone exceeds the cap, all of them leave.

        Returns:
            Whether any item left.
        """
        if path in self.closed:
            return False
        document, late = self.documents[path], {ItemType.RULE, ItemType.DECISION}

        def turn(item: Item) -> tuple[int, float, str, str]:
            return 2 if item.pinned else item.type in late, priority(item, self.newest), item.since, item.id

        out = _leaving(cap, document, [one for one in document.items if one.item.id and one.item.by], turn)
        if out:
            self.documents[path] = edited(document, remove=[placed.item.id for placed in out])
            self._move([block_of(document, one) for one in out], path, free_path(GENERAL, self.closed))
        return bool(out)

    def overflow(self, path: str, cap: int) -> None:
        """Move items out of a page, to the archives of their years, until it is under `cap` with its new State."""

        def turn(item: Item) -> tuple[int, float, str, str]:
            # Closed ones first, oldest first, then by priority. Open items, goals, contacts, questions and how-tos
            # leave late. What the last days brought or confirmed leaves last of all, the oldest day first: a page full
            # of open todos must not turn away what is new.
            if not item.active:
                return 0, 0.0, item.since, item.id
            worth = priority(item, self.newest)
            if (age := days_apart(max(item.learnt, item.confirmed), self.newest)) <= _FRESH_DAYS:
                return 3, worth - age, item.since, item.id  # worth is at most 1: pinned items stay
            is_late = item.type in {ItemType.TODO, ItemType.RISK} or item.page_section
            return 2 if is_late else 1, worth, item.since, item.id

        while (document := self.documents[path]).size > cap and document.kind in _CAPPED:
            movable = [one for one in document.items if one.item.id and one.item.by and not one.item.pinned]
            if not (out := _leaving(cap, document, movable, turn)):
                return
            left = edited(document, remove=[placed.item.id for placed in out])
            self.documents |= with_states({path: left}, self.vetoed)
            archives: dict[str, list[Block]] = {}
            for block in (block_of(document, placed) for placed in sorted(out, key=lambda one: one.line)):
                target = free_path(archive_path(path, block.item.since), self.closed)
                archives.setdefault(target, []).append(Block(archived(block.item), block.notes))
            for target, blocks in archives.items():
                self._move(blocks, path, target)

    def _move(self, blocks: Sequence[Block], source: str, target: str) -> None:
        home = self.documents.get(target) or new_document(target, "")
        self.documents[target] = edited(home, add=blocks)
        self.moved += [Moved(block.item.id, source, target) for block in blocks]


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
    work = Pruned(with_history(documents, newest), closed, vetoed, newest)
    if USER in documents:
        work.shrink(USER, caps.user)
    work.documents = with_states(work.documents, vetoed)
    general = free_path(GENERAL, closed)
    for path in [one for one in sorted(work.documents) if one != general and one not in closed]:
        work.overflow(path, caps.document)
    if BRIEFING in documents:  # without the headings of its rows
        work.documents[BRIEFING] = with_briefing(without_rows(work.documents[BRIEFING]), (), caps.briefing)
        leaves = True
        while leaves:  # what leaves may need one more row
            bare = work.documents[BRIEFING]
            whole = with_briefing(bare, briefing_sections(work.documents), bare.size + caps.briefing, vetoed)
            room = min(whole.size - bare.size, caps.briefing // POINTER_SHARE)
            leaves = work.shrink(BRIEFING, caps.briefing - room)
    if general in work.documents:
        work.documents |= with_states({general: work.documents[general]}, vetoed)
        work.overflow(general, caps.document)
    after = work.documents = with_true_now(with_episodes(work.documents, vetoed, closed), vetoed=vetoed)
    if BRIEFING in after:
        after[BRIEFING] = with_briefing(after[BRIEFING], briefing_sections(after), caps.briefing, vetoed)
    return work


def _leaving(
    cap: int, document: Document, movable: Iterable[Placed], turn: Callable[[Item], tuple[int, float, str, str]]
) -> list[Placed]:
    """Return what must leave a document to bring it under its cap, in the order of their turns."""
    over, out = document.size - cap, []
    for placed in sorted(movable, key=lambda one: turn(one.item)):
        if over <= 0:
            break
        over -= len("".join(document.lines[placed.line : placed.end]).encode())
        out.append(placed)
    return out


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
