"""Settling: what a night means for others: Todos that are done, projects that are over, what a person decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.review.close_todos import claimed, close_todos
from pipelines.review.questions import asked, held
from pipelines.stages.archiving import propose_archives
from pipelines.store.layout import REVIEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipelines.review.questions import Telling
    from pipelines.stages.promote import Promoted
    from pipelines.store.document import Document
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
