"""Promote: apply the review's rulings to documents. Items are added, confirmed, replaced and closed.

An item that replaces another takes its place in the document; the old one moves to the History.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import Candidate, OperationKind, Place, shown_text
from pipelines.review.existing_items import home_of_successor
from pipelines.review.item_links import (
    history_of,
    last_successor,
    leaving,
    with_confirmation,
    with_link,
    with_successor,
)
from pipelines.review.outcomes import DOUBT, DoubtfulClaim, replaced, with_end
from pipelines.review.questions import Question
from pipelines.store.change_set import items_by_id, moved
from pipelines.store.document import Block, Document, document_at, edited, with_marks
from pipelines.store.item import (
    CLOSED,
    ON,
    OUTCOMES,
    PERHAPS,
    PERSON,
    SOURCE,
    Evidence,
    Item,
    Status,
    Trust,
    new_id,
    quote_digest,
    with_extra,
)
from pipelines.store.layout import GENERAL, REVIEW, document_id, kind_of
from pipelines.templating import render
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.review.review import Ruling


_MOST_SAID = 160


@dataclass(slots=True)
class Promoted:
    """The items and documents while rulings are applied, one after the other.

    `documents` holds every document by path, `items` every item as it is now, `places` path and item of those that
    there were, and `homes` the path of each new one. `confirmed` are the items that gained evidence, `superseded` the
    id of each replaced item → its successor's, and `closed` the items that ended otherwise.
    `questions` are new items for Review.md to ask about, contradictions first; they are in none of the others. `claims`
    are log lines about items on which a person decides. `meant` is temporary id → id, and `back` archived items that
    were said again → the document they return to.
    """

    documents: dict[str, Document]
    places: Mapping[str, tuple[str, Item]]
    items: dict[str, Item]
    homes: dict[str, str] = field(default_factory=dict)
    confirmed: dict[str, None] = field(default_factory=dict)
    closed: dict[str, None] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    meant: dict[str, str] = field(default_factory=dict)
    links: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    superseded: dict[str, str] = field(default_factory=dict)
    claims: list[DoubtfulClaim] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    back: dict[str, str] = field(default_factory=dict)

    def take(self, ruling: Ruling) -> None:
        """Apply a ruling."""
        candidate = ruling.candidate
        items = [item for ident in ruling.operation.ids if (item := self.item(ident))]
        if candidate and ruling.makes_item and ruling.asks:
            item = self._create(candidate, ruling.document)
            self.questions.append(Question(item, ruling.document, ruling.asks, items[0] if items else None))
        elif candidate and (ruling.makes_item or (ruling.kind is OperationKind.CONFIRM and not items)):
            self._begin(ruling, candidate, items)  # also if it repeats an item that was dropped: it may be right
        else:
            for item in items:
                self._change(ruling, item)

    def _change(self, ruling: Ruling, item: Item) -> None:
        """Apply a ruling to an existing item."""
        kind = ruling.kind
        if ruling.asks or kind is OperationKind.QUESTION:
            self.claims.append(self._claim(ruling, item))
        if ruling.asks:
            return
        if kind is OperationKind.CONFIRM and ruling.operation.how:
            place = ruling.operation.places[-1]
            said = shown_text(" ".join(place.lines), _MOST_SAID)
            self.put(with_extra(item, PERHAPS, f"{_outcome(ruling, item)} {ruling.day}: {said}"))
        elif kind is OperationKind.CONFIRM:
            self._confirm(ruling, item)
        elif kind is OperationKind.QUESTION:
            self.put(replace(item, doubted=ruling.day))
        elif kind in {OperationKind.CLOSE, OperationKind.RETRACT}:
            self.put(with_end(item, _outcome(ruling, item), ruling.day, evidence_of(ruling.operation.places[-1])))
            self.closed[item.id] = None

    @property
    def added(self) -> dict[str, tuple[str, Item]]:
        """Path and item of each new item."""
        return {ident: (path, self.items[ident]) for ident, path in self.homes.items()}

    def item(self, ident: str) -> Item | None:
        """Return an item as it is now, by its id or a temporary one."""
        return self.items.get(self.meant.get(ident, ident))

    def put(self, item: Item) -> None:
        """Replace an item, in its place."""
        self.items[item.id] = item

    def saw(self, seen: Mapping[str, str]) -> None:
        """Note the last day that says again what an item says; nothing else of it changes."""
        for ident, day in seen.items():
            item = self.item(ident)
            if item and item.active and day > max(item.confirmed, item.learnt):
                self.put(with_extra(replace(item, confirmed=day), PERHAPS, ""))

    def link(self) -> None:
        """Add the links that the text or a model gave the new items."""
        for ident, links in self.links.items():
            for kind, target in links:
                source, named = self.item(ident), self.item(target)
                if source and named:
                    self.items[source.id] = with_link(source, kind, named.id)

    def _create(self, candidate: Candidate, path: str) -> Item:
        extra = ((SOURCE, candidate.source), (PERSON, candidate.name), (ON, candidate.on))
        item = Item(
            type=candidate.type,
            text=candidate.text,
            status=candidate.status,
            since=candidate.day,
            until=candidate.entry.day if candidate.closed else "",
            trust=candidate.trust,
            confidence=candidate.confidence,
            evidence=joined_evidence(candidate.places),
            by=candidate.by,
            page_section=candidate.page_section,
            due=candidate.due,
            reason="" if candidate.by.startswith("rules@") else candidate.reason,
            extra=tuple((key, value) for key, value in extra if value),
        )
        item = replace(item, id=new_id(item, document_id(path), self.items))
        self.items[item.id] = item
        self.meant[candidate.id] = item.id
        self.links[item.id] = candidate.links
        return item

    def _begin(self, ruling: Ruling, candidate: Candidate, old: Sequence[Item]) -> None:
        """Add a new item to its document, or in place of the items that it supersedes there or in one for all."""
        ident = old[0].id if old else ""
        path = self.homes.get(ident) or (self.places[ident][0] if ident else ruling.document)
        path = home_of_successor(path, ruling.document)
        item = self._create(candidate, path)
        self.homes[item.id] = path
        self.put(item)
        self.titles.setdefault(path, candidate.entry.project or candidate.new_project or candidate.new_area)
        for one in old:
            self.put(with_link(self.items[item.id], "supersedes", one.id))
            self.put(with_successor(one, item, candidate.day))
            self.superseded[one.id] = item.id

    def _confirm(self, ruling: Ruling, item: Item) -> None:
        if ruling.candidate:
            self.meant[ruling.candidate.id] = item.id
        after = with_extra(item, PERHAPS, "")
        for place in map(evidence_of, ruling.operation.places):
            after = after if place in after.evidence else with_confirmation(after, place, ruling.operation.day)
        if ruling.candidate and ruling.candidate.trust is Trust.OWNER:
            after = with_extra(replace(after, trust=Trust.OWNER), SOURCE, "")
        if after != item:
            self.put(after)
            if ruling.candidate and item.status is Status.ARCHIVED:
                self.back[item.id] = ruling.document
                self.titles.setdefault(ruling.document, ruling.candidate.entry.project or ruling.candidate.new_project)
            self.confirmed |= {item.id: None} if item.id in self.places else {}

    def _claim(self, ruling: Ruling, item: Item) -> DoubtfulClaim:
        how = _outcome(ruling, item)
        kind = how.value if ruling.kind is OperationKind.CLOSE else DOUBT
        why = ruling.asks or "nothing says what is true instead"
        return DoubtfulClaim(with_end(item, how, ruling.day, evidence_of(ruling.operation.places[-1])), kind, why)


def _outcome(ruling: Ruling, item: Item) -> Status:
    """Return the status that a ruling closes an item with."""
    if ruling.kind not in {OperationKind.CLOSE, OperationKind.CONFIRM}:
        return Status.NEVER_HELD
    return ruling.operation.how or OUTCOMES[item.type][0]


def promote(
    rulings: Iterable[Ruling], documents: Mapping[str, Document], seen: Mapping[str, str] = MappingProxyType({})
) -> Promoted:
    """Apply the rulings to the documents, each once; a project that is named but missing is created.

    What a person must decide changes no document: it becomes a question or a claim.

    Args:
        rulings: in the order they were made.
        documents: every document by path.
        seen: id of an item → the last day that says it again.
    """
    places = items_by_id(documents)
    work = Promoted(dict(documents), places, {ident: item for ident, (_, item) in places.items()})
    for ruling in rulings:
        work.take(ruling)
    work.saw(seen)
    work.link()
    _write(work, {i: (path, now) for i, (path, was) in places.items() if (now := work.items[i]) is not was})
    for ident, path in work.back.items():
        if path not in work.documents:
            work.documents[path] = new_document(path, work.titles.get(path, ""))
        work.documents = moved(work.documents, ident, path)
    work.questions = sorted((_as_now(one, work) for one in work.questions), key=lambda one: one.rival is None)
    return work


def _as_now(question: Question, work: Promoted) -> Question:
    """Return a question about the items that hold by now."""
    rival = question.rival and work.items[last_successor(question.rival.id, work.superseded)]
    return replace(question, item=work.items[question.item.id], rival=rival)


def _write(work: Promoted, changed: Mapping[str, tuple[str, Item]]) -> None:
    """Write items to the documents, creating missing ones; what is over goes to the History."""
    documents, blocks = work.documents, defaultdict[str, list[Block]](list)
    for path in sorted({path for path, _ in changed.values()}):
        here = {ident: item for ident, (place, item) in changed.items() if place == path}
        over = {ident: item for ident, item in here.items() if item.status in CLOSED}
        document, left = leaving(documents[path], over)
        documents[path] = edited(document, replace={i: item for i, item in here.items() if i not in over})
        if left:
            blocks[history_of(path)] += left
    for path, item in work.added.values():
        blocks[history_of(path) if item.status in CLOSED else path].append(Block(item))
    for path, new in sorted(blocks.items()):
        documents[path] = edited(documents.get(path) or new_document(path, work.titles.get(path, "")), add=new)


def new_document(path: str, title: str) -> Document:
    """Return a document from the template of its kind; what is about no one thing takes no project's title."""
    title = (document_title(title) if path != GENERAL else "") or path.rpartition("/")[2].removesuffix(".md").replace(
        "-", " "
    ).capitalize()
    return document_at(path, render("document.md", title=title, kind=kind_of(path)))


