"""What every search shares: an index that is up to date, and the question's vector."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

from pipelines.errors import CurateError, IndexUnusable
from pipelines.search.filters import no_project
from pipelines.search.hits import Found, Hit, with_questions
from pipelines.search.query import SearchRequest, answer
from pipelines.search.schema import reading

if TYPE_CHECKING:
    from pathlib import Path


def request_of(root: Path, query: str, asked: SearchRequest) -> tuple[SearchRequest, tuple[str, ...]]:
    """Return how to answer a query, and sentences on why it is by words alone; vectors of another embedder are ignored.

    Args:
        root: the memory.
        query: the query.
        asked: the filters, without a vector.
    """
    from pipelines.search.embed import chosen_embedder, vector_of  # noqa: PLC0415  words alone need none
    from pipelines.search.vectors import used_model  # noqa: PLC0415  as above

    made_by = used_model(root)
    try:
        embedder, why = chosen_embedder()
    except (CurateError, sqlite3.Error) as fault:
        return asked, (str(fault),)
    if embedder is None:
        why = why if made_by else ""  # without vectors before, nothing is missed
    elif made_by is None or made_by.name != embedder.name:
        why = _NO_VECTORS.format(embedder.name)
    else:
        vector, why = vector_of(embedder, query)
        if vector is None or len(vector) == made_by.dimension:
            asked = asked._replace(vector=vector, embedder=embedder.name)
        else:  # some embedders know their dimension only from an answer over the network
            why = _NO_VECTORS.format(embedder.name)
    return asked, (why,) if why else ()


_NO_VECTORS = "This answer uses words only. `curate index`, or the next run, makes the vectors of {}."


_FRESHENING = threading.Lock()
"""Threads of one process update the index in turn; a second would only wait for the lock."""


def searched(
    root: Path, query: str, limit: int, asked: SearchRequest
) -> tuple[tuple[Hit, ...], tuple[str, ...], Found]:
    """Bring the index up to date and search it; rebuild a damaged one once. `asked` is as for `request_of`.

    Returns:
        The hits, best first, sentences on the limits of the answer, and whether one is close to the question.
    """
    from pipelines.search.build import freshen, rebuilt  # noqa: PLC0415  a question that is refused needs no index

    with _FRESHENING:
        fresh = freshen(root)
    asked, why = request_of(root, query, asked)
    notes = (*fresh.notes, *why)
    try:
        with reading(root) as connection:
            hits, found = answer(root, connection, query, limit, fresh.stale, asked)
            notes += no_project(query, asked.filters, connection)
    except IndexUnusable as error:
        with _FRESHENING:
            notes += rebuilt(root, error).notes
        with reading(root) as connection:
            hits, found = answer(root, connection, query, limit, (), asked)
    return tuple(with_questions(root, hits)), notes, found
