"""Projects made, renamed and closed, by hand or by an answer: the document moves, its items keep their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.night.briefing import archived
from pipelines.night.pointers import without_pointers
from pipelines.store.document import commented, followed, with_alias, with_front_lines, with_front_matter
from pipelines.store.item import Status
from pipelines.store.layout import BRIEFING, Kind, slug

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping

    from pipelines.store.document import Document
    from pipelines.store.item import Item


KEPT = "kept"
"""The key of a project's front matter that holds the day on which a person said that it goes on."""


def named_in(title: str, documents: Mapping[str, Document]) -> str:
    """Return the path of the project that a heading of Review.md names, or an empty string."""
    found = [path for path, one in documents.items() if one.kind is Kind.PROJECT and path in title]
    return max(found, key=len, default="")


def kept(document: Document, day: str) -> Document:
    """Return a project that is not to be proposed for the archive again, as of a day."""
    if document.front.lines and not document.faults:
        return with_front_matter(document, {KEPT: day})
    return document if document.faults else with_front_lines(document, [f"{KEPT}: {day}"])


def open_todos(document: Document) -> tuple[Item, ...]:
    """Return the todos of a document that are open still."""
    return tuple(placed.item for placed in document.items if placed.item.status is Status.OPEN)


def archived_project(documents: Mapping[str, Document], path: str, theirs: Collection[str] = ()) -> dict[str, Document]:
    """Return the documents with a project moved to Archives/, its items archived, and links to it following.

    What people wrote in it stays as it is; lines of items keep their words, and say in their comments what they are.

    Args:
        documents: every document by path.
        path: the project's.
        theirs: documents that are a person's own files: their links are left as they are.
    """
    document = documents[path]
    target = free_path("Archives", document.id.rpartition("/")[2], documents)
    title = document.title
    still = commented(document, {p.line: archived(p.item) for p in document.items if p.item.id and p.item.active})
    still = with_front_matter(still, {"status": "archived"})
    return _led(documents, still, (path, title), (target, title), theirs)


def renamed_project(
    documents: Mapping[str, Document], path: str, title: str, theirs: Collection[str] = ()
) -> dict[str, Document]:
    """Return the documents with a project renamed: its file, its title, and every link to it; the old name stays one.

    Args:
        documents: every document by path.
        path: the project's.
        title: its new title, as `document_title` gives it.
        theirs: documents that are a person's own files: their links are left as they are.
    """
    document = documents[path]
    was, stem = document.title, document.id.rpartition("/")[2]
    others = {one for one in documents if one != path}
    target = free_path("Projects", slug(title), others)
    new = with_alias(_retitled(document, title), was)
    if slug(was) != slug(stem) and target != path:
        new = with_alias(new, stem)
    return _led(documents, new, (path, was), (target, title), theirs)


def _led(
    documents: Mapping[str, Document],
    document: Document,
    old: tuple[str, str],
    new: tuple[str, str],
    theirs: Collection[str],
) -> dict[str, Document]:
    """Return the documents with links following; the briefing's own pointers are written anew, whatever they say."""
    bare = {BRIEFING: without_pointers(documents[BRIEFING])} if BRIEFING in documents else {}
    before = {**documents, **bare, document.path: document}
    return {**followed(before, old, new), **{path: before[path] for path in theirs if path in before}}


def _retitled(document: Document, title: str) -> Document:
    """Return a document with another title where its title stands: in its front matter, and as its first heading."""
    was, lines = document.title, list(document.lines)
    first = next((h for h in document.headings if h.level == 1 and h.title), None)
    if first and first.title == was:
        line = lines[first.line]
        lines[first.line] = line.replace(was, title, 1)
    retitled = document.with_text("".join(lines))
    if document.front.lines and not document.faults and (document.front.get("title") or not first):
        return with_front_matter(retitled, {"title": title})
    return retitled if first else with_front_lines(retitled, [f"title: {title}"])


def free_path(folder: str, stem: str, taken: Container[str]) -> str:
    """Return a path in a folder that no document has: `NAME.md`, else `NAME-2.md` and so on."""
    path, number = f"{folder}/{stem}.md", 1
    while path in taken:
        number += 1
        path = f"{folder}/{stem}-{number}.md"
    return path
