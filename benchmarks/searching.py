"""Search an index for one question, as benchmarks and tests do."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pipelines.errors import IndexUnusable
from pipelines.search.query import SearchRequest, answer
from pipelines.search.schema import reading

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pipelines.search.hits import Hit

_BY_WORDS = SearchRequest()


def search(
    root: Path, query: str, limit: int, stale: Collection[str] = (), asked: SearchRequest = _BY_WORDS
) -> list[Hit]:
    """Return the hits of `answer` from a memory's index.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    for _ in range(3):  # a rebuild may replace the file just as it is opened; `searched` would build it anew
        with suppress(IndexUnusable), reading(root) as connection:
            return answer(root, connection, query, limit, stale, asked)[0]
    with reading(root) as connection:
        return answer(root, connection, query, limit, stale, asked)[0]
