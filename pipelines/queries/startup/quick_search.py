"""`curate search` of a plain question by a program, answered without the library that reads the command line.

What is unusual, what a person asks at a terminal, and what goes wrong is left to the verb proper.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.queries.search_settings import searched, spare_threads
from pipelines.queries.startup.fast import find_root
from pipelines.search.filters import Filters
from pipelines.search.found import LITTLE
from pipelines.search.hits import CLOSE, OPEN, Hit, snippets
from pipelines.search.query import SearchRequest
from pipelines.text import escape_terminal, escape_terminal_json, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pipelines.search.found import Found


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
    spare_threads()
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
