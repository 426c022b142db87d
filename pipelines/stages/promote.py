"""Promote: what the review lets in becomes lines of documents; what it knows already is confirmed where it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.memory.documents import Block, Document, edited
from pipelines.memory.items import Evidence, Item, ItemType, Status, Trust, fold, new_id, quote_digest
from pipelines.memory.layout import document_id, kind_of
from pipelines.memory.wording import folded
from pipelines.stages.extract import evidence_lines
from pipelines.stages.filing import home_of
from pipelines.stages.review import VerdictKind
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from pipelines.models.extraction import Candidate
    from pipelines.stages.filing import Shelves
    from pipelines.stages.review import Verdict


@dataclass(frozen=True, slots=True)
class Promoted:
    """The documents after promotion.

    Args:
        documents: every document by path, the changed ones anew.
        added: path and item of each one that is new.
        confirmed: the ids of items that gained evidence.
        made: paths of documents that were made.
    """

    documents: Mapping[str, Document]
    added: tuple[tuple[str, Item], ...]
    confirmed: tuple[str, ...]
    made: tuple[str, ...]


def promote(verdicts: Iterable[Verdict], shelves: Shelves) -> Promoted:
    """Add and confirm items in their documents, each once; a project that was named and is not there is made."""
    documents = dict(shelves.documents)
    places = {p.item.id: (path, p.item) for path, doc in documents.items() for p in doc.items if p.item.id}
    taken = set(places)
    added: dict[str, tuple[str, Item]] = {}
    changed: dict[str, Item] = {}
    newest: dict[tuple[ItemType, str], str] = {}
    titles: dict[str, str] = {}
    for verdict in verdicts:
        candidate = verdict.candidate
        key = (candidate.type, folded(candidate.text))
        if verdict.kind is VerdictKind.ADD:
            path = verdict.document or home_of(candidate.type, candidate.text, candidate.confidence, shelves)
            item = _born(candidate, path, taken)
            taken.add(item.id)
            added[item.id] = (path, item)
            newest[key] = item.id
            titles.setdefault(path, candidate.entry.project or candidate.new_project)
        elif verdict.kind is VerdictKind.DUPLICATE:
            ident = verdict.known or newest.get(key, "")
            if ident in added:
                path, item = added[ident]
                added[ident] = (path, _confirmed(item, candidate))
            elif ident in places:
                changed[ident] = _confirmed(changed.get(ident, places[ident][1]), candidate)
    changed = {ident: item for ident, item in changed.items() if item != places[ident][1]}
    made = _write(documents, added, {i: (places[i][0], item) for i, item in changed.items()}, titles)
    return Promoted(documents, tuple(added.values()), tuple(changed), tuple(made))


def _write(
    documents: dict[str, Document],
    added: Mapping[str, tuple[str, Item]],
    changed: Mapping[str, tuple[str, Item]],
    titles: Mapping[str, str],
) -> list[str]:
    """Put items into `documents`, making those that are missing, and return the paths that were made."""
    made = []
    for path in sorted({path for path, _ in (*added.values(), *changed.values())}):
        if path not in documents:
            documents[path] = new_document(path, titles.get(path, ""), _first_day(path, added))
            made.append(path)
        documents[path] = edited(
            documents[path],
            add=[Block(item) for place, item in added.values() if place == path],
            replace={ident: item for ident, (place, item) in changed.items() if place == path},
        )
    return made


def _first_day(path: str, added: Mapping[str, tuple[str, Item]]) -> str:
    return min(item.since for place, item in added.values() if place == path)


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


def _born(candidate: Candidate, path: str, taken: Container[str]) -> Item:
    todo = candidate.type is ItemType.TODO
    item = Item(
        type=candidate.type,
        text=candidate.text,
        status=(Status.DONE if candidate.closed else Status.OPEN) if todo else Status.LIVE,
        since=candidate.entry.day,
        trust=Trust.SELF,
        confidence=candidate.confidence,
        evidence=(_evidence(candidate),),
        by=candidate.by,
    )
    return replace(item, id=new_id(item, document_id(path), taken))


def _confirmed(item: Item, candidate: Candidate) -> Item:
    """Return the item with one more place of evidence: the first and the last are kept, and a count."""
    place = _evidence(candidate)
    if place in item.evidence:
        return item
    done = candidate.closed and item.status is Status.OPEN
    return replace(
        item,
        status=Status.DONE if done else item.status,
        confirmed=max(item.confirmed, candidate.entry.day),
        evidence=(*item.evidence[:1], place),
        seen=max(item.seen, len(item.evidence)) + 1,
    )


def _evidence(candidate: Candidate) -> Evidence:
    digest = quote_digest("\n".join(evidence_lines(candidate)))
    return Evidence(candidate.entry.path, candidate.start_line, candidate.end_line, digest)
