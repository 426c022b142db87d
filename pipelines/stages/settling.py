"""Settling: what a night means for others: Todos that are done, projects that are over, what a person decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.memory.layout import REVIEW
from pipelines.stages.archiving import propose_archives
from pipelines.stages.closing import close_todos
from pipelines.stages.questions import asked, held

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.memory.documents import Document
    from pipelines.memory.entries import Entry
    from pipelines.stages.promote import Promoted
    from pipelines.stages.questions import Telling


@dataclass(frozen=True, slots=True)
class Settled:
    """The documents with all of that in them.

    Args:
        documents: every document by path.
        closed: ids of Todos that the log says are done.
        archives: paths of projects that are proposed for Archives.
    """

    documents: Mapping[str, Document]
    closed: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()


def settle_beliefs(
    promoted: Promoted,
    entries: Iterable[Entry],
    logs: Mapping[str, bytes],
    telling: Telling,
    today: str,
    idle_days: int,
) -> Settled:
    """Close what is done, ask what cannot be decided, and propose what is over.

    Args:
        promoted: the documents after promotion, and the questions that it left.
        entries: what no run had read before, in order of days.
        logs: path → bytes of each log.
        telling: how questions tell of places.
        today: the memory's day.
        idle_days: how long nothing must have been said of a project.
    """
    closed = close_todos(promoted.documents, entries)
    documents = dict(closed.documents)
    if promoted.questions:
        documents[REVIEW] = asked(documents.get(REVIEW), promoted.questions, telling, today)
    if promoted.held:
        documents[REVIEW] = held(documents.get(REVIEW), promoted.held, telling, today)
    queue, archives = propose_archives(documents, logs, today, idle_days, telling.shown)
    if queue is not None:
        documents[REVIEW] = queue
    return Settled(documents, closed.ids, archives)
