"""Measure other memories' search engines over what `benchmarks/speed.py --beside PYTHON` lays down.

usage: PYTHON benchmarks/peer_engines.py FOLDER

PYTHON is any Python with numpy and one of these engines in it; FOLDER holds `texts.txt` (a unit a line), `vectors.npy`,
`questions.txt` and `questions.npy`. Nothing of memcurate is imported. One JSON object is printed, an engine a key,
and on standard error which of them this Python cannot run:

  memsearch    the store of memsearch as it is installed: dense vectors and BM25 in milvus-lite, joined by rank
  sqlite-vec   FTS5 and sqlite-vec's scan in one SQLite file, 0.7 of meaning and 0.3 of words, as in OpenClaw's memory

Each says what `speed.py` says of its own: `index_us` a unit, `hybrid_ms` (median and 95th percentile), `changed_s` for
500 units taken out and put in again, `bytes` of disk a unit, and `memory_mb`, the most that the process held.
"""

from __future__ import annotations

import importlib
import json
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

TOP, A_FILE, AT_ONCE, WARM = 10, 500, 1000, 3


class Engine(Protocol):
    """What is measured of each."""

    def put(self, first: int, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Put units in, numbered from `first`; those that are there under these numbers are replaced."""

    def ask(self, text: str, vector: NDArray[np.float32]) -> int:
        """Return how many of the ten best were found."""


class MemSearch:
    """The store of memsearch, through its own class."""

    def __init__(self, folder: Path, dimension: int) -> None:
        """Open an empty store."""
        store = importlib.import_module("memsearch.store").MilvusStore
        self._store: Any = store(str(folder / "milvus.db"), dimension=dimension, _create_if_missing=True)

    def put(self, first: int, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Upsert by chunk hash, as its indexer does."""
        self._store.upsert([
            {
                "chunk_hash": f"{first + number:064x}", "embedding": vector.tolist(), "content": text,
                "source": "log.md", "heading": "", "heading_level": 0, "start_line": number, "end_line": number,
            }
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ])  # fmt: skip

    def ask(self, text: str, vector: NDArray[np.float32]) -> int:
        """Ask both legs."""
        return len(self._store.search(vector.tolist(), query_text=text, top_k=TOP))


class SqliteVec:
    """FTS5 and sqlite-vec in one file."""

    def __init__(self, folder: Path, dimension: int) -> None:
        """Open an empty file."""
        sqlite_vec = importlib.import_module("sqlite_vec")
        self._file = sqlite3.connect(folder / "vec.db")
        self._file.enable_load_extension(True)  # noqa: FBT003  SQLite's own way
        sqlite_vec.load(self._file)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        self._file.execute(f"CREATE VIRTUAL TABLE meaning USING vec0(e float[{dimension}] distance_metric=cosine)")

    def put(self, first: int, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Replace rows in both tables."""
        numbers = range(first, first + len(texts))
        with self._file:
            for table in ("words", "meaning"):
                self._file.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((one,) for one in numbers))  # noqa: S608  ours
            self._file.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", zip(numbers, texts, strict=True))
            rows = ((number, vector.tobytes()) for number, vector in zip(numbers, vectors, strict=True))
            self._file.executemany("INSERT INTO meaning(rowid, e) VALUES (?, ?)", rows)

    def ask(self, text: str, vector: NDArray[np.float32]) -> int:
        """Take four times as many candidates of each leg, and join their scores."""
        query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        words = self._file.execute(
            "SELECT rowid, bm25(words) FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (query, 4 * TOP)
        ).fetchall()
        near = self._file.execute(
            "SELECT rowid, distance FROM meaning WHERE e MATCH ? AND k = ?", (vector.tobytes(), 4 * TOP)
        ).fetchall()
        scores: dict[int, float] = {}
        for number, rank in words:
            scores[number] = 0.3 * -rank / (1 - rank)
        for number, distance in near:
            scores[number] = scores.get(number, 0.0) + 0.7 * (1 - distance)
        return len(sorted(scores, key=lambda one: -scores[one])[:TOP])


ENGINES: dict[str, Callable[[Path, int], Engine]] = {"memsearch": MemSearch, "sqlite-vec": SqliteVec}


def measure(engine: Engine, folder: Path, given: Path) -> dict[str, Any]:
    """Return the figures of one engine."""
    texts, vectors = (given / "texts.txt").read_text().splitlines(), np.load(given / "vectors.npy")
    began = time.perf_counter()
    for first in range(0, len(texts), AT_ONCE):
        engine.put(first, texts[first : first + AT_ONCE], vectors[first : first + AT_ONCE])
    built = time.perf_counter() - began
    times = []
    questions = (given / "questions.txt").read_text().splitlines()
    for number, (text, vector) in enumerate(zip(questions, np.load(given / "questions.npy"), strict=True)):
        began = time.perf_counter()
        engine.ask(text, vector)
        times += [time.perf_counter() - began] if number >= WARM else []
    began = time.perf_counter()
    engine.put(0, texts[:A_FILE], vectors[:A_FILE])
    engine.ask(questions[0], vectors[0])
    changed = time.perf_counter() - began
    return {
        "index_us": round(1e6 * built / len(texts), 1),
        "hybrid_ms": {
            "median": round(1000 * statistics.median(times), 2),
            "p95": round(1000 * sorted(times)[int(0.95 * len(times))], 2),
        },
        "changed_s": round(changed, 3),
        "bytes": round(sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / len(texts)),
        "memory_mb": round(int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024),
    }


def main() -> None:
    """Measure each engine that this Python has."""
    given, told = Path(sys.argv[1]), {}
    for name, make in ENGINES.items():
        with tempfile.TemporaryDirectory(dir=given) as folder:
            try:
                engine = make(Path(folder), np.load(given / "vectors.npy", mmap_mode="r").shape[1])
            except (ImportError, AttributeError, sqlite3.Error) as error:
                print(f"{sys.executable} cannot run {name}: {error}", file=sys.stderr)
                continue
            told[name] = measure(engine, Path(folder), given)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
