"""A manual change: one command, one checked change set, one commit, as safe as a night.

It takes the lock, recovers, commits and understands people's edits, lets the command decide on the documents, applies
caps and quality fields, checks everything, and writes through the journal.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import LockHeld, UsageFault
from pipelines.night.caps import Pruned, prune
from pipelines.night.choose_document import Catalog, home_of
from pipelines.night.file_items import new_document
from pipelines.night.reconcile import understand_edits
from pipelines.night.reindex import reindex
from pipelines.review.existing_items import alike, speaks_for
from pipelines.store.change_set import Change, check_documents, document_changes, items_by_id, placed_item
from pipelines.store.conservation import written_faults
from pipelines.store.document import Block, Document, document_at, edited, numbered, with_marks
from pipelines.store.edits import commit_edits
from pipelines.store.files import read_bytes
from pipelines.store.generated import vetoed_by
from pipelines.store.git import Author, Git
from pipelines.store.git_history import BY_HAND, BY_PEOPLE, run_id
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust, new_id
from pipelines.store.journal import apply_changes, recover
from pipelines.store.layout import TOMBSTONES, document_id
from pipelines.store.lock import run_lock
from pipelines.store.merge import merge_trees
from pipelines.store.secrets.scan import without_secret_files
from pipelines.store.snapshot import Snapshot, conflict_in, read_snapshot
from pipelines.store.state import Tombstone, read_tombstones, render_tombstones
from pipelines.store.three_way import Clash, merge_texts
from pipelines.store.wording import words_key
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


@dataclass(frozen=True)
class HeldMemory:
    """The memory at the start of a manual change, under the run lock.

    Args:
        git: the memory's git.
        snapshot: the files as they were read.
        settings: the memory's settings.
        when: the time of the change.
        documents: every document by path; for a command, with people's edits understood.
    """

    git: Git
    snapshot: Snapshot
    settings: Settings
    when: datetime
    documents: Mapping[str, Document]

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.when, self.settings)

    def planned(self, deed: ManualChange) -> tuple[Pruned, list[Change]]:
        """Apply the caps to a decision and check it; return what becomes of the documents, and all changes of files.

        Raises:
            BrokenChangeSet: the change would break a promise.
            BadFile: it would change a document with marks of a conflict.
        """
        snapshot, settings = self.snapshot, self.settings
        buried = snapshot.state.get(TOMBSTONES)
        stones = (read_tombstones(buried) - {*deed.lifted}) | {*deed.stones}
        vetoed = vetoed_by(stones, snapshot.documents)
        still = {path: one for path, one in snapshot.documents.items() if one.is_still}
        if still.keys() - deed.documents.keys():
            raise snapshot.refusal(())
        pruned = prune({**deed.documents, **still}, settings, snapshot.unreadable(), vetoed)
        after = pruned.documents
        gone = frozenset(stone.id for stone in deed.stones)
        if faults := check_documents(snapshot.documents, after, settings.caps.briefing, added=deed.added, gone=gone):
            raise snapshot.refusal(faults)
        changes = [*document_changes(snapshot.documents, after, snapshot.state), *deed.further]
        if (deed.stones or deed.lifted) and (rows := render_tombstones(stones)) != (buried or b""):
            changes.append(Change(TOMBSTONES, buried, rows))
        return pruned, changes

    def write(self, deed: ManualChange, by: str = BY_HAND) -> tuple[Mapping[str, Document], bool]:
        """Apply the caps to a decision, check, write and commit it, and update the index.

        Args:
            deed: what was decided.
            by: the commit's `Extractor`: a command, which an undo takes back whole, or people's edits, which no undo
                takes back.

        Returns:
            The documents as written, and whether anything changed.

        Raises:
            BrokenChangeSet: the change would break a promise; nothing was written.
            BadFile: it would change a document with marks of a conflict; nothing was written.
        """
        pruned, changes = self.planned(deed)
        if changes:
            message = render(
                "commit.txt",
                summary=deed.summary,
                lines=deed.remarks,
                run_id=run_id(self.when, self.git.head()),
                added=len(deed.added),
                changed=deed.changed,
                extractor=by,
                **({"undoes": deed.undoes} if deed.undoes else {}),
            )
            author = self.git.identity() or self.settings.author
            apply_changes(self.snapshot.root, self.git, changes, message, Author(*author, self.when))
            reindex(self.snapshot.root)
        return pruned.documents, bool(changes)


@dataclass(frozen=True, slots=True)
class ManualChange:
    """What a command decided.

    Args:
        documents: every document as it will be.
        summary: the commit's first line; it holds ids and names of documents, but no words of an item.
        added: ids of new items.
        changed: how many existing items were changed, moved or removed.
        stones: tombstones of items that go for good.
        further: changes of files that are not documents.
        lifted: tombstones that go: their items may come back.
        undoes: the run that it undoes, and the item if only that; else empty.
        remarks: further lines of the commit's message.
    """

    documents: Mapping[str, Document]
    summary: str
    added: Sequence[str] = ()
    changed: int = 0
    stones: Sequence[Tombstone] = ()
    further: Sequence[Change] = ()
    lifted: Collection[Tombstone] = ()
    undoes: str = ""
    remarks: Sequence[str] = ()


@contextlib.contextmanager
def direct_change(root: Path, settings: Settings, when: datetime, holder: str) -> Iterator[HeldMemory]:
    """Lock the memory for a direct change; recover and commit people's edits first.

    Raises:
        LockHeld: another run is working on the memory.
        GitFault: git is in a state that a commit would make worse.
    """
    git = Git(root)
    git.check()
    with run_lock(root, holder):
        recover(root, git)
        author = Author(*settings.author, when)
        commit_edits(root, git, f"Edits by hand\n\nCommitted as they stood before {holder}.\n", author)
        snapshot = read_snapshot(root)
        yield HeldMemory(git, snapshot, settings, when, snapshot.documents)


@contextlib.contextmanager
def change_by_hand(root: Path, settings: Settings, when: datetime, holder: str) -> Iterator[HeldMemory]:
    """Lock the memory for a command that decides on its documents; understand people's edits first.

    If understanding changes more than people wrote, it gets a commit of its own, which an undo of the command keeps.

    Args:
        root: the memory.
        settings: its settings.
        when: the time of the change.
        holder: the command, for others who find the lock held.

    Raises:
        LockHeld: a run is working on the memory.
        BrokenChangeSet: an edit would break a promise; nothing was written.
        BadFile: the command would change a document with marks of a conflict; nothing was written.
    """
    with direct_change(root, settings, when, holder) as found:
        snapshot = without_secret_files(found.snapshot)
        people = understand_edits(found.git, snapshot, snapshot.documents, found.today)
        held = replace(found, snapshot=snapshot, documents=people.documents)
        if edits := sum(map(len, (people.edited, people.numbered, people.stones, people.asked, people.foreign))):
            after = ManualChange(people.documents, "Edits by hand, understood", changed=edits, stones=people.stones)
            if held.write(after, by=BY_PEOPLE)[1]:
                snapshot = without_secret_files(read_snapshot(root))
                held = replace(found, snapshot=snapshot, documents=snapshot.documents)
        why = {warned.path: warned.why for warned in held.snapshot.warnings}
        still = {path: replace(one, refuses=why[path]) for path, one in held.documents.items() if one.is_still}
        yield replace(held, documents={**held.documents, **still})


@dataclass(frozen=True, slots=True)
class FiledByHand:
    """The result of filing an owner's item.

    Args:
        item: the new item, or the existing one that says the same.
        path: its document.
        documents: every document by path after the change; None if nothing changed.
        is_new: whether the item is new.
        near: the items beside a new one that its sentence may replace or repeat, with their documents, nearest first.
    """

    item: Item
    path: str
    documents: dict[str, Document] | None = None
    is_new: bool = False
    near: tuple[tuple[Item, str], ...] = ()


_ALIKE = 0.6
"""The share of common words from which two sentences are shown as near. It decides nothing: a person sees them."""
_MOST_NEAR = 3


def file_own_item(kind: ItemType, text: str, path: str, held: HeldMemory) -> FiledByHand:
    """File an owner's item; an existing item with the same words is confirmed instead, as by a night.

    Args:
        kind: its type.
        text: its sentence.
        path: the document's path, or empty to choose one.
        held: the memory as it is.
    """
    home = path or home_of(kind, text, Confidence.HIGH, Catalog(held.documents, held.snapshot.unreadable()))
    items = [
        (p.item, one.path) for one, p in numbered(held.documents.values()) if p.item.active and p.item.type is kind
    ]
    if same := [pair for pair in items if words_key(pair[0].text) == words_key(text)]:
        return _confirmed(*same[0], held)
    near = [
        (share, *pair) for pair in items if speaks_for(pair[1], home) and (share := alike(text, pair[0].text)) >= _ALIKE
    ]
    near = sorted(near, key=itemgetter(0), reverse=True)[:_MOST_NEAR]
    status = Status.OPEN if kind is ItemType.TODO else Status.LIVE
    item = Item(kind, text, status=status, since=held.today, trust=Trust.OWNER)
    item = replace(item, id=new_id(item, document_id(home), items_by_id(held.documents)))
    document = held.documents.get(home) or new_document(home, "")
    after = {**held.documents, home: edited(document, add=[Block(item)])}
    return FiledByHand(item, home, after, is_new=True, near=tuple((one, place) for _, one, place in near))


def _confirmed(item: Item, path: str, held: HeldMemory) -> FiledByHand:
    """Return an existing item as the owner's, confirmed today."""
    day = max(item.confirmed, held.today)
    own = replace(item, trust=Trust.OWNER, confidence=Confidence.HIGH, doubted="")
    own = own if own.since == day else replace(own, confirmed=day)
    if own == item:
        return FiledByHand(item, path)
    _, placed = placed_item(held.documents, item.id)
    return FiledByHand(own, path, {**held.documents, path: with_marks(held.documents[path], {placed.line: own})})


