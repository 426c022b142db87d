"""What every search shares: the ranking from curate.toml, the question's vector, and how hits are shown.

A plain question by a program is answered here, without the library that reads the command line. What is unusual, what a
person asks at a terminal, and what goes wrong is left to the verb proper.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import CurateError, IndexUnusable, read_toml
from pipelines.queries.startup.fast import find_root
from pipelines.search.filters import Filters, no_project
from pipelines.search.hits import CLOSE, LITTLE, OPEN, Hit, remember_found, snippets, with_questions
from pipelines.search.query import SearchRequest, answer
from pipelines.search.rank import Ranking
from pipelines.search.schema import reading
from pipelines.store.layout import SETTINGS
from pipelines.text import escape_terminal, escape_terminal_json, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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


# ---------------------------------------- `curate search` by a program


# A person reads the first few; a program that asked for JSON takes as many as its own budget of words has room for.
SHOWN = 10
GIVEN = 100
MOST = 1000


def search_quickly(query: str, options: dict[str, str]) -> int | None:
    """Print what was found and return the exit code, or return None where the verb proper has to look.

    Args:
        query: the question.
        options: what else stands behind `curate search`, by name.
    """
    as_json, root = "json" in options, find_root(options.get("memory", ""))
    limit = options.get("limit", str(GIVEN if as_json else SHOWN))
    if not root or not query or sys.stdout.isatty() or limit not in map(str, range(1, MOST + 1)):
        return None
    try:
        narrowed = SearchRequest(filters=Filters(project=options.get("project", "").strip()))
        hits, notes, found = searched(Path(root), query, int(limit), narrowed)
    except Exception:  # noqa: BLE001  the verb proper tries again, and says what is wrong
        return None
    lines = hit_lines(query, hits, found)
    if as_json:
        lines = iter([escape_terminal_json(hits_json(query, hits, notes, found))])
    sys.stderr.write("".join(f"{escape_terminal(note)}\n" for note in notes))
    plain = (escape_terminal(line.replace(OPEN, "").replace(CLOSE, "")) for line in lines)
    sys.stdout.buffer.write("".join(f"{line}\n" for line in plain).encode())
    sys.stdout.flush()
    return 0


def hits_json(query: str, hits: Sequence[Hit], notes: Sequence[str], found: Found) -> dict[str, object]:
    """Return what `--json` prints."""
    return {"query": query, "found": found, "results": [hit.to_json() for hit in hits], "notes": list(notes)}


def hit_lines(query: str, hits: Sequence[Hit], found: Found, day_shown: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the lines that show the hits, with the words of the question between `OPEN` and `CLOSE`.

    Args:
        query: the question.
        hits: what was found.
        found: whether one of them is close to the question.
        day_shown: returns a day as it is printed.
    """
    if found == "little":
        yield LITTLE
    for hit, snippet in zip(hits, snippets(query, [hit.text for hit in hits]), strict=True):
        days = " until ".join(day_shown(day) for day in (hit.date, hit.until) if day)
        yield "  ".join(filter(None, (f"{escape_terminal_line(hit.path)}:{hit.lines}", days, hit.quality)))
        yield f"    ~~{snippet}~~" if hit.overruled else f"    {snippet}"
        if hit.overruled:
            yield f"    {escape_terminal_line(str(hit.overruled))}"
        for one in hit.over_since:
            yield f"    since then: {escape_terminal_line(str(one))}"
        places = [f"{line.path}:{line.lines}" for line in hit.evidence]
        if places and places != [hit.source]:
            yield f"    evidence: {escape_terminal_line(', '.join(places))}"
    if found == "nothing":
        yield "Nothing was found."
