"""Promote: what the review rules becomes lines of documents: items begin, are confirmed, replaced, and end.

What takes the place of an item stands in its document, and the older one moves to the History.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import OperationKind
from pipelines.review.item_links import confirmed, history_of, last_of, leaving, succeeded, with_link
from pipelines.review.outcomes import DOUBT, Claim, ended
from pipelines.review.questions import Question
from pipelines.review.review import born_status
from pipelines.store.change_set import items_by_id
from pipelines.store.document import Block, Document, commented, edited
from pipelines.store.item import CLOSED, OUTCOMES, PERSON, SOURCE, Evidence, Item, Status, fold, new_id, quote_digest
from pipelines.store.layout import REVIEW, document_id, kind_of
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.extract.extraction import Candidate, Place
    from pipelines.review.review import Ruling


@dataclass(slots=True)
class Promoted:
    """The items as the rulings change them, one after the other, and the documents with them.

    `documents` holds every document by path, `made` the paths of those that were made; `added` the path and item of
    each one that is new, `confirmed` the items that gained evidence, `superseded` id of each that was replaced → id of
    the one in its place, and `closed` those that ended otherwise. `questions` are the new items about which Review.md
    is to ask, what contradicts an item first; they are among no others. `claims` are what lines say of items, and a
    person decides. `meant` is temporary id → id, and `over` the ids of what became history, in that order.
    """

    documents: dict[str, Document]
    places: Mapping[str, tuple[str, Item]]
    taken: set[str]
    added: dict[str, tuple[str, Item]] = field(default_factory=dict)
    changed: dict[str, Item] = field(default_factory=dict)
    confirmed: dict[str, None] = field(default_factory=dict)
    closed: dict[str, None] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    meant: dict[str, str] = field(default_factory=dict)
    links: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    superseded: dict[str, str] = field(default_factory=dict)
    asked: dict[str, tuple[str, Item, str, str]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    over: dict[str, None] = field(default_factory=dict)

    def take(self, ruling: Ruling) -> None:
        """Do what a ruling says."""
        candidate = ruling.candidate
        items = [item for ident in ruling.operation.ids if (item := self.item(self.meant.get(ident, ident)))]
        if candidate and ruling.makes_item and ruling.asks:
            item = self._create(candidate, ruling.document)
            self.asked[item.id] = (ruling.document, item, items[0].id if items else "", ruling.asks)
        elif candidate and (ruling.makes_item or (ruling.kind is OperationKind.CONFIRM and not items)):
            self._begin(ruling, candidate, items)  # also what repeats something that was dropped: it may be right
        else:
            for item in items:
                self._change(ruling, item)

    def _change(self, ruling: Ruling, item: Item) -> None:
        """Do to an item what a ruling says of it."""
        kind = ruling.kind
        if ruling.asks or kind is OperationKind.QUESTION:
            self.claims.append(self._claim(ruling, item))
        if ruling.asks:
            return
        if kind is OperationKind.CONFIRM:
            self._confirm(ruling, item)
        elif kind is OperationKind.QUESTION:
            self.put(replace(item, doubted=ruling.day))
        elif kind in {OperationKind.CLOSE, OperationKind.RETRACT}:
            self.put(ended(item, _outcome(ruling, item), ruling.day, evidence_of(ruling.operation.places[-1])))
            self.closed[item.id] = None

    def item(self, ident: str) -> Item | None:
        """Return an item as it stands now."""
        if ident in self.added:
            return self.added[ident][1]
        if ident in self.asked:
            return self.asked[ident][1]
        return self.changed.get(ident) or (self.places[ident][1] if ident in self.places else None)

    def put(self, item: Item) -> None:
        """Let an item stand anew where it stood."""
        self.over |= {item.id: None} if item.status in CLOSED else {}
        if item.id in self.added:
            self.added[item.id] = (self.added[item.id][0], item)
        elif item.id in self.asked:
            self.asked[item.id] = (self.asked[item.id][0], item, *self.asked[item.id][2:])
        else:
            self.changed[item.id] = item

    def link(self) -> None:
        """Link the new items to what their words tell, and to what a model named."""
        for ident, links in self.links.items():
            for kind, target in links:
                mine, named = self.item(ident), self.meant.get(target, target)
                if mine and self.item(named):
                    self.put(with_link(mine, kind, named))

    def _create(self, candidate: Candidate, path: str) -> Item:
        item = Item(
            type=candidate.type,
            text=candidate.text,
            status=born_status(candidate),
            since=candidate.day,
            until=candidate.entry.day if candidate.closed else "",
            trust=candidate.trust,
            confidence=candidate.confidence,
            evidence=tuple(dict.fromkeys(map(evidence_of, candidate.places))),
            by=candidate.by,
            page_section=candidate.page_section,
            due=candidate.due,
            unverified=candidate.unverified,
            reason="" if candidate.by.startswith("rules@") else candidate.reason,
            extra=tuple((key, said) for key, said in ((SOURCE, candidate.source), (PERSON, candidate.name)) if said),
        )
        item = replace(item, id=new_id(item, document_id(path), self.taken))
        self.taken.add(item.id)
        self.meant[candidate.id] = item.id
        self.links[item.id] = candidate.links
        return item

    def _begin(self, ruling: Ruling, candidate: Candidate, old: Sequence[Item]) -> None:
        """Let a new item stand in its document, or where the ones stood that are history from its day on."""
        ident = old[0].id if old else ""
        path = self.added[ident][0] if ident in self.added else self.places[ident][0] if ident else ruling.document
        item = self._create(candidate, path)
        self.added[item.id] = (path, item)
        self.over |= {item.id: None} if item.status in CLOSED else {}
        self.titles.setdefault(path, candidate.entry.project or candidate.new_project)
        for one in old:
            self.put(with_link(self.added[item.id][1], "supersedes", one.id))
            self.put(succeeded(one, item.id, candidate.day))
            self.superseded[one.id] = item.id

    def _confirm(self, ruling: Ruling, item: Item) -> None:
        if ruling.candidate:
            self.meant[ruling.candidate.id] = item.id
        after = item
        for place in map(evidence_of, ruling.operation.places):
            after = after if place in after.evidence else confirmed(after, place, ruling.operation.day)
        if after != item:
            self.put(after)
            self.confirmed |= {item.id: None} if item.id in self.places else {}

    def _claim(self, ruling: Ruling, item: Item) -> Claim:
        how = _outcome(ruling, item)
        kind = how.value if ruling.kind is OperationKind.CLOSE else DOUBT
        why = ruling.asks or "nothing says what holds instead"
        return Claim(ended(item, how, ruling.day, evidence_of(ruling.operation.places[-1])), kind, why)


def _outcome(ruling: Ruling, item: Item) -> Status:
    """Return how an item ends by a ruling."""
    if ruling.kind is not OperationKind.CLOSE:
        return Status.NEVER_HELD
    return ruling.operation.how or OUTCOMES[item.type][0]


def promote(rulings: Iterable[Ruling], documents: Mapping[str, Document], settled: Iterable[Item] = ()) -> Promoted:
    """Carry out the rulings in the documents, each once; a project that is named and not there is made.

    What a person is asked about is in no document: it is a question, or a claim.

    Args:
        rulings: in the order in which they were given.
        documents: every document by path.
        settled: items as a second reader left them that they had waited for.
    """
    places = items_by_id(documents)
    work = Promoted(dict(documents), places, set(places))
    for item in settled:
        work.put(item)
    for ruling in rulings:
        work.take(ruling)
    work.link()
    changed = {i: (work.places[i][0], item) for i, item in work.changed.items() if item != work.places[i][1]}
    _write(work, changed)
    work.made = [path for path in work.documents if path not in documents]
    for home, item, named, why in work.asked.values():
        rival = work.item(last_of(named, work.superseded)) if named else None
        work.questions += [Question(item, home, why, rival)] if rival or not named else []
    work.questions.sort(key=lambda one: one.rival is None)
    return work


def _write(work: Promoted, changed: Mapping[str, tuple[str, Item]]) -> None:
    """Put items into the documents, making those that are missing; what is history in the order in which it ended."""
    documents, added, titles = work.documents, work.added, work.titles
    order = {ident: number for number, ident in enumerate(work.over)}
    histories: dict[str, list[Block]] = {}
    for path in sorted({path for path, _ in (*added.values(), *changed.values())}):
        young = [Block(item) for place, item in added.values() if place == path]
        kept = [block for block in young if block.item.status not in CLOSED]
        gone = [block for block in young if block.item.status in CLOSED]
        mine = {ident: item for ident, (place, item) in changed.items() if place == path}
        over = {ident: item for ident, item in mine.items() if item.status in CLOSED}
        document = documents.get(path) or new_document(path, titles.get(path, ""), min(one.item.since for one in young))
        if over:
            document, left = leaving(document, over)
            gone = [*left, *gone]
        documents[path] = edited(document, add=kept, replace={i: item for i, item in mine.items() if i not in over})
        if gone:
            histories.setdefault(history_of(path), []).extend(gone)
    for path, blocks in histories.items():
        document = documents.get(path) or new_document(
            path, titles.get(path, ""), min(block.item.since for block in blocks)
        )
        documents[path] = edited(document, add=sorted(blocks, key=lambda block: order[block.item.id]))


def new_document(path: str, title: str, day: str) -> Document:
    """Return a document made from the template of its kind."""
    title = document_title(title) or path.rpartition("/")[2].removesuffix(".md").replace("-", " ").capitalize()
    return Document(path, render("document.md", title=title, day=day, kind=kind_of(path)))


def document_title(name: str) -> str:
    """Return a name as one line that is safe in front matter and in a heading: no marks that would be structure."""
    plain = "".join(c for c in fold(name) if c not in "<>\"'`#\\").strip(" -:|[]{}&*!%@")
    return plain[:80].strip()


def evidence_of(place: Place) -> Evidence:
    """Return a place of a log as an item names it."""
    return Evidence(place.entry.path, place.start_line, place.end_line, quote_digest("\n".join(place.lines)))


# ---------------------------------------- superseding
# one item takes another's place; the old one goes to its document's History.


SUPERSEDABLE: Final = frozenset({Status.LIVE, Status.OPEN, Status.ARCHIVED})
"""What is still believed, in a document or in an archive. What is closed already has its end, and keeps it."""


def superseded(documents: Mapping[str, Document], old_id: str, new_item: Item, day: str) -> dict[str, Document]:
    """Return the documents in which one item has taken another's place.

    The old one is struck, gets `until` and `superseded-by`, and moves with the notes under it to `## History` of its
    document, or of Areas/general where every session loads its own. The new one is linked `supersedes`; links of others
    keep what was true when they were made. Nothing changes where that cannot be meant: the old one stands nowhere, or
    is closed already (an item is superseded once), or both are the same, or the new one stands nowhere.

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
    path, _ = places[new_item.id]
    row = next(placed for placed in after[path].items if placed.item.id == new_item.id)
    after[path] = commented(after[path], {row.line: with_link(row.item, "supersedes", old_id)})
    return after
