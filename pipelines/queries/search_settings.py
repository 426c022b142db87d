"""What every search shares: the ranking from curate.toml, and the question's vector."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

from pipelines.errors import CurateError, IndexUnusable, read_toml
from pipelines.search.filters import no_project
from pipelines.search.hits import Hit, remember_found, with_questions
from pipelines.search.query import SearchRequest, answer
from pipelines.search.rank import Ranking
from pipelines.search.schema import reading
from pipelines.store.layout import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.hits import Found, Hit


def ranking_of(root: Path) -> Ranking:
    """Return the ranking that curate.toml asks for.

    Raises:
        BadSettings: the file has faults.
    """
    table = read_toml(root / SETTINGS).get("search", {})
    if table in ({}, {"mode": "keyword"}):  # checking the whole file takes longer than the search
        return Ranking(mode="keyword" if table else "hybrid")
    from pipelines.settings import load_settings  # noqa: PLC0415  see above

    return Ranking(**load_settings(root).search.model_dump())


def request_of(root: Path, query: str, asked: SearchRequest) -> tuple[SearchRequest, tuple[str, ...]]:
    """Return how to answer a query, and sentences on why it is by words alone; vectors of another embedder are ignored.

    Args:
        root: the memory.
        query: the query.
        asked: the filters, without ranking and vector, which come from the settings and the index.

    Raises:
        BadSettings: curate.toml has faults.
    """
    asked = asked._replace(ranking=ranking_of(root))
    if asked.ranking.mode == "keyword":
        return asked, ()
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
    if asked.ranking.access:
        from pipelines.clock import day_of, moment  # noqa: PLC0415  few memories count what is found
        from pipelines.settings import load_settings  # noqa: PLC0415  as above

        settings = load_settings(root)
        remember_found(root, hits, day_of(moment(None, settings), settings))
    return tuple(with_questions(root, hits)), notes, found
