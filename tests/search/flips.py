"""A memory whose index is damaged a few bytes at a time, and the answers that it must give all the same."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from pipelines.errors import IndexUnusable
from pipelines.search.build import freshen, rebuilt, update_index
from pipelines.search.embed import embed_index
from pipelines.search.filters import Filters
from pipelines.search.matrix import read_stamp
from pipelines.search.query import SearchRequest, search
from pipelines.search.schema import INDEX
from tests.search.bag import Bag

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.hits import Hit

WORDS = "boat ship lake storm harbour sail anchor doctor happy glad tea plum pear apple red blue north south".split()
QUERIES = (
    "boat on the lake",
    "happy doctor",
    "red plums",
    "#urgent",
    "project:Alpha sail",
    "2 January 2026",
    "k1c02d9e441",
)
PROJECT = """---
title: Alpha
updated: 2026-02-01
---
## Decisions

- Decision: Sail north with the boat. <!-- k7f3a9c2b10 since=2026-02-01 trust=self confidence=medium -->

## History

- ~~Decision: Sail south with the boat.~~ <!-- k1c02d9e441 since=2026-01-02 until=2026-02-01 superseded-by=k7f -->
"""


def write(root: Path, path: str, text: str) -> None:
    """Write a file of the memory."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def fill(root: Path) -> None:
    """Lay down a memory of some 200 units, with its index and its vectors, all in their files."""
    chance = random.Random(3)
    write(root, "curate.toml", "")
    for day in range(1, 7):
        lines = (f"- {' '.join(chance.choices(WORDS, k=7))}{' #urgent' * (n % 9 == 0)}\n" for n in range(32))
        write(root, f"Logs/2026-01-{day:02}.md", f"# Day {day}\n\n{''.join(lines)}")
    write(root, "Projects/alpha.md", PROJECT)
    bring(root)
    with closing(sqlite3.connect(root / INDEX)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def bring(root: Path) -> None:
    """Do what `curate index` does."""
    update_index(root)
    embed_index(root, Bag())


def files(root: Path) -> dict[str, Path]:
    """Return the files that can be damaged, by what they are."""
    stamp = read_stamp(root)
    assert stamp
    beside = {part: (root / stamp.signs).with_suffix(f".{part}") for part in ("rows", "keys", "bits")}
    return {"index": root / INDEX, "places": root / stamp.file, **beside}


def flip(path: Path, seed: int, count: int) -> None:
    """Put other values at random places of a file."""
    chance, data = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(count):
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    path.write_bytes(data)


def answers(root: Path) -> list[list[Hit]]:
    """Return what a fixed set of questions finds, by words and with vectors, now and as of a day."""
    bag = Bag()
    asked = [SearchRequest(), *(SearchRequest(filters=Filters(as_of=day)) for day in ("2026-01-04", "2026-02-01"))]
    with_vectors = [(query, SearchRequest(vector=bag.embed_query(query), embedder=bag.name)) for query in QUERIES]
    pairs = [(query, how) for query in QUERIES for how in asked] + with_vectors
    return [search(root, query, 20, (), how) for query, how in pairs]


def answers_as_searched(root: Path) -> list[list[Hit]]:
    """Return the same as `curate search` would find it, with nothing but its own care."""
    try:
        freshen(root)
        return answers(root)
    except IndexUnusable as fault:
        rebuilt(root, fault)
        return answers(root)
