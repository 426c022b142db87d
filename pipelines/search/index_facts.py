"""What can be told of the index at a glance: whether it is there, follows the files, and has vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pipelines.errors import IndexUnusable
from pipelines.search.embed import embedded_units
from pipelines.search.indexed_files import changed_in, counts_in, scan
from pipelines.search.schema import INDEX, reading
from pipelines.search.vectors import used_model

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


State = Literal["current", "behind", "missing", "unusable"]

_BRINGS = "the next run, search or `curate index`"


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """The vectors of the index.

    Args:
        model: the model that made them.
        dimension: numbers per vector.
        present: units with a vector.
        missing: units without one yet; short texts need none.
    """

    model: str
    dimension: int
    present: int
    missing: int


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The state of the index.

    Args:
        state: whether it is usable and up to date.
        sentence: what is wrong and what to do if it is not current; else empty.
        files: files in it.
        units: units in it.
        behind: files added, changed or deleted since.
        vectors: None if nothing was ever embedded.
    """

    state: State
    sentence: str = ""
    files: int = 0
    units: int = 0
    behind: int = 0
    vectors: VectorFacts | None = None


def index_facts(root: Path) -> IndexFacts:
    """Return the state of a memory's index. Writes nothing, and raises nothing for a broken index.

    Cheap for any memory: it compares the files' metadata with the index's list of files.
    """
    try:
        behind = len(changed_in(root, scan(root)[0]).stale)
        with reading(root) as connection:
            return _facts(root, connection, behind)
    except IndexUnusable as fault:
        if (root / INDEX).is_file():
            return IndexFacts("unusable", f"{fault.sentence} {_BRINGS[0].upper()}{_BRINGS[1:]} rebuilds it.")
        return IndexFacts("missing", f"There is none yet; {_BRINGS} builds it.")


def _facts(root: Path, connection: sqlite3.Connection, behind: int) -> IndexFacts:
    there, units = counts_in(connection)
    files = "1 file" if behind == 1 else f"{behind:,} files"
    model = used_model(root)
    return IndexFacts(
        state="behind" if behind else "current",
        sentence=f"{files} changed since; {_BRINGS} updates it." if behind else "",
        files=there,
        units=units,
        behind=behind,
        vectors=VectorFacts(*model, *embedded_units(root, connection, model)) if model else None,
    )
