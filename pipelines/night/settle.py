"""Settling: what a night means for others: Todos that are done, projects that are over, what a person decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.review.close_todos import claimed, close_todos
from pipelines.review.questions import asked, held, plain
from pipelines.store.document import Document
from pipelines.store.item import ItemType, Status, folded
from pipelines.store.layout import REVIEW, Kind, day_of_log, slug
from pipelines.store.review_queue import read_queue, with_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipelines.night.file_items import Promoted
    from pipelines.review.questions import Telling
    from pipelines.store.item import Trust
    from pipelines.store.log import Entry


@dataclass(frozen=True, slots=True)
class Settled:
    """The documents with all of that in them.

    Args:
        documents: every document by path.
        closed: ids of Todos that the log says are done.
        archives: paths of projects that are proposed for Archives.
        claims: ids of Todos that a person is asked about: who says that they are done is trusted less.
    """

    documents: Mapping[str, Document]
    closed: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()


def settle_beliefs(  # noqa: PLR0913, PLR0917  all that a night leaves to others
    promoted: Promoted,
    entries: Iterable[Entry],
    word_of: Callable[[Entry, str], Trust],
    logs: Mapping[str, bytes],
    telling: Telling,
    today: str,
    idle_days: int,
) -> Settled:
    """Close what is done, ask what cannot be decided, and propose what is over.

    Args:
        promoted: the documents after promotion, and the questions that it left.
        entries: what no run had read before, in order of days.
        word_of: whose word a line of an entry is.
        logs: path → bytes of each log.
        telling: how questions tell of places.
        today: the memory's day.
        idle_days: how long nothing must have been said of a project.
    """
    closed = close_todos(promoted.documents, entries, word_of)
    documents = dict(closed.documents)
    if promoted.questions:
        documents[REVIEW] = asked(documents.get(REVIEW), promoted.questions, telling, today)
    if promoted.held:
        documents[REVIEW] = held(documents.get(REVIEW), promoted.held, telling, today)
    queue, claims = claimed(documents, (*promoted.claims, *closed.claims), telling, today)
    documents |= {REVIEW: queue} if queue is not None else {}
    queue, archives = propose_archives(documents, logs, today, idle_days, telling.shown)
    if queue is not None:
        documents[REVIEW] = queue
    return Settled(documents, closed.ids, archives, claims)


# ---------------------------------------- archiving: a project of which all is done
# and of which nobody spoke for long, is proposed for Archives.


ARCHIVE: Final = "archive"
KEPT: Final = "kept"
"""The front matter's key for the day on which a person said that a project stays."""
CHOICES: Final = ("archive: move it to Archives", "keep: leave it where it is, until something new is said of it")
_CLOSED: Final = frozenset({"done", "closed", "archived", "finished", "inactive"})


def propose_archives(
    documents: Mapping[str, Document],
    logs: Mapping[str, bytes],
    today: str,
    idle_days: int,
    shown: Callable[[str], str] = str,
) -> tuple[Document | None, tuple[str, ...]]:
    """Return Review.md with an entry for each project to be archived, and their paths; None where there are none.

    Such a project had Todos and has none open, and no item and no log of the last days tells of it. It is asked about
    once, and again only when something was said of it after a person chose to keep it.

    Args:
        documents: every document by path.
        logs: path → bytes of each log.
        today: the memory's day.
        idle_days: how long nothing was said of it.
        shown: what people call the file at a path; the path is a part of that.
    """
    since = _earlier(today, idle_days)
    queue = documents.get(REVIEW) or Document(REVIEW, "# Review\n")
    asked = _asked_about(queue)
    waiting = {path for path in documents if path in asked}
    found = [
        path
        for path, document in sorted(documents.items())
        if document.kind is Kind.PROJECT and path not in waiting and _is_over(document, since)
    ]
    found = [path for path in found if not _is_named(documents[path], logs, since)]
    for path in found:
        document = documents[path]
        done = sum(p.item.status is Status.DONE for p in document.items)
        what = "its one todo is done" if done == 1 else f"all its {done} todos are done"
        why = f"Of “{plain(document.title, 80)}” {what}, and nothing was said of it since {_newest(document)}."
        queue = with_entry(queue, ARCHIVE, today, f"{ARCHIVE}: {shown(path)}", why, CHOICES, [])
    return (queue if found else None), tuple(found)


def _earlier(day: str, days: int) -> str:
    try:
        return (date.fromisoformat(day) - timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return ""


def _asked_about(queue: Document) -> str:
    """Return the headings of the entries that ask about an archive: each names its project's path."""
    return "\n".join(queue.lines[entry.first] for entry in read_queue(queue) if entry.kind == ARCHIVE)


def _is_over(document: Document, since: str) -> bool:
    todos = [p.item for p in document.items if p.item.type is ItemType.TODO]
    if document.front.get("status").casefold() in _CLOSED or any(todo.status is Status.OPEN for todo in todos):
        return False
    newest = _newest(document)
    was_kept = document.front.get(KEPT) >= newest
    return any(todo.status is Status.DONE for todo in todos) and bool(newest) and newest < since and not was_kept


def _newest(document: Document) -> str:
    return max((max(p.item.since, p.item.confirmed, p.item.until) for p in document.items), default="")


def _is_named(document: Document, logs: Mapping[str, bytes], since: str) -> bool:
    """Whether a log from that day on names the project: by its title or its file's name, in whatever words around."""
    names = {folded(document.title), slug(document.title), document.id.rpartition("/")[2]} - {""}
    for path, data in logs.items():
        if day_of_log(path) >= since:
            text = folded(data.decode(errors="replace"))
            if any(f" {name} " in f" {text} " for name in names):
                return True
    return False
