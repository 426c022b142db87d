"""Reconcile: people's edits between runs are detected, and they win.

A reworded item keeps its id and becomes the owner's; formatting is no edit. An item is active again once its
strike-through is removed. A labelled line without an id gets one, or the one that it lost; so does a copied line in
other words, trusted no more than the item that it was copied from. A line whose id is in no commit came from elsewhere,
and waits in Review.md. A deleted item leaves a tombstone, so that it is never proposed again, and so does a generated
sentence. If so many items are gone at once that it looks like a bad checkout, nothing is retracted: Review.md asks.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.review.outcomes import KEEP_OR_DROP, QUARANTINE
from pipelines.store.change_set import items_by_id
from pipelines.store.days import day_before
from pipelines.store.document import HISTORY, Document, Documents, Placed, block_of, edited, numbered, with_marks
from pipelines.store.edits import Baseline, asked_pages_in, lost_too_many
from pipelines.store.generated import told_in
from pipelines.store.git_history import unknown_ids
from pipelines.store.item import (
    STRUCK,
    UNSURE_SAID,
    Confidence,
    HeldItem,
    Item,
    ItemType,
    Status,
    Trust,
    brackets_of,
    ids_in,
    new_id,
)
from pipelines.store.item_line import line_key
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue, waiting, with_entry
from pipelines.store.session_state import written_by_agents
from pipelines.store.state import Reason, Tombstone, tombstone
from pipelines.store.trees import MISSING, bare_words, left_out, words_on_page

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from pipelines.store.git import Git
    from pipelines.store.snapshot import Snapshot


_WHY_ASKED = "That many at once may be a bad checkout, so nothing was retracted. They wait here until you tick a box."
_WHY_KEPT = "That may be a bad checkout, so nothing was deleted: git and the memory keep the page until you tick a box."
KEPT_CHOICES = (
    "retract: it was deleted on purpose, and its items are never proposed again",
    "restore: put it back on the disk",
)
_WHY_FOREIGN = (
    "No commit of this memory has their ids, so they were copied from somewhere else. They are not used until you keep"
    " them."
)
CHOICES = (
    "retract: they were deleted on purpose, and are never proposed again",
    "restore: put them back where they were",
)


@dataclass
class Reconciled:
    """The documents after people's edits were understood.

    Args:
        documents: every document by path.
        today: the memory's day.
        edited: ids of items that a person reworded.
        numbered: ids given to lines without one.
        retracted: tombstones of deleted items.
        corrected: tombstones of wordings that a person replaced, and of generated sentences that they deleted; they
            name no id.
        asked: the pages about whose lost items Review.md asks.
        foreign: ids of items that came from elsewhere, and wait in Review.md.
        restored: ids of items that an answer put back or let in.
        back: the pages that an answer puts back on the disk.
        notes: a sentence for each answer that could not be applied.
    """

    documents: dict[str, Document]
    today: str
    edited: list[str] = field(default_factory=list)
    numbered: list[str] = field(default_factory=list)
    retracted: list[Tombstone] = field(default_factory=list)
    corrected: list[Tombstone] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def stones(self) -> tuple[Tombstone, ...]:
        """All tombstones of the edits."""
        return *self.retracted, *self.corrected


def understand_edits(git: Git, snapshot: Snapshot, baseline: Baseline, today: str) -> Reconciled:
    """Return a memory's documents after understanding people's edits since the last run."""
    documents, (changed, _) = snapshot.documents, baseline
    documents = marked_again(documents, changed.values())
    foreign = _from_elsewhere(git, snapshot, documents, baseline)
    documents = _set_aside(documents, foreign, today) if foreign else documents
    commit = git.read_commit(git.last_run() or "")
    found = reconcile(documents, baseline, today, written_by_agents(snapshot.root, commit.seconds if commit else 0))
    found.foreign = sorted(foreign)
    # Another machine, which has the pages that are gone with many items, may answer, too.
    pages, after = left_out(snapshot.root, MISSING).keys() & found.documents.keys(), found.documents
    for path in sorted(pages - asked_pages_in(read_queue(after.get(REVIEW)), after)):
        here = [ident for ident, (_, item) in after[path].held.items() if item.status is not Status.WAITING]
        found.asked.append(path)
        title = f"{len(here)} items are gone from {path}"
        found.documents = with_entry(found.documents, MISSING, today, title, _WHY_KEPT, KEPT_CHOICES)
    return found


def _from_elsewhere(git: Git, snapshot: Snapshot, documents: Documents, baseline: Baseline) -> frozenset[str]:
    """Return the ids that were in no commit before people's edits since the last run.

    Before the first run, what a person set up is theirs; only what has no row, or rests on logs that are not here, came
    from elsewhere.
    """
    (changed, same), last = baseline, git.last_run()
    pages = {path: one for path, one in documents.items() if path not in same and not one.is_still}
    new = {ident: item for ident, (_, item) in items_by_id(pages).items()}
    if not last:
        known, root = {ident for one in documents.values() for ident in one.rows}, snapshot.root
        here = {i for i, one in new.items() if any(os.path.lexists(root / at.path) for at in one.evidence)}
        new = {i: one for i, one in new.items() if i not in known or (one.evidence and i not in here)}
    idents = new.keys() - items_by_id(changed).keys()
    idents = idents and idents - {ident for path in same for ident in documents[path].held}
    return unknown_ids(git, last, frozenset(idents)) if idents and last else frozenset(idents)


def reconcile(
    documents: Documents, baseline: Baseline, today: str, wrote: Callable[[str], bool] = lambda _line: False
) -> Reconciled:
    """Return the documents after understanding people's edits.

    Args:
        documents: every document as it is now.
        baseline: the documents as the last run left them.
        today: the memory's day.
        wrote: tells whether an agent wrote a line: it is its own word, not a person's.
    """
    changed, same = baseline
    before, present = items_by_id(changed), items_by_id(documents)
    said = {place.item.id: _brackets_on(one, place) for one, place in numbered(changed.values())}
    found, taken = Reconciled(dict(documents), today), {*before, *present}
    for path, document in sorted((path, one) for path, one in documents.items() if path not in same):
        new: dict[int, Item] = {}
        for placed in document.placed if document.reworded else document.items:
            item, key = placed.item, (placed.item.id, placed.item.text)
            old = before[item.id][1] if item.id in before else None
            if key in document.copied:
                continue
            if not item.id or key in document.reworded:
                item = _as_new(item, present | before, today)
                item = _by_agent(item) if wrote(words_on_page(document, placed)) else item
                item = replace(item, id=new_id(item, path, taken))
                taken.add(item.id)
                found.numbered.append(item.id)
            elif old:
                brackets, is_reworded = _brackets_on(document, placed), _wording(old) != _wording(item)
                if is_reworded:
                    found.corrected.append(tombstone(replace(old, id=""), today, Reason.CORRECTED))
                if is_reworded or not set(said.get(old.id, ())).issubset(brackets):
                    is_agents = wrote(words_on_page(document, placed))
                    item = _by_agent(item) if is_agents else _by_person(item, brackets)
                    found.edited += [item.id] if item != placed.item else []
            if item != placed.item or _holds_again(item, before) or placed.is_wrapped:
                new[placed.line] = item
        if new:
            found.documents[path] = with_marks(document, new)
    _ask_about_gone(found, documents, baseline)
    _put_in_place(found, before)
    return found


def _put_in_place(found: Reconciled, before: Mapping[str, HeldItem]) -> None:
    """Bring reopened items back to their sections."""
    for path, page in found.documents.items():
        again = (one for one in page.items if one.section == HISTORY and _holds_again(one.item, before))
        if blocks := [block_of(page, placed) for placed in again]:
            found.documents[path] = edited(page, add=blocks, remove=[block.item.id for block in blocks])


def _ask_about_gone(found: Reconciled, documents: Documents, baseline: Baseline) -> None:
    """Bury what people deleted: items, and generated lines; ask about items that are gone in suspicious numbers."""
    (changed, same), before, today = baseline, items_by_id(baseline[0]), found.today
    stands = {ident for path in documents.keys() - same for ident in ids_in(documents[path].text)}
    gone = {ident: where for ident, where in before.items() if ident not in stands}  # not even in code
    # Taking a page's question out of Review.md is an answer, too.
    was, now = (asked_pages_in(read_queue(side.get(REVIEW)), changed) for side in (changed, documents))
    lost = defaultdict[str, dict[str, Item]](dict)
    for ident, (path, item) in gone.items():
        if path not in was - now and item.status is not Status.WAITING:
            lost[path][ident] = item
    pages = sorted(lost_too_many(lost, changed))
    for path in pages:
        found.asked.append(path)
        for ident in lost[path]:
            del gone[ident]
        items = [waiting(item, path) for item in lost[path].values()]
        title = f"{'1 item is' if len(items) == 1 else f'{len(items)} items are'} gone from {path}"
        found.documents = with_entry(found.documents, "gone", today, title, _WHY_ASKED, CHOICES, items)
    found.retracted = [tombstone(one, today, Reason.DELETED) for _, one in gone.values()]
    known = {ident: item for ident, (_, item) in (items_by_id(documents) | before).items()}
    told = {
        one
        for path in changed.keys() & documents.keys() - set(pages)
        for one in told_in(changed[path], known) - told_in(documents[path], known)
    }
    found.corrected += [Tombstone(one, "", today, Reason.UNWANTED) for one in sorted(told)]


def marked_again(documents: Documents, there: Iterable[Document]) -> Documents:
    """Return the documents with the marks of items that stand only there, where a line without one has their words."""
    after, stands = dict(documents), {ident for page in documents.values() for ident in ids_in(page.text)}
    lost = ((page.lines[one.line], one.item) for page, one in numbered(there) if one.item.id not in stands)
    bare = {bare_words(line): item for line, item in lost}
    for path, page in documents.items() if bare else ():
        new = ((at, bare_words(line)) for at, line in page.body if at not in page.generated and not ids_in(line))
        after[path] = with_marks(page, {at: bare.pop(key) for at, key in new if key in bare})
    return after


def _by_agent(item: Item) -> Item:
    """Return an item as an agent with its tools wrote it into a page."""
    return replace(item, trust=item.trust if Trust.SELF.reaches(item.trust) else Trust.SELF, by="agent")


def _by_person(item: Item, brackets: Collection[str]) -> Item:
    """Return an item as a person left it: theirs, but for what its line still says of whose word it is and how sure."""
    is_said = not item.is_ours and any(one != UNSURE_SAID for one in brackets)
    item = item if is_said else replace(item, trust=Trust.OWNER, source="")
    return replace(item, confidence=item.confidence if UNSURE_SAID in brackets else Confidence.HIGH, by="")


def _brackets_on(document: Document, placed: Placed) -> list[str]:
    """Return what the line of an item says of whose word it is and how sure, as runs write it."""
    line = words_on_page(document, placed)
    return [one for one in brackets_of(placed.item.source, placed.item.trust, placed.item.confidence) if one in line]


def _as_new(item: Item, known: Mapping[str, HeldItem], today: str) -> Item:
    """Return a line that a person wrote as a new item; one made from another's line is trusted no more than that.

    Nobody knows on which of the last days it was written. So a due day counts that its words name on each of them.
    """
    if not item.id:
        from pipelines.extract.rules.label_reader import due_of  # noqa: PLC0415  few nights find a new line

        due, on_the_eve = (due_of(item.text, day)[1] for day in (today, day_before(today)))
        due = item.due or (due if due == on_the_eve and item.type is ItemType.TODO else "")
        since = item.since or today
        return replace(item, since=since, due=due, trust=Trust.OWNER, confidence=Confidence.HIGH, by="")
    first = known[item.id][1]
    return _alone(item, today, first.trust, first.confidence)


def _set_aside(documents: Documents, foreign: frozenset[str], today: str) -> Documents:
    """Return the documents with items from elsewhere in Review.md, one question a page; nothing they claim counts."""
    after = dict(documents)
    for path, document in sorted(documents.items()):
        placed = [one for one in document.items if one.item.id in foreign and path != REVIEW]
        over = {one.line: _alone(one.item, today, Trust.EXTERNAL) for one in placed if not one.item.active}
        items = [_alone(one.item, today, Trust.EXTERNAL) for one in placed if one.item.active]
        if over:
            after[path] = with_marks(document, over)
        if items:
            after[path] = edited(after[path], remove=[one.id for one in items])
            count = "1 item" if len(items) == 1 else f"{len(items)} items"
            title = f"{QUARANTINE}: {count} of {path} came from elsewhere"
            waits = [waiting(one, path) for one in items]
            after = with_entry(after, QUARANTINE, today, title, _WHY_FOREIGN, KEEP_OR_DROP, waits)
    return after


def _alone(item: Item, today: str, trust: Trust, sure: Confidence = Confidence.HIGH) -> Item:
    """Return an item as its line alone says it, without what its row claims."""
    return Item(
        item.type, item.text, item.id, item.status, today, item.until, trust=trust, confidence=sure,
        page_section=item.page_section, due=item.due,
    )  # fmt: skip


def _wording(item: Item) -> tuple[str, str]:
    return item.type, line_key("", item.text)


def _holds_again(item: Item, before: Mapping[str, HeldItem]) -> bool:
    """Whether a person reopened an item by removing its mark; its row still has its end."""
    return item.active and item.id in before and before[item.id][1].status in STRUCK | {Status.DONE}