# ---------------------------------------- a person's edit of a document


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of an edit.

    Args:
        said: what was done, a sentence; empty if nothing was saved.
        faults: why nothing was saved, a sentence each.
        text: the text as it is now, with concurrent changes.
        base: the text that `text` is based on.
    """

    said: str
    faults: Sequence[str]
    text: str
    base: str


def text_to_edit(root: Path, path: str) -> str:
    """Return a document's text as it is on disk, marks of a conflict included, with plain line ends.

    Raises:
        BadFile: it cannot be read.
    """
    return (read_bytes(root, path) or b"").decode(errors="replace").replace("\r\n", "\n")


def _joined(path: str, base: str, text: str, current: str) -> str:
    """Return a text with two changes of another one; where they clash, both stand between marks."""
    sides = ({path: one.encode()} for one in (base, text, current))
    merged = merge_trees(*sides, ours_first=True, ledger={})
    if merged.disputed or path not in merged.pages:
        return merge_texts(base, text, current, resolve=_marked)[0]
    return merged.pages[path].text


def _marked(clash: Clash) -> list[str]:
    return ["<<<<<<< your text", *clash.one, "=======", *clash.other, ">>>>>>> on disk"]


def save_document(root: Path, settings: Settings, when: datetime, path: str, base: str, text: str) -> Saved:
    """Save a document that a person edited, commit it as theirs, and understand what they changed.

    Nothing is saved if the edit would break what `curate check` checks, or if the file changed meanwhile: then the
    person gets both versions in one text, between marks where both changed the same lines, to decide and save again.

    Args:
        root: the memory.
        settings: its settings.
        when: the time of saving.
        path: the document's.
        base: the text that the person saw; line ends do not matter.
        text: their edited text; it gets the file's line ends.

    Raises:
        UsageFault: the document does not exist, or cannot be read.
        CurateError: any error of a manual change; nothing was saved.
    """
    with direct_change(root, settings, when, "curate edit") as held:
        shown, snapshot = path, held.snapshot
        if path not in snapshot.documents:
            raise UsageFault(f"{shown} is not there any more, or cannot be read.", "To see why, run `curate check`.")
        now = (read_bytes(root, path) or b"").decode()
        current, base, text = (one.replace("\r\n", "\n") for one in (now, base, text))
        if text in (base, current):
            return Saved(f"Nothing was changed in {shown}.", (), current, current)
        if current != base:
            joined = _joined(path, base, text, current)
            both = "Where both changed the same lines, they stand between marks: keep what is right, delete the marks"
            what = f"{both}, then" if conflict_in(joined) else "It has both changes: review it, then"
            return Saved("", (f"{shown} changed meanwhile. {what} save again.",), joined, current)
        if at := conflict_in(text):
            why = (
                f"{shown} has marks of a conflict at line {at}. Keep what is right, delete the marks, then save again."
            )
            return Saved("", (why,), text, base)
        written = text.replace("\n", "\r\n") if "\r\n" in now else text
        documents = {**snapshot.documents, path: document_at(path, written, snapshot.documents[path].rows)}
        cap = settings.caps.briefing
        before = {fault.key for fault in written_faults(snapshot, cap)}
        after = written_faults(replace(snapshot, documents=documents), cap)
        if faults := [str(fault) for fault in after if fault.key not in before]:
            return Saved("", faults, text, base)
        author = held.git.identity() or settings.author
        message = f"Edits by hand\n\nSaved with `curate edit`: {shown}.\n"
        change = Change(path, now.encode(), written.encode())
        commit, _ = apply_changes(root, held.git, [change], message, Author(*author, when))
    with contextlib.suppress(LockHeld), change_by_hand(root, settings, when, "curate edit"):
        reindex(root)  # if another run has the lock by now, it understands the edit, too
    return Saved(f"Saved {shown}{f' (commit {commit[:10]})' if commit else ''}.", (), text, text)