_MARKUP = re.compile(r"""[<>"`\\]|(?<!\w)#|(?<!\w)'|'(?!\w)""")
"""What could mean structure; `#` and `'` may be part of a word: `C#`, `Mara's`."""


def document_title(name: str) -> str:
    """Return a name as one line without characters that mean structure in front matter or a heading."""
    plain = _MARKUP.sub("", fold(name)).strip(" -:|[]{}&*!%@")
    return plain[:80].strip()


def evidence_of(place: Place) -> Evidence:
    """Return a place in a log as an item's evidence."""
    return Evidence(place.entry.path, place.start_line, place.end_line, quote_digest("\n".join(place.lines)))


def joined_evidence(places: Sequence[Place]) -> tuple[Evidence, ...]:
    """Return places as evidence; places of a log that follow each other line by line are one."""
    found: list[tuple[str, int, int, list[str]]] = []
    for place in places:
        path, first, last, lines = place.entry.path, place.start_line, place.end_line, place.lines
        if found and (found[-1][0], found[-1][2] + 1) == (path, first):
            _, first, _, before = found.pop()
            lines = [*before, *lines]
        found.append((path, first, last, lines))
    quoted = (Evidence(path, first, last, quote_digest("\n".join(lines))) for path, first, last, lines in found)
    return tuple(dict.fromkeys(quoted))


