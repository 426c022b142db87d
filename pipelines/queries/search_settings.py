"""What every search shares: the ranking from curate.toml, and the question's vector."""

from __future__ import annotations

import os
import sqlite3
import threading
from typing import TYPE_CHECKING

from pipelines.errors import CurateError, IndexUnusable, read_toml
from pipelines.search.found import remember_found
from pipelines.search.query import SearchRequest, answer
from pipelines.search.rank import Mode, Ranking
from pipelines.search.schema import reading
from pipelines.store.layout import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.build import Freshness
    from pipelines.search.embedders.embedder import Embedder
    from pipelines.search.found import Found
    from pipelines.search.hits import Hit
    from pipelines.search.vectors import VectorModel


def spare_threads() -> None:
    """Let numpy use one thread, in a process that is one of many; call this before numpy is imported.

    By default one thread per processor spins while it waits. With two of them, a search on an idle machine took as long
    (0.19 s) but 40 % more processor time; beside two busy processes it took 0.55 s instead of 0.25. Four first nights
    at once took 31 s of processor time instead of 8.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


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


class SearchSession:
    """Turns queries into what the index is asked.

    Args:
        asked: the ranking and filters for every query.
        embedder: the embedder for the questions, or None to search by words.
        made_by: the model that made the vectors in the index.
        notes: sentences to print, once each.
    """

    def __init__(
        self, asked: SearchRequest, embedder: Embedder | None, made_by: VectorModel | None, notes: list[str]
    ) -> None:
        self.asked, self.embedder, self.made_by, self.notes = asked, embedder, made_by, notes

    def ask(self, query: str) -> SearchRequest:
        """Return how to answer a query; if the embedder fails, by words."""
        if self.embedder is None:
            return self.asked
        from pipelines.search.embed import vector_of  # noqa: PLC0415  only where there are vectors

        vector, note = vector_of(self.embedder, query)
        if vector is not None and self.made_by and len(vector) != self.made_by.dimension:
            # Some embedders know their dimension only from an answer over the network.
            note = _other(self.made_by, f"{self.embedder.name} ({len(vector)} numbers)")
            vector = None
        if note and note not in self.notes:
            self.notes.append(note)
        return self.asked._replace(vector=vector, embedder=self.embedder.name)


def search_session(root: Path, asked: SearchRequest, mode: Mode | None = None) -> SearchSession:
    """Return a session for the index of a memory; it ignores vectors of another embedder, with a note.

    Args:
        root: the memory.
        asked: the filters, without ranking and vector, which come from the settings and the index.
        mode: the search mode, if not the one in curate.toml.

    Raises:
        BadSettings: curate.toml has faults.
    """
    ranking = ranking_of(root)
    ranking = ranking._replace(mode=mode or ranking.mode)
    asked = asked._replace(ranking=ranking)
    if ranking.mode == "keyword":
        return SearchSession(asked, None, None, [])
    from pipelines.search.vectors import used_model  # noqa: PLC0415  words alone need none

    made_by = used_model(root)
    embedder, note = _embedder(made_by)
    return SearchSession(asked, embedder, made_by, [note] if note else [])


def _other(model: VectorModel, embedder: str) -> str:
    return (
        f"The index has vectors of {model.name} ({model.dimension} numbers), but the embedder is {embedder}. This"
        " answer uses words only; `curate index` embeds again."
    )


def _embedder(made_by: VectorModel | None) -> tuple[Embedder | None, str]:
    from pipelines.search.embed import chosen_embedder  # noqa: PLC0415  only where there are vectors

    try:
        embedder, why = chosen_embedder()
    except (CurateError, sqlite3.Error) as fault:
        return None, str(fault)
    if embedder is None:
        return None, why if made_by else ""  # without vectors before, nothing is missed
    if made_by is None:
        return (
            None,
            "This answer uses words only. `curate index`, or the next run, makes the vectors for search by meaning.",
        )
    if made_by.name != embedder.name:
        return None, _other(made_by, embedder.name)
    return embedder, ""


_FRESHENING = threading.Lock()
"""Threads of one process update the index in turn; a second would only wait for the lock."""


def searched(
    root: Path, query: str, limit: int, asked: SearchRequest
) -> tuple[tuple[Hit, ...], tuple[str, ...], Found]:
    """Search; rebuild a damaged index once. `asked` is as for `search_session`.

    Returns:
        The hits, best first, sentences on the limits of the answer, and whether one is close to the question.
    """
    from pipelines.search.build import freshen  # noqa: PLC0415  the command line brings it up to date itself

    with _FRESHENING:
        fresh = freshen(root)
    hits, notes, found = answered(root, query, limit, fresh, search_session(root, asked))
    return tuple(hits), (*fresh.notes, *notes), found


def answered(
    root: Path, query: str, limit: int, fresh: Freshness, who: SearchSession
) -> tuple[list[Hit], list[str], Found]:
    """Answer a query from an index that is up to date; rebuild a damaged one once.

    Returns:
        The hits, best first, new sentences on the limits of the answer, and whether one is close to the question.
    """
    asked = who.ask(query)
    notes, who.notes = who.notes, []
    try:
        with reading(root) as connection:
            hits, found = answer(root, connection, query, limit, fresh.stale, asked)
    except IndexUnusable as error:
        from pipelines.search.build import rebuilt  # noqa: PLC0415  as above

        with _FRESHENING:
            notes += rebuilt(root, error).notes
        with reading(root) as connection:
            hits, found = answer(root, connection, query, limit, (), asked)
    if asked.ranking.access:
        from pipelines.clock import day_of, moment  # noqa: PLC0415  few memories count what is found
        from pipelines.settings import load_settings  # noqa: PLC0415  as above

        settings = load_settings(root)
        remember_found(root, hits, day_of(moment(None, settings), settings))
    return hits, notes, found
