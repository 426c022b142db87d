"""Measure how fast the index is at 10,000, 100,000 and 1,000,000 units, with made-up texts and vectors.

usage: python benchmarks/speed.py [UNITS ...] [--dimension D] [--queries N] [--folder DIR]

The texts are 8 to 52 words drawn by Zipf's law from 50,000, a log a day of 500 units; the vectors lie around topics, as
real ones do. Vectors are handed to the index as an embedder's would be, so that all but the model itself is measured.
One JSON object a size is printed:

  index_us      building the index whole, microseconds a unit
  vectors_us    keeping the vectors and making the matrix, microseconds a unit
  hybrid_ms     in-process hybrid query, top 10: median and 95th percentile; keyword_ms and vector_ms likewise
  cold_ms       `curate search` as a whole process, by words alone and with the vectors (a ready question's vector)
  changed_s     one changed file of 500 units brought into index and matrix
  recall        vector recall@10 against the exact answer
  beside_ms     in the same run, ten nearest by the ways that other memories go: a numpy scan of all vectors, and
                sqlite-vec's brute force where it is installed and this Python can load extensions
  bytes         disk a unit: index, vectors, matrix
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.index.build import rebuild_index, refresh_index
from pipelines.index.embed import embed_index
from pipelines.index.matrix import open_matrix, read_stamp
from pipelines.index.ranking import Ranking
from pipelines.index.scanning import nearest, scan
from pipelines.index.search import Asked, search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

A_FILE = 500
TOPICS = 1000
VOCABULARY = 50_000
STOP = 100  # a question's first hundred words are stop words, which are never looked for


class Made:
    """An embedder without a model: a text's vector is one of the topics and noise, both by the text's hash."""

    def __init__(self, dimension: int) -> None:
        """Draw the topics."""
        self.name, self.dimension = "bench:made", dimension
        self._topics = np.random.default_rng(1).standard_normal((TOPICS, dimension), np.float32)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector a text."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        vector = self._topics[seed % TOPICS] + np.random.default_rng(seed).standard_normal(self.dimension, np.float32)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def words(chance: random.Random, count: int, first: int = 1) -> str:
    """Return words as often as words are: the second half as often as the first, the third a third."""
    ranks = (first * (VOCABULARY / first) ** chance.random() for _ in range(count))
    return " ".join(f"w{int(rank):05d}" for rank in ranks)


def make_memory(root: Path, units: int) -> None:
    """Lay down logs."""
    chance = random.Random(7)
    (root / "Logs").mkdir(parents=True)
    (root / "curate.toml").write_text("")
    for number in range(0, units, A_FILE):
        day = date(2000, 1, 1) + timedelta(days=number // A_FILE)
        lines = "".join(f"- {words(chance, chance.randint(8, 52))}\n" for _ in range(min(A_FILE, units - number)))
        (root / f"Logs/{day}.md").write_text(f"# {day}\n\n{lines}")


def milliseconds(times: Sequence[float]) -> dict[str, float]:
    """Return median and 95th percentile."""
    ordered = sorted(times)
    return {
        "median": round(1000 * statistics.median(times), 2),
        "p95": round(1000 * ordered[int(0.95 * len(ordered))], 2),
    }


def query_times(root: Path, embedder: Made, queries: int, ranking: Ranking) -> dict[str, float]:
    """Return how long a query takes in a process that goes on, its vector given."""
    chance, times = random.Random(9), []
    for number in range(queries + 3):
        query = words(chance, 6, STOP)
        asked = Asked(ranking=ranking, vector=embedder.embed_query(query), embedder=embedder.name)
        began = time.perf_counter()
        search(root, query, 10, (), asked)
        times += [time.perf_counter() - began] if number >= 3 else []  # noqa: PLR2004  the first ones warm up
    return milliseconds(times)


def vector_recall(root: Path, embedder: Made) -> float:
    """Return how much of the exact ten nearest the search finds, over twenty questions."""
    stamp = read_stamp(root)
    matrix = open_matrix(root, stamp.build) if stamp else None
    if matrix is None:
        raise SystemExit("There is no matrix.")
    found = []
    for number in range(20):
        question = embedder.embed_query(f"question {number}")
        exact = np.argsort(-(np.asarray(matrix.rows, np.float64) @ question), kind="stable")[:10].tolist()
        near = nearest(matrix, scan(matrix, question, None, 100), question, 100)
        best = sorted(near, key=lambda unit: -near[unit])[:10]
        found.append(len(set(exact) & set(best)) / 10)
    return statistics.fmean(found)


def beside(root: Path, embedder: Made, queries: int) -> dict[str, dict[str, float] | None]:
    """Return how long others' ways to the ten nearest take over the same vectors; None for what is not here."""
    stamp = read_stamp(root)
    matrix = open_matrix(root, stamp.build) if stamp else None
    if matrix is None:
        raise SystemExit("There is no matrix.")
    rows = np.asarray(matrix.rows)
    ways: dict[str, Callable[[NDArray[np.float32]], object]] = {"numpy": lambda one: np.argpartition(-(rows @ one), 10)}
    with closing(sqlite3.connect(":memory:")) as database:
        if ask := _sqlite_vec(database, rows):
            ways["sqlite-vec"] = ask
        told: dict[str, dict[str, float] | None] = {"numpy": None, "sqlite-vec": None}
        for name, way in ways.items():
            times = []
            for number in range(min(queries, 20) + 2):
                question = embedder.embed_query(f"question {number}")
                began = time.perf_counter()
                way(question)
                times += [time.perf_counter() - began] if number > 1 else []
            told[name] = milliseconds(times)
    return told