# ---------------------------------------- superseding
# One item takes another's place; the old one moves to its document's History.


SUPERSEDABLE: Final = frozenset({Status.LIVE, Status.OPEN, Status.ARCHIVED})
"""Items that are still believed, in a document or an archive. A closed item keeps the end it has."""


def with_superseded(documents: Mapping[str, Document], old_id: str, new_item: Item, day: str) -> dict[str, Document]:
    """Return the documents after one item has taken another's place.

    The old item is struck out, gets `until` and `superseded-by`, and moves with its notes to `## History` of its
    document, or of Areas/general if every session loads its document. The new item is linked `supersedes`. Links of
    other items keep what was true when they were made. Nothing changes if either item is missing, both are the same, or
    the old one is closed: an item is superseded once.

    Args:
        documents: every document by path; one of them holds the new item.
        old_id: the item that no longer holds.
        new_item: the item that replaces it.
        day: the day of the change, `YYYY-MM-DD`.
    """
    places = items_by_id(documents)
    if old_id == new_item.id or not {old_id, new_item.id} <= places.keys():
        return dict(documents)
    path, old = places[old_id]
    if old.status not in SUPERSEDABLE or path == REVIEW:
        return dict(documents)
    after = replaced(documents, path, with_successor(old, new_item, day))
    path, _ = places[new_item.id]
    row = next(placed for placed in after[path].items if placed.item.id == new_item.id)
    after[path] = with_marks(after[path], {row.line: with_link(row.item, "supersedes", old_id)})
    return after
