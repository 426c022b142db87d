"""Undo what one run did to each item, in the memory as it is now; later changes stay.

Undoing an undo is the same operation, so an undo can be undone like any other run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.night.file_items import new_document
from pipelines.store.change_set import (
    ItemChange,
    ItemPlace,
    duplicate_ids,
    item_changes,
    item_places,
    with_recorded_edits,
)
from pipelines.store.document import ORDER, Document, document_at, insert_rows, section_of
from pipelines.store.generated import without_pointers, without_sentences
from pipelines.store.item import STRUCK, Item, Status, Trust
from pipelines.store.layout import FOLDERS, REVIEW, Kind
from pipelines.store.markdown import line_end
from pipelines.store.review_queue import read_queue, without_answered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


_ENDS = frozenset({Status.DONE, *STRUCK}) - {Status.SUPERSEDED, Status.MERGED}


@dataclass(frozen=True, slots=True)
class RunSides:
    """The documents that a run changed, by path, before and after it.

    Args:
        before: as they were, with people's edits that the run took up (`understood`).
        after: as the run left them.
        whole: whether every difference is the run's doing, as in the commit of a command.
    """

    before: Mapping[str, Document]
    after: Mapping[str, Document]
    whole: bool = False

    @classmethod
    def of(cls, before: Mapping[str, Document], after: Mapping[str, Document]) -> RunSides:
        """Return the sides of a run, made comparable."""
        return cls(with_recorded_edits(before, after), after)

    def changes(self) -> list[ItemChange]:
        """Return what the run itself did to items.

        Its commit may also hold what a person wrote meanwhile, ids that it gave to a person's lines, and the effects of
        answers in Review.md. Those are left out.
        """
        return [one for one in item_changes(self.before, self.after) if self.whole or not _is_persons(one)]

    def asked(self) -> frozenset[str]:
        """Return the ids of the entries of Review.md that the run added."""
        before, after = (read_queue(side.get(REVIEW)) for side in (self.before, self.after))
        return frozenset(one.id for one in after) - {one.id for one in before}


def _is_persons(change: ItemChange) -> bool:
    """Whether a person made a change: a run never rewords or strikes, and closes or reopens only on a log line."""
    before, after = change.before, change.after
    if REVIEW in {side.path for side in (before, after) if side}:
        return before is not None  # a run asks a question; all else follows from an answer
    if after is None:
        return False
    new = after.item
    if before is None:
        return not new.by and new.trust is Trust.OWNER
    old = before.item
    reworded = (old.type, old.text) != (new.type, new.text)
    struck = new.status is Status.RETRACTED and old.status is not Status.RETRACTED
    # A run closes an item on a log line, which becomes evidence, or because a second reader rejected it.
    turned = (new.status in _ENDS and old.active) or (old.status in _ENDS and new.active)
    return reworded or struck or (turned and old.evidence == new.evidence)


def undo(
    sides: RunSides,
    now: Mapping[str, Document],
    closed: frozenset[str],
    deleted: frozenset[str] = frozenset(),
    only: str = "",
    shown: Callable[[str], str] = str,
) -> Undone:
    """Return the memory with a run undone.

    Args:
        sides: the documents that the run changed.
        now: every document as it is.
        closed: files that exist but cannot be read; nothing is put into them.
        deleted: ids of items that a person deleted; they never come back.
        only: an item's id; undo only what the run did to it, and to others because of it. Empty for all.
        shown: turns a path into the file name that people know.
    """
    changes = [one for one in sides.changes() if not only or _concerns(one, only)]
    changes = [one for one in changes if one.after or one.id not in deleted]
    twice = duplicate_ids(now.values()) | duplicate_ids(sides.before.values()) | duplicate_ids(sides.after.values())
    work = Undone(sides, now, closed, shown)
    for change in changes:
        if change.id in twice:
            work.kept[change.id] = "is in two places, so it stays in both"
        else:
            work.revert(change)
    work.keep_what_others_rest_on(changes)
    work.documents = _without_questions(work, _rewritten(work, twice, whole=not only), whole=not only)
    return work


def _concerns(change: ItemChange, ident: str) -> bool:
    """Whether a change is of this item, or linked another to it: undoing it restores what it superseded."""
    if change.id == ident:
        return True
    before = change.before.item.linked if change.before else ()
    return change.after is not None and ident in change.after.item.linked and ident not in before


class Undone:
    """The memory with a run, or its change of one item, undone, and the decisions on each item.

    `documents` holds every document by path; those that the run created and nobody filled are gone. `wanted`
    is id → where an item belongs again, `gone` the ids to remove, and `kept` id → why an item stays as it is, as the
    end of a sentence that begins with the id.
    """

    def __init__(
        self,
        sides: RunSides,
        now: Mapping[str, Document],
        closed: frozenset[str] = frozenset(),
        shown: Callable[[str], str] = str,
    ) -> None:
        self.sides, self.now, self.closed, self.shown = sides, now, closed, shown
        self.present = item_places(now.values())
        self.documents = dict(now)
        self.wanted: dict[str, ItemPlace] = {}
        self.gone: list[str] = []
        self.kept: dict[str, str] = {}

    @property
    def removed(self) -> list[Item]:
        """The items that the run had added and that are removed."""
        return [self.present[ident].item for ident in self.gone]

    @property
    def restored(self) -> tuple[str, ...]:
        """The ids that the run had removed and that are back."""
        return tuple(ident for ident in self.wanted if ident not in self.present)

    @property
    def returned(self) -> tuple[str, ...]:
        """The ids of items whose wording, status or place is restored."""
        return tuple(ident for ident in self.wanted if ident in self.present)

    @property
    def changed(self) -> bool:
        """Whether anything was undone."""
        return bool(self.gone or self.wanted)

    @property
    def final(self) -> dict[str, ItemPlace]:
        """The place of each item after the undo."""
        return {ident: one for ident, one in {**self.present, **self.wanted}.items() if ident not in self.gone}

    def revert(self, change: ItemChange) -> None:
        """Decide what becomes of an item. What a person deleted since stays deleted."""
        ident, before, after, now = change.id, change.before, change.after, self.present.get(change.id)
        if after is None and before is not None:
            if now is not None:
                self.kept[ident] = "is back already"
            elif before.path == REVIEW and self.now.get(REVIEW) != self.sides.after.get(REVIEW):
                self.kept[ident] = (
                    f"was a question, and {self.shown(REVIEW)} has changed since, so it is not asked again"
                )
            elif self._takes(before.path):
                self.wanted[ident] = before
            else:
                self.kept[ident] = f"cannot come back: {self.shown(before.path)} is gone or cannot be read"
        elif after is not None and now is not None:
            if before is not None:
                self._put_back(ident, before, after, now)
            elif (now.said, now.notes) == (after.said, after.notes):
                self.gone.append(ident)
            else:
                self.kept[ident] = "was changed since, so it stays"

    def _put_back(self, ident: str, before: ItemPlace, after: ItemPlace, now: ItemPlace) -> None:
        if now.said != after.said:
            self.kept[ident] = "was changed since, so it stays as it is"
            return
        path, section = now.place
        if before.place != after.place:
            if now.place == after.place and self._takes(before.path):
                path, section = before.place
            else:
                self.kept[ident] = f"was moved since, so it stays in {self.shown(now.path)}"
        notes = now.notes or (before.notes if now.notes == after.notes else ())
        target = replace(before, path=path, section=section, notes=notes)
        if (target.place, target.said) != (now.place, now.said):
            self.wanted[ident] = target

    def _takes(self, path: str) -> bool:
        """Whether an item can be put there: the document exists, or the run removed it."""
        return path in self.now or (path not in self.closed and path not in self.sides.after)

    def keep_what_others_rest_on(self, changes: Sequence[ItemChange]) -> None:
        """Ensure that no item links to a removed one, or is live beside its successor."""
        successors = {
            one.id: one.after.item.superseded_by or one.after.item.merged_into for one in changes if one.after
        }
        while True:
            stays = [ident for ident in self.wanted if successors.get(ident, "") in self.kept]
            for ident in stays:
                del self.wanted[ident]
                self.kept[ident] = f"stays as it is: {successors[ident]}, which replaced it, stays"
            referred = {named: ident for ident, one in self.final.items() for named in one.item.linked}
            needed = [ident for ident in self.gone if ident in referred]
            for ident in needed:
                self.gone.remove(ident)
                self.kept[ident] = f"stays: {referred[ident]} refers to it"
            if not stays and not needed:
                return


def _rewritten(work: Undone, twice: frozenset[str], *, whole: bool) -> dict[str, Document]:
    """Return the documents with every item as decided; untouched documents are unchanged."""
    sides, now, present, final = work.sides, work.now, work.present, work.final
    rows: dict[str, dict[str, ItemPlace]] = {}
    for ident, one in final.items():
        if ident not in twice:
            rows.setdefault(one.path, {})[ident] = one
    documents = dict(now)
    differ = {i for i in present.keys() | final.keys() if present.get(i) != final.get(i)}
    places = {one.path for ident in differ for one in (present.get(ident), final.get(ident)) if one}
    for path in sorted({*sides.before, *sides.after, *places} if whole else places):
        base = _base(path, sides, now, twice, whole=whole)
        if base is None:
            continue
        document = _with_rows(base, rows.get(path, {}), twice)
        made = path in sides.after and path not in sides.before and path.partition("/")[0] in FOLDERS
        # Comparing with the run's commit will not do: somebody may have written to the file during the run.
        empty = document_at(path, "") if document.kind is Kind.EPISODE else new_document(path, document.title)
        if made and not document.items and own_words(document) == own_words(empty):
            documents.pop(path, None)  # it holds nothing but its template's text
        elif (path in now or rows.get(path)) and (path not in now or document.content != now[path].content):
            documents[path] = document
    return documents


def _without_questions(work: Undone, documents: dict[str, Document], *, whole: bool) -> dict[str, Document]:
    """Return the documents without the questions of the run that are about nothing any more."""
    asked, had = work.sides.asked(), {one.id for one in read_queue(work.now.get(REVIEW)) if one.items}
    document = documents.get(REVIEW)
    left = [(one, ()) for one in read_queue(document) if one.id in asked and not one.items and (whole or one.id in had)]
    return {**documents, REVIEW: without_answered(document, left)} if document and left else documents


def _base(
    path: str, sides: RunSides, now: Mapping[str, Document], twice: frozenset[str], *, whole: bool
) -> Document | None:
    """Return a document's base: its text before the run if only the run changed it since, else today's."""
    before, after, here = sides.before.get(path), sides.after.get(path), now.get(path)
    if here is None:
        return before if after is None else None
    if not whole or before is None or after is None or here.content != after.content:
        return here
    held = {p.item.id for side in (before, after) for p in side.items}
    return before if not held & twice and own_words(before) == own_words(after) else here


def _with_rows(document: Document, rows: Mapping[str, ItemPlace], twice: frozenset[str]) -> Document:
    """Return the document with exactly these items: their lines as they were, missing ones in their sections."""
    lines, end = list(document.lines), line_end(document.lines)
    missing = dict(rows)
    for placed in reversed(document.items):
        ident, one = placed.item.id, rows.get(placed.item.id)
        if not ident or ident in twice:
            continue
        if one is None or one.section != placed.section:
            del lines[placed.line : placed.end]
        else:
            missing.pop(ident, None)
            tail = lines[placed.line][len(lines[placed.line].rstrip("\r\n")) :]
            lines[placed.line : placed.end] = [one.line + (tail or end if one.notes else tail), *one.notes]
    titles = {h.title.casefold() for h in document.headings if h.level > 1}
    for one in missing.values():
        title = one.section if one.section.casefold() in titles else section_of(one.item)
        lines = insert_rows(lines, title, [one.line + end, *one.notes], ORDER)
    changed = [one.item for ident, one in rows.items() if one.row != document.rows.get(ident)]
    return document.with_text("".join(lines), changed)


def own_words(document: Document) -> list[object]:
    """Return what no run writes: no items, questions, generated lines, or their sections."""
    document = without_sentences(without_pointers(document), lambda *_: True)
    rows = {number for placed in document.items for number in range(placed.line, placed.end)}
    is_made = document.kind is Kind.EPISODE  # runs write all of its headings
    if document.path == REVIEW:
        rows |= {number for entry in read_queue(document) for number in range(entry.first, entry.end)}
    rows |= {one.line for one in document.headings if is_made or (one.level > 1 and one.title in ORDER)}
    body = [
        line.strip()
        for number, line in enumerate(document.lines)
        if number >= document.front.lines and number not in rows and line.strip()
    ]
    return [*body, *document.front.values]