def _sqlite_vec(
    database: sqlite3.Connection, rows: NDArray[np.float32]
) -> Callable[[NDArray[np.float32]], object] | None:
    try:
        sqlite_vec = importlib.import_module("sqlite_vec")  # only where somebody has installed it
        database.enable_load_extension(True)  # noqa: FBT003  SQLite's own way
        sqlite_vec.load(database)
    except (ImportError, AttributeError, sqlite3.Error):
        return None
    database.execute(f"CREATE VIRTUAL TABLE v USING vec0(e float[{rows.shape[1]}] distance_metric=cosine)")
    database.executemany("INSERT INTO v(rowid, e) VALUES (?, ?)", ((n, row.tobytes()) for n, row in enumerate(rows)))
    asked = "SELECT rowid FROM v WHERE e MATCH ? AND k = 10"
    return lambda question: database.execute(asked, (question.tobytes(),)).fetchall()


def cold(root: Path, *, meaning: bool) -> float:
    """Return how long a whole process takes: the best of three."""
    code = "from pipelines.commands import main; main()"
    if meaning:
        setup = (
            "import pipelines.stages.meaning as m; import numpy as n;"
            "v = n.ones(%d, n.float32) / %d ** .5;"
            "E = type('E', (), dict(name='bench:made', embed_query=lambda s, t: v));"
            "m.chosen_embedder = lambda: (E(), ''); "
        )
        stamp = read_stamp(root)
        size = stamp.dimension if stamp else 0
        code = setup % (size, size) + code
    times = []
    for _ in range(3):
        began = time.perf_counter()
        command = [sys.executable, "-c", code, "search", "w00120 w00345 w02222", "--memory", str(root)]
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return round(1000 * min(times), 1)


def changed(root: Path) -> float:
    """Return how long one changed file takes."""
    path = min((root / "Logs").iterdir())
    path.write_text(f"{path.read_text()}- {words(random.Random(3), 30)}\n")
    began = time.perf_counter()
    refresh_index(root)
    return round(time.perf_counter() - began, 3)


def measure(root: Path, units: int, dimension: int, queries: int) -> dict[str, Any]:
    """Return all figures of one size."""
    make_memory(root, units)
    told: dict[str, Any] = {"units": units, "dimension": dimension}
    began = time.perf_counter()
    rebuild_index(root)
    told["index_us"] = round(1e6 * (time.perf_counter() - began) / units, 1)
    told["cold_ms"] = {"keyword": cold(root, meaning=False)}
    embedder = Made(dimension)
    began = time.perf_counter()
    embed_index(root, embedder)
    told["vectors_us"] = round(1e6 * (time.perf_counter() - began) / units, 1)
    for mode in ("hybrid", "keyword", "vector"):
        told[f"{mode}_ms"] = query_times(root, embedder, queries, Ranking(mode=mode))
    told["recall"] = vector_recall(root, embedder)
    told["beside_ms"] = beside(root, embedder, queries)
    told["cold_ms"]["hybrid"] = cold(root, meaning=True)
    told["bytes"] = {
        name: round(sum(path.stat().st_size for path in (root / ".curate").glob(pattern)) / units)
        for name, pattern in (("index", "index.db*"), ("vectors", "vectors.db*"), ("matrix", "matrix-*"))
    }
    told["changed_s"] = changed(root)
    return told


def main() -> None:
    """Measure each size asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("units", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    for units in asked.units:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            print(json.dumps(measure(Path(folder, "memory"), units, asked.dimension, asked.queries)), flush=True)


if __name__ == "__main__":
    main()
