"""Promote: what the review lets in becomes lines of documents; what it knows already is confirmed where it stands.

What takes the place of an item stands in its document, and the older one moves to the History.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Final

from pipelines.night.choose_document import home_of
from pipelines.review.item_links import confirmed, following, history_of, last_of, leaving, succeeded, with_link
from pipelines.review.questions import Question
from pipelines.review.review import VerdictKind
from pipelines.store.change_set import items_by_id
from pipelines.store.document import Block, Document, commented, edited
from pipelines.store.item import Evidence, Item, ItemType, Status, fold, folded, new_id, quote_digest
from pipelines.store.layout import REVIEW, document_id, kind_of
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.extract.extraction import Candidate
    from pipelines.night.choose_document import Catalog
    from pipelines.review.item_links import Tie
    from pipelines.review.review import Verdict


@dataclass(slots=True)
class Promoted:
    """The items as the verdicts change them, one after the other, and the documents with them.

    `documents` holds every document by path, `made` the paths of those that were made; `added` the path and item of
    each one that is new, `confirmed` the items that gained evidence, and `superseded` id of each that holds no longer →
    id of the one in its place. `questions` is what Review.md is to ask, what contradicts an item that stands first; its
    items are among no others. `claims` are Todos that were said to be done by words that are trusted less, each as it
    would stand; all are kept by id.
    """

    catalog: Catalog
    documents: dict[str, Document]
    places: Mapping[str, tuple[str, Item]]
    taken: set[str]
    added: dict[str, tuple[str, Item]] = field(default_factory=dict)
    changed: dict[str, Item] = field(default_factory=dict)
    confirmed: dict[str, None] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    created: dict[Candidate, str] = field(default_factory=dict)
    became: dict[Candidate, str] = field(default_factory=dict)
    newest: dict[tuple[ItemType, str], str] = field(default_factory=dict)
    superseded: dict[str, str] = field(default_factory=dict)
    asked: dict[str, tuple[str, Item, str, str]] = field(default_factory=dict)
    claims: dict[str, Item] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    def take(self, verdict: Verdict) -> None:
        """Do what a verdict says."""
        kind, one = verdict.kind, verdict.candidate
        meant = verdict.known or self.created.get(verdict.earlier or one, "")
        if kind is VerdictKind.DUPLICATE:
            self._confirm(one, meant or self.newest.get((one.type, folded(one.text)), ""))
        elif kind is VerdictKind.SUPERSEDE and self.item(meant):
            self._supersede(one, meant)
        elif kind in {VerdictKind.ADD, VerdictKind.QUARANTINE} or (kind is VerdictKind.CONTRADICT and self.item(meant)):
            path = verdict.document or home_of(one.type, one.text, one.confidence, self.catalog)
            if kind is VerdictKind.ADD:
                self._add(one, path)
            else:
                item = self._create(one, path)
                self.asked[item.id] = (path, item, meant if kind is VerdictKind.CONTRADICT else "", verdict.reason)

    def item(self, ident: str) -> Item | None:
        """Return an item as it stands now."""
        if ident in self.added:
            return self.added[ident][1]
        if ident in self.asked:
            return self.asked[ident][1]
        return self.changed.get(ident) or (self.places[ident][1] if ident in self.places else None)

    def put(self, item: Item) -> None:
        """Let an item stand anew where it stood."""
        if item.id in self.added:
            self.added[item.id] = (self.added[item.id][0], item)
        elif item.id in self.asked:
            self.asked[item.id] = (self.asked[item.id][0], item, *self.asked[item.id][2:])
        else:
            self.changed[item.id] = item

    def _create(self, candidate: Candidate, path: str) -> Item:
        todo = candidate.type is ItemType.TODO
        item = Item(
            type=candidate.type,
            text=candidate.text,
            status=(Status.DONE if candidate.closed else Status.OPEN) if todo else Status.LIVE,
            since=candidate.entry.day,
            trust=candidate.trust,
            confidence=candidate.confidence,
            evidence=(_evidence(candidate),),
            by=candidate.by,
        )
        item = replace(item, id=new_id(item, document_id(path), self.taken))
        self.taken.add(item.id)
        self.created[candidate] = self.became[candidate] = item.id
        self.newest[candidate.type, folded(candidate.text)] = item.id
        return reduce(lambda linked, link: with_link(linked, *link), candidate.links, item)

    def _add(self, candidate: Candidate, path: str) -> Item:
        item = self._create(candidate, path)
        self.added[item.id] = (path, item)
        self.titles.setdefault(path, candidate.entry.project or candidate.new_project)
        return item

    def _confirm(self, candidate: Candidate, ident: str) -> None:
        if item := self.item(ident):
            self.became[candidate] = ident
            done = candidate.closed and item.status is Status.OPEN
            place = _evidence(candidate)
            after = item if place in item.evidence else confirmed(item, place, candidate.entry.day, done=done)
            if after.status is not item.status and not candidate.trust.reaches(item.trust):
                self.claims.setdefault(ident, after)
            elif after != item:
                self.put(after)
                self.confirmed |= {ident: None} if ident in self.places else {}

    def _supersede(self, candidate: Candidate, old: str) -> None:
        """Let a new item stand where the old one stood, which is history from its day on."""
        path = self.added[old][0] if old in self.added else self.places[old][0]
        item = self._add(candidate, path)
        self.put(with_link(item, "supersedes", old))
        if before := self.item(old):
            self.put(succeeded(before, item.id, candidate.entry.day))
        self.superseded[old] = item.id


def promote(verdicts: Iterable[Verdict], catalog: Catalog, ties: Iterable[Tie] = ()) -> Promoted:
    """Add, confirm and supersede items in their documents, each once; a project that is named and not there is made.

    What contradicts an item is in no document: it is a question.

    Args:
        verdicts: in the order in which they were given.
        catalog: the documents.
        ties: links of the candidates that their words tell.
    """
    places = items_by_id(catalog.documents)
    work = Promoted(catalog, dict(catalog.documents), places, set(places))
    for verdict in verdicts:
        work.take(verdict)
    for one in ties:
        mine = work.item(work.created.get(one.source, ""))
        meant = one.target if isinstance(one.target, str) else work.became.get(one.target, "")
        if mine and work.item(meant):
            work.put(with_link(mine, one.kind, meant))
    for ident in [*work.places, *work.added] if work.superseded else ():
        item = work.item(ident)
        if item and (after := following(item, work.superseded)) != item:
            work.put(after)
    changed = {i: (work.places[i][0], item) for i, item in work.changed.items() if item != work.places[i][1]}
    _write(work.documents, work.added, changed, work.titles)
    work.made = [path for path in work.documents if path not in catalog.documents]
    for home, item, named, why in work.asked.values():
        rival = work.item(last_of(named, work.superseded)) if named else None
        work.questions += [Question(item, home, why, rival)] if rival or not named else []
    work.questions.sort(key=lambda one: one.rival is None)
    return work


def _write(
    documents: dict[str, Document],
    added: Mapping[str, tuple[str, Item]],
    changed: Mapping[str, tuple[str, Item]],
    titles: Mapping[str, str],
) -> None:
    """Put items into `documents`, making those that are missing."""
    histories: dict[str, list[Block]] = {}
    for path in sorted({path for path, _ in (*added.values(), *changed.values())}):
        young = [Block(item) for place, item in added.values() if place == path]
        kept = [block for block in young if block.item.status is not Status.SUPERSEDED]
        gone = [block for block in young if block.item.status is Status.SUPERSEDED]
        mine = {ident: item for ident, (place, item) in changed.items() if place == path}
        ended = {ident: item for ident, item in mine.items() if item.status is Status.SUPERSEDED}
        document = documents.get(path) or new_document(path, titles.get(path, ""), min(one.item.since for one in young))
        if ended:
            document, left = leaving(document, ended)
            gone = [*left, *gone]
        documents[path] = edited(document, add=kept, replace={i: item for i, item in mine.items() if i not in ended})
        if gone:
            histories.setdefault(history_of(path), []).extend(gone)
    for path, blocks in histories.items():
        document = documents.get(path) or new_document(
            path, titles.get(path, ""), min(block.item.since for block in blocks)
        )
        documents[path] = edited(document, add=blocks)


def new_document(path: str, title: str, day: str) -> Document:
    """Return a document made from the template of its kind."""
    title = document_title(title) or path.rpartition("/")[2].removesuffix(".md").replace("-", " ").capitalize()
    kind = kind_of(path)
    template = "project.md" if path.startswith("Projects/") else "area.md"
    return Document(path, render(template, title=title, day=day, kind=kind))


def document_title(name: str) -> str:
    """Return a name as one line that is safe in front matter and in a heading: no marks that would be structure."""
    plain = "".join(c for c in fold(name) if c not in "<>\"'`#\\").strip(" -:|[]{}&*!%@")
    return plain[:80].strip()


def _evidence(candidate: Candidate) -> Evidence:
    digest = quote_digest("\n".join(candidate.lines))
    return Evidence(candidate.entry.path, candidate.start_line, candidate.end_line, digest)


# ---------------------------------------- superseding
# one item takes another's place; the old one goes to its document's History, and links to it follow.


SUPERSEDABLE: Final = frozenset({Status.LIVE, Status.OPEN, Status.ARCHIVED})
"""What is still believed, in a document or in an archive. What is closed already has its end, and keeps it."""


def superseded(documents: Mapping[str, Document], old_id: str, new_item: Item, day: str) -> dict[str, Document]:
    """Return the documents in which one item has taken another's place.

    The old one is struck, gets `until` and `superseded-by`, and moves with the notes under it to `## History` of its
    document, or of Areas/general where every session loads its own. The new one is linked `supersedes`; what named the
    old one by `because`, `supports`, `related`, `part-of` or `next` names the new one. Nothing changes where that
    cannot be meant: the old one stands nowhere, or is closed already (an item is superseded once), or both are the
    same, or the new one stands nowhere.

    Args:
        documents: every document by path; the new item stands in one of them.
        old_id: the item that holds no longer.
        new_item: the one that holds now.
        day: from which day on, `YYYY-MM-DD`.
    """
    after = dict(documents)
    places = items_by_id(documents)
    if old_id == new_item.id or old_id not in places or new_item.id not in places:
        return after
    path, old = places[old_id]
    if old.status not in SUPERSEDABLE or path == REVIEW:
        return after
    ended = succeeded(old, new_item.id, day)
    after[path], blocks = leaving(after[path], {old_id: ended})
    target = history_of(path)
    history = after.get(target) or new_document(target, "", old.since)
    after[target] = edited(history, add=blocks)
    for place, document in sorted(after.items()):
        changed = {}
        for placed in document.items:
            item = placed.item
            now = following(item, {old_id: new_item.id}) if item.id else item
            now = with_link(item, "supersedes", old_id) if item.id == new_item.id else now
            if now != item:
                changed[placed.line] = now
        after[place] = commented(document, changed) if changed else document  # lines keep their words' bytes
    return after
