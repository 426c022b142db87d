"""Projects renamed and closed, by hand or by an answer: the document moves, its items keep their ids.

A project of which all is done, and of which nobody spoke for long, is proposed for Archives.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.night.briefing import CLOSED_STATUS
from pipelines.night.caps import archived, free_path
from pipelines.review.questions import plain
from pipelines.store.document import (
    commented,
    followed,
    with_alias,
    with_front_lines,
    with_front_matter,
)
from pipelines.store.generated import without_pointers
from pipelines.store.item import ItemType, Status, folded
from pipelines.store.layout import BRIEFING, REVIEW, Kind, day_of_log, slug
from pipelines.store.review_queue import read_queue, with_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pipelines.store.document import Document
    from pipelines.store.item import Item


ARCHIVE: Final = "archive"
CHOICES: Final = ("archive: move it to Archives", "keep: leave it where it is, until something new is said of it")
KEPT: Final = "kept"
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
    target = free_path(f"Archives/{document.id.rpartition('/')[2]}.md", documents)
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
    target = free_path(f"Projects/{slug(title)}.md", documents.keys() - {path})
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


def propose_archives(
    documents: Mapping[str, Document],
    logs: Mapping[str, bytes],
    today: str,
    idle_days: int,
    shown: Callable[[str], str],
) -> tuple[Mapping[str, Document], tuple[str, ...]]:
    """Return the documents with an entry in Review.md for each project to be archived, and their paths.

    Such a project had Todos and has none open, and no item and no log of the last days tells of it. It is asked about
    once, and again only when something was said of it after a person chose to keep it.

    Args:
        documents: every document by path.
        logs: path → bytes of each log.
        today: the memory's day.
        idle_days: how long nothing was said of it.
        shown: what people call the file at a path; the path is a part of that.
    """
    try:
        since = (date.fromisoformat(today) - timedelta(days=idle_days)).isoformat()
    except (ValueError, OverflowError):
        since = ""
    asked = "\n".join(entry.title for entry in read_queue(documents.get(REVIEW)) if entry.kind == ARCHIVE)
    found, after = [], documents
    for path, document in sorted(documents.items()):
        if document.kind is Kind.PROJECT and path not in asked and _is_over(document, logs, since):
            found.append(path)
            done = sum(p.item.status is Status.DONE for p in document.items)
            what = "its one todo is done" if done == 1 else f"all its {done} todos are done"
            why = f"Of “{plain(document.title, 80)}” {what}, and nothing was said of it since {_last_day(document)}."
            after = with_entry(after, ARCHIVE, today, f"{ARCHIVE}: {shown(path)}", why, CHOICES)
    return after, tuple(found)


def _is_over(document: Document, logs: Mapping[str, bytes], since: str) -> bool:
    """Whether all todos of a project are done, and nothing was said of it from a day on."""
    todos = [p.item.status for p in document.items if p.item.type is ItemType.TODO]
    if Status.OPEN in todos or Status.DONE not in todos or document.front.get("status").casefold() in CLOSED_STATUS:
        return False
    last = _last_day(document)
    if not last or last >= since or document.front.get(KEPT) >= last:
        return False
    names = {folded(document.title), slug(document.title), document.id.rpartition("/")[2]} - {""}
    recent = (f" {folded(data.decode(errors='replace'))} " for path, data in logs.items() if day_of_log(path) >= since)
    return not any(f" {name} " in text for text in recent for name in names)


def _last_day(document: Document) -> str:
    return max((max(p.item.since, p.item.confirmed, p.item.until) for p in document.items), default="")
